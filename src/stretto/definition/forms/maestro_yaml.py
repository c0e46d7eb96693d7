"""Maestro's YAML DSL -> the JSON model. Keys that are no fields are parameters."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Any, Final

from stretto.definition.forms.dsl_fields import (
    CRON,
    MARK,
    OF_EVERY_JOB,
    OF_JOB,
    OF_WORKFLOW,
    RETRY,
    marked_fields,
)
from stretto.definition.forms.dsl_loops import loop_params_of
from stretto.definition.forms.dsl_oddities import odd_keys
from stretto.definition.forms.dsl_params import ParamReader, expression_text
from stretto.definition.forms.dsl_transitions import successors_of
from stretto.definition.reading.located import at_key, derive, derive_list, gather
from stretto.model.problem import Code, Place, keys_of, problem_at
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
COPIED_FIELDS: Final = ("id", "name", "description", "failure_mode", "tags", "on_success", "on_failure")
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


Body = dict[str, Any]


class MaestroYaml:
    """One translation; `templates` says which step type each known job template has, `types` are those that a
    job may have beside those of the product.
    """

    def __init__(
        self,
        templates: Mapping[str, str],
        sink: Sink,
        types: AbstractSet[str],
        odd: Sink | None = None,
    ) -> None:
        self._templates = {name.casefold(): (name, kind) for name, kind in templates.items()}
        self._sink = sink
        self._types = types
        self._odd = odd

    def definition(self, document: Body, key: str) -> Body:
        """`{workflow: {...}}` -> a definition; the place of a problem is that of the DSL's text."""
        source = _given(document[key], WORKFLOW_FIELDS)
        at: Place = (None, key)
        properties: Body = {"step_concurrency": DEFAULT_STEP_CONCURRENCY}
        if "owner" in source:
            properties["owner"] = source["owner"]
        strategy = {"rule": source.get("run_strategy", "SEQUENTIAL")}
        if "workflow_concurrency" in source and "run_strategy" in source:
            strategy["workflow_concurrency"] = source["workflow_concurrency"]
        properties["run_strategy"] = derive(source, strategy, rule="run_strategy")
        workflow: Body = {
            name: source[name]
            for name in ("id", "name", "description", "tags", "criticality")
            if name in source
        }
        if "timeout" in source:
            workflow["timeout"] = _text(source["timeout"])
        workflow["params"] = self._params(source, at, WORKFLOW_FIELDS, "workflow_params")
        marked = marked_fields(source, at, OF_WORKFLOW, self._sink)
        workflow.update(marked)
        workflow.update(self._body(source, at))
        made = {
            "properties": derive(source, properties),
            "workflow": derive(source, workflow, steps="jobs", **_origins(marked, source)),
            "is_active": True,
        }
        return derive(document, made, workflow=key)

    def _params(self, source: Body, at: Place, fields: frozenset[str], named: str) -> Body:
        """The keys that are no fields, and those of `workflow_params` or `job_params`."""
        fields = fields | {key for key in source if key.startswith(MARK)}
        if self._odd is not None:
            self._odd += odd_keys(source, at, fields)
        reader = ParamReader(self._sink, fields)
        reader.add(source, at, among_fields=True)
        inner = source.get(named, {})
        if isinstance(inner, dict):
            reader.add(inner, (at, named))
        else:
            self._sink.append(wrong_type((at, named), "an object", inner))
        return reader.params

    def _body(self, source: Body, at: Place) -> Body:
        """`jobs` with `dag`, or `stages` of jobs."""
        if "stages" not in source:
            return {"steps": self._steps(source, at)}
        for key in ("jobs", "dag"):
            if key in source:
                message = f"`stages` and `{key}` exclude each other"
                hint = f"move the `{key}` into a stage"
                problem = problem_at((at, key), Code.CONFLICT, message, hint)
                self._sink.append(at_key(problem, source, key))
        return {"stages": self._stages(source["stages"], (at, "stages"))}

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

    def _steps(self, source: Body, at: Place) -> Any:
        jobs = source.get("jobs")
        place = (at, "jobs")
        if jobs is None:
            jobs = []
        elif not isinstance(jobs, list):
            self._sink.append(wrong_type(place, "a list of jobs", jobs))
            jobs = []
        steps = [self._job(job, (place, index)) for index, job in enumerate(jobs)]
        self._connect(steps, source.get("dag"), (at, "dag"))
        return derive_list(jobs, steps)

    def _connect(self, steps: list[Body], dag: Any, at: Place) -> None:
        bodies = [body for step in steps for body in step.values()]
        word = dag.lower() if isinstance(dag, str) else None
        if dag is None or word == "parallel":
            return
        if word == "sequential":
            for body, following in pairwise(bodies):
                body.setdefault("transition", {"successors": {str(following.get("id")): "true"}})
        elif isinstance(dag, dict):
            self._connect_by_name({str(body.get("id")): body for body in bodies}, dag, at)
        else:
            hint = "write `sequential`, `parallel`, or an object from a job to its transitions"
            self._sink.append(problem_at(at, Code.BAD_TRANSITION, "this is not a dag", hint))

    def _connect_by_name(self, bodies: Body, dag: Body, at: Place) -> None:
        for job, entries in dag.items():
            successors = {} if entries is None else successors_of(entries, (at, job), self._sink)
            body = bodies.get(job)
            if body is None:
                hint = did_you_mean(job, bodies)
                message = f"the dag names the job `{job}`, which does not exist"
                self._sink.append(problem_at((at, job), Code.UNKNOWN_STEP, message, hint))
            elif "transition" not in body:
                gather(body, "transition", gather({}, "successors", successors, dag, job), dag, job)

    def _job(self, job: Any, at: Place) -> Body:
        """`{foreach: {...}}` -> a wrapped step. What is no job becomes a stand-in that keeps its id."""
        key, body = next(iter(job.items())) if isinstance(job, dict) and len(job) == 1 else ("", None)
        kind = key.lower()
        if kind not in KIND_FIELDS or not isinstance(body, dict):
            self._refuse(job, key, body, at)
            known = body.get("id") if isinstance(body, dict) else None
            return derive(job, {"step": {"id": known or _stand_in(at), "type": "NoOp"}})
        place = (at, key)
        fields = JOB_FIELDS | KIND_FIELDS[kind]
        body = _given(body, fields)
        made: Body = {name: body[name] for name in COPIED_FIELDS if name in body}
        if "timeout" in body:
            made["timeout"] = _text(body["timeout"])
        if "transition" in body:
            successors = successors_of(body["transition"], (place, "transition"), self._sink)
            made["transition"] = gather({}, "successors", successors, body, "transition")
        made["params"] = self._params(body, place, fields, "job_params")
        marked = marked_fields(body, place, OF_JOB if kind == "job" else OF_EVERY_JOB, self._sink)
        made.update(marked)
        made.update(self._by_kind(kind, body, place))
        wrapper = "step" if kind == "job" else kind
        step = derive(body, made, steps="jobs", **_origins(marked, body))
        return derive(job, {wrapper: step}, **{wrapper: key})

    def _refuse(self, job: Any, key: str, body: Any, at: Place) -> None:
        kinds = ", ".join(KIND_FIELDS)
        if not key:
            wanted = "an object with exactly one key, the kind of job"
            self._sink.append(wrong_type(at, wanted, job, f"one of {kinds}"))
        elif key.lower() in KIND_FIELDS:
            self._sink.append(wrong_type((at, key), "an object", body))
        else:
            hint = did_you_mean(key, KIND_FIELDS) or f"one of {kinds}"
            problem = problem_at((at, key), Code.UNKNOWN_VALUE, f"`{key}` is not a kind of job", hint)
            self._sink.append(at_key(problem, job, key))

    def _by_kind(self, kind: str, body: Body, at: Place) -> Body:
        if kind == "job":
            return self._typed(body, at)
        if kind == "subworkflow":
            return self._subworkflow(body, at)
        made = self._body(body, at)
        if kind == "foreach":
            concurrency = self._either(body, "concurrency", "job_concurrency", at)
            if concurrency is not None:
                made["concurrency"] = concurrency
        elif "condition" in body:
            condition = body["condition"]
            made["condition"] = condition if isinstance(condition, dict) else expression_text(condition)
        loops = self._either(body, "loop_params", "params", at)
        if kind == "foreach" or loops is not None:
            made["loop_params"] = loop_params_of(body, loops, at, self._sink)
        return made

    def _typed(self, body: Body, at: Place) -> Body:
        kind = body.get("type")
        if not isinstance(kind, str):
            return {"type": kind} if "type" in body else {}
        if kind.casefold() in MAESTRO_TYPES:
            return {"type": kind}
        template = self._templates.get(kind.casefold())
        if template is not None:
            return {"type": template[1], "sub_type": kind}
        if kind.casefold() in {name.casefold() for name in STEP_TYPES} or kind in self._types:
            return {"type": kind}
        names = [*STEP_TYPES, *self._types, *(name for name, _ in self._templates.values())]
        hint = did_you_mean(kind, names) or "it is neither a step type nor a known job template"
        self._sink.append(problem_at((at, "type"), Code.UNKNOWN_JOB, f"`{kind}` is not a job type", hint))
        return {"type": "NoOp"}

    def _subworkflow(self, body: Body, at: Place) -> Body:
        made: Body = {name: body[name] for name in ("sync", "explicit_params") if name in body}
        target = self._either(body, "subworkflow_id", "workflow_id", at)
        made["subworkflow_id"] = body.get("id") if target is None else target
        version = self._either(body, "subworkflow_version", "version", at)
        if version is not None:
            made["subworkflow_version"] = _text(version)
        return made

    def _either(self, body: Body, name: str, other: str, at: Place) -> Any:
        """A field that has two names."""
        if name in body and other in body:
            message = f"`{name}` and `{other}` are the same"
            problem = problem_at((at, other), Code.CONFLICT, message, "give one of them")
            self._sink.append(at_key(problem, body, other))
        return body.get(name, body.get(other))


def _origins(marked: Body, source: Body) -> dict[str, str]:
    """Which key of the source each marked field came from."""
    short = {"retry_policy": RETRY, "time_triggers": CRON}
    names = {name: f"{MARK}{name}" for name in marked}
    return {name: key if key in source else short[name] for name, key in names.items()}


def _stand_in(at: Place) -> str:
    """An id that no other step has."""
    return "-".join(["unreadable", *(str(key) for key in keys_of(at) if isinstance(key, int))])


def _given(source: Body, fields: frozenset[str]) -> Body:
    """Without the fields that are null: null means that a field is not there."""
    made = {key: value for key, value in source.items() if value is not None or key not in fields}
    return source if len(made) == len(source) else derive(source, made)


def _text(value: Any) -> Any:
    """Numbers that the model keeps as text (timeouts, versions)."""
    return str(value) if type(value) is int else value


def _but(source: Body, *keys: str) -> Body:
    return {key: value for key, value in source.items() if key not in keys}
