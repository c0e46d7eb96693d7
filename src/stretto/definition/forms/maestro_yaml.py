"""Maestro's YAML DSL -> the JSON model. Keys that are no fields are parameters."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final

from stretto.definition.forms.dsl_params import expression_text, params_of
from stretto.definition.forms.dsl_transitions import successors_of
from stretto.definition.reading.located import derive, derive_list
from stretto.model.problem import Code, Place, problem_at
from stretto.model.step import STEP_TYPES
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

WORKFLOW_FIELDS: Final = frozenset(
    [
        "id",
        "name",
        "description",
        "owner",
        "run_strategy",
        "workflow_concurrency",
        "tags",
        "timeout",
        "criticality",
        "jobs",
        "dag",
        "stages",
        "workflow_params",
    ]
)
JOB_FIELDS: Final = frozenset(
    [
        "id",
        "name",
        "description",
        "failure_mode",
        "tags",
        "timeout",
        "transition",
        "job_params",
        "on_success",
        "on_failure",
    ]
)
KIND_FIELDS: Final[dict[str, frozenset[str]]] = {
    "job": frozenset({"type", "type_version"}),
    "subworkflow": frozenset(
        ["workflow_id", "subworkflow_id", "version", "subworkflow_version", "sync", "explicit_params"]
    ),
    "foreach": frozenset(
        ["concurrency", "job_concurrency", "loop_params", "params", "ranges", "jobs", "dag", "stages"]
    ),
    "while": frozenset(["loop_params", "params", "condition", "jobs", "dag", "stages"]),
}
DEFAULT_STEP_CONCURRENCY: Final = 20
# Maestro's own types win over job templates of the same name; ours do not, since a template is more specific.
MAESTRO_TYPES: Final = frozenset(
    [
        "noop",
        "sleep",
        "titus",
        "notebook",
        "kubernetes",
        "http",
        "join",
        "foreach",
        "while",
        "subworkflow",
        "template",
    ]
)


class MaestroYaml:
    """One translation; `templates` says which step type each known job template has."""

    def __init__(self, templates: Mapping[str, str], sink: Sink) -> None:
        self._templates = {name.casefold(): (name, kind) for name, kind in templates.items()}
        self._sink = sink

    def definition(self, document: dict[str, Any], key: str) -> dict[str, Any]:
        """`{workflow: {...}}` -> a definition; the place of a problem is that of the DSL's text."""
        source = document[key]
        at: Place = (None, key)
        properties: dict[str, Any] = {"step_concurrency": DEFAULT_STEP_CONCURRENCY}
        if "owner" in source:
            properties["owner"] = source["owner"]
        strategy = {"rule": source.get("run_strategy", "SEQUENTIAL")}
        if "workflow_concurrency" in source and "run_strategy" in source:
            strategy["workflow_concurrency"] = source["workflow_concurrency"]
        properties["run_strategy"] = derive(source, strategy, rule="run_strategy")
        workflow: dict[str, Any] = {
            name: source[name]
            for name in ("id", "name", "description", "tags", "criticality")
            if name in source
        }
        if "timeout" in source:
            workflow["timeout"] = _text(source["timeout"])
        workflow["params"] = self._params(source, at, WORKFLOW_FIELDS, "workflow_params")
        workflow.update(self._body(source, at))
        return {
            "properties": derive(source, properties),
            "workflow": derive(source, workflow, steps="jobs"),
            "is_active": True,
        }

    def _params(
        self, source: dict[str, Any], at: Place, fields: frozenset[str], named: str
    ) -> dict[str, Any]:
        params = params_of(source, at, self._sink, skip=fields)
        inner = source.get(named)
        if isinstance(inner, dict):
            more = params_of(inner, (at, named), self._sink)
            for name in more.keys() & fields:
                message = f"`{name}` is a field, it can not be a parameter too"
                self._sink.append(problem_at(((at, named), name), Code.RESERVED_NAME, message))
            params.update(more)
        elif inner is not None:
            self._sink.append(wrong_type((at, named), "an object", inner))
        return params

    def _body(self, source: dict[str, Any], at: Place) -> dict[str, Any]:
        """`jobs` with `dag`, or `stages` of jobs."""
        if "stages" in source:
            return {"stages": self._stages(source["stages"], (at, "stages"))}
        return {"steps": self._steps(source, at)}

    def _stages(self, stages: Any, at: Place) -> Any:
        if not isinstance(stages, list):
            return stages
        made = [
            derive(
                stage, {**_but(stage, "jobs", "dag"), "steps": self._steps(stage, (at, index))}, steps="jobs"
            )
            if isinstance(stage, dict)
            else stage
            for index, stage in enumerate(stages)
        ]
        return derive_list(stages, made)

    def _steps(self, source: dict[str, Any], at: Place) -> Any:
        jobs = source.get("jobs", [])
        place = (at, "jobs")
        if not isinstance(jobs, list):
            self._sink.append(wrong_type(place, "a list of jobs", jobs))
            return []
        steps = [self._job(job, (place, index)) for index, job in enumerate(jobs)]
        self._connect(steps, source.get("dag"), (at, "dag"))
        return derive_list(jobs, steps)

    def _connect(self, steps: list[Any], dag: Any, at: Place) -> None:
        bodies = [body for step in steps for body in step.values() if isinstance(body, dict) and "id" in body]
        if dag is None or (isinstance(dag, str) and dag.lower() == "parallel"):
            return
        if isinstance(dag, str) and dag.lower() == "sequential":
            for body, following in pairwise(bodies):
                body.setdefault("transition", {"successors": {following["id"]: "true"}})
        elif isinstance(dag, dict):
            self._connect_by_name({str(body["id"]): body for body in bodies}, dag, at)
        else:
            hint = "write `sequential`, `parallel`, or an object from a job to its transitions"
            self._sink.append(problem_at(at, Code.BAD_TRANSITION, f"`{dag}` is not a dag", hint))

    def _connect_by_name(self, bodies: dict[str, Any], dag: dict[str, Any], at: Place) -> None:
        for job, entries in dag.items():
            successors = successors_of(entries, (at, job), self._sink)
            body = bodies.get(job)
            if body is None:
                hint = did_you_mean(job, bodies)
                message = f"the dag names the job `{job}`, which does not exist"
                self._sink.append(problem_at((at, job), Code.UNKNOWN_STEP, message, hint))
            elif "transition" not in body:
                body["transition"] = {"successors": successors}

    def _job(self, job: Any, at: Place) -> Any:
        if not isinstance(job, dict) or len(job) != 1:
            return job  # the decoder says what a step must look like
        ((key, body),) = job.items()
        kind = key.lower()
        makers: dict[str, Callable[[dict[str, Any], Place], dict[str, Any]]] = {
            "job": self._typed,
            "subworkflow": self._subworkflow,
            "foreach": self._foreach,
            "while": self._while,
        }
        if kind not in makers or not isinstance(body, dict):
            return job
        place = (at, key)
        made = {
            name: body[name]
            for name in ("id", "name", "description", "failure_mode", "tags", "on_success", "on_failure")
            if name in body
        }
        if "timeout" in body:
            made["timeout"] = _text(body["timeout"])
        if "transition" in body:
            made["transition"] = {
                "successors": successors_of(body["transition"], (place, "transition"), self._sink)
            }
        made["params"] = self._params(body, place, JOB_FIELDS | KIND_FIELDS[kind], "job_params")
        made.update(makers[kind](body, place))
        wrapper = "step" if kind == "job" else kind
        return derive(job, {wrapper: derive(body, made, steps="jobs")}, **{wrapper: key})

    def _typed(self, body: dict[str, Any], at: Place) -> dict[str, Any]:
        kind = body.get("type")
        if not isinstance(kind, str):
            return {"type": kind} if "type" in body else {}
        if kind.casefold() in MAESTRO_TYPES:
            return {"type": kind}
        template = self._templates.get(kind.casefold())
        if template is not None:
            return {"type": template[1], "sub_type": kind}
        if kind.casefold() in {name.casefold() for name in STEP_TYPES}:
            return {"type": kind}
        names = [*STEP_TYPES, *(name for name, _ in self._templates.values())]
        hint = did_you_mean(kind, names) or "it is neither a step type nor a known job template"
        self._sink.append(problem_at((at, "type"), Code.UNKNOWN_JOB, f"`{kind}` is not a job type", hint))
        return {"type": "NoOp"}

    @staticmethod
    def _subworkflow(body: dict[str, Any], _at: Place) -> dict[str, Any]:
        made: dict[str, Any] = {name: body[name] for name in ("sync", "explicit_params") if name in body}
        target = body.get("subworkflow_id", body.get("workflow_id", body.get("id")))
        made["subworkflow_id"] = target
        version = body.get("subworkflow_version", body.get("version"))
        if version is not None:
            made["subworkflow_version"] = _text(version)
        return made

    def _foreach(self, body: dict[str, Any], at: Place) -> dict[str, Any]:
        made: dict[str, Any] = dict(self._body(body, at))
        concurrency = body.get("concurrency", body.get("job_concurrency"))
        if concurrency is not None:
            made["concurrency"] = concurrency
        loops = {**self._loop_params(body, at), **self._ranges(body.get("ranges"), (at, "ranges"))}
        made["loop_params"] = derive(body, loops)
        return made

    def _while(self, body: dict[str, Any], at: Place) -> dict[str, Any]:
        made: dict[str, Any] = dict(self._body(body, at))
        if "condition" in body:
            made["condition"] = expression_text(body["condition"])
        if "loop_params" in body or "params" in body:
            made["loop_params"] = self._loop_params(body, at)
        return made

    def _loop_params(self, body: dict[str, Any], at: Place) -> dict[str, Any]:
        key = "loop_params" if "loop_params" in body else "params"
        loops = body.get(key, {})
        if not isinstance(loops, dict):
            self._sink.append(wrong_type((at, key), "an object", loops))
            return {}
        return params_of(loops, (at, key), self._sink)

    def _ranges(self, ranges: Any, at: Place) -> dict[str, Any]:
        if ranges is None:
            return {}
        if not isinstance(ranges, dict):
            self._sink.append(wrong_type(at, "an object from a loop parameter to its range", ranges))
            return {}
        made: dict[str, Any] = {}
        for name, bounds in ranges.items():
            if not isinstance(bounds, dict) or "to" not in bounds:
                message = f"the range of `{name}` needs `to`"
                self._sink.append(
                    problem_at((at, name), Code.MISSING_FIELD, message, "{from: 0, to: 3, increment: 1}")
                )
                continue
            for key in bounds.keys() - {"from", "to", "increment"}:
                message = f"unknown field `{key}`"
                hint = did_you_mean(key, ("from", "to", "increment"))
                self._sink.append(problem_at(((at, name), key), Code.UNKNOWN_FIELD, message, hint))
            numbers = (bounds.get("from", 0), bounds["to"], bounds.get("increment", 1))
            text = ", ".join(expression_text(number) for number in numbers)
            made[name] = {"expression": f"Util.intsBetween({text});", "type": "LONG_ARRAY"}
        return made


def _text(value: Any) -> Any:
    """Numbers that the model keeps as text (timeouts, versions)."""
    return expression_text(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _but(source: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key not in keys}
