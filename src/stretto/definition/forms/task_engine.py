"""The task engine's workflow YAML: jobs (functions) and definitions (tasks with dependencies)."""

from typing import Any, Final

from stretto.definition.forms.dsl_params import implied_type
from stretto.definition.forms.placeholders import json_param
from stretto.definition.reading.located import at_key, derive, derive_list, gather
from stretto.model.param import ParamType
from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type
from stretto.model.workflow import Semantics

JOB_FIELDS: Final = ("job_id", "func_key", "description", "timeout")
DEFINITION_FIELDS: Final = ("workflow_id", "description", "tasks")
TASK_FIELDS: Final = (
    "task_id",
    "job_id",
    "description",
    "params",
    "dependencies",
    "callbacks",
    "required_params",
    "result_mapping",
    "is_template",
    "timeout",
)
CALLBACK_STATES: Final = ("success", "failed", "timeout")
DEFAULT_TIMEOUT: Final = 30  # seconds: this surface's own default
FUNCTION_TYPE: Final = "Python"
ARGUMENTS: Final = "arguments"  # beside the function: whether each parameter must be an argument of it
CHECKED: Final = "checked"
# Params with a meaning of their own: the function, and what the task says about it.
OWN_PARAMS: Final = ("function", "required_params", "result_mapping", "is_template", "callbacks")

Raw = dict[str, Any]


class TaskEngineYaml:
    """One translation of `{workflows: {jobs: [...], definitions: [...]}}`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def definitions(self, document: Raw) -> list[Raw]:
        body = document["workflows"]
        at: Place = (None, "workflows")
        self._refuse_unknown(body, ("jobs", "definitions"), at)
        jobs = self._jobs(body.get("jobs"), (at, "jobs"))
        given = body.get("definitions")
        items = self._objects(given, (at, "definitions"))
        if not given:
            self._say((at, "definitions"), Code.EMPTY, "no definition is given")
        return [self._definition(item, place, jobs) for item, place in items]

    def _jobs(self, value: Any, at: Place) -> dict[str, Raw]:
        jobs: dict[str, Raw] = {}
        for job, place in self._objects(value, at):
            self._refuse_unknown(job, JOB_FIELDS, place)
            key = self._text(job, "job_id", place)
            self._text(job, "func_key", place)
            if key in jobs:
                self._say((place, "job_id"), Code.DUPLICATE_ID, f"the job `{key}` is given twice")
            jobs[key] = job
        return jobs

    def _definition(self, source: Raw, at: Place, jobs: dict[str, Raw]) -> Raw:
        self._refuse_unknown(source, DEFINITION_FIELDS, at)
        tasks = self._objects(source.get("tasks"), (at, "tasks"))
        steps: dict[str, Raw] = {}
        wrapped: list[Raw] = []
        for task, place in tasks:
            step = self._step(task, place, jobs)
            wrapped.append(derive(task, {"step": step}))
            steps.setdefault(str(task.get("task_id")), step)
        for task, place in tasks:
            self._depend(task, place, steps)
        workflow = {
            "id": self._text(source, "workflow_id", at),
            "description": source.get("description"),
            "semantics": Semantics.STRETTO.value,
            "steps": derive_list(source.get("tasks"), wrapped),
        }
        made = derive(source, workflow, id="workflow_id", steps="tasks")
        return derive(source, {"workflow": made})

    def _step(self, task: Raw, at: Place, jobs: dict[str, Raw]) -> Raw:
        self._refuse_unknown(task, TASK_FIELDS, at)
        task_id = self._text(task, "task_id", at)
        job_id = self._text(task, "job_id", at)
        job = jobs.get(job_id)
        if job is None and job_id:
            self._say(
                (at, "job_id"), Code.UNKNOWN_JOB, f"there is no job `{job_id}`", did_you_mean(job_id, jobs)
            )
        job = job or {}
        timeouts = (task.get("timeout"), job.get("timeout"), DEFAULT_TIMEOUT)
        step: Raw = {
            "id": task_id,
            "type": FUNCTION_TYPE,
            "description": task.get("description") or job.get("description"),
            "transition": derive(task, {"successors": derive(task, {})}),
            "timeout": next(timeout for timeout in timeouts if timeout is not None),
            "params": self._params(task, job, at),
        }
        return derive(task, step, id="task_id")

    def _params(self, task: Raw, job: Raw, at: Place) -> Raw:
        """The function and what concerns it, beside the task's own parameters."""
        function = {"value": job.get("func_key", ""), "type": "STRING", ARGUMENTS: CHECKED}
        params: Raw = {"function": function}
        for key, kind in (
            ("required_params", "STRING_ARRAY"),
            ("result_mapping", "STRING_MAP"),
            ("is_template", "BOOLEAN"),
        ):
            if task.get(key) is not None:
                params[key] = derive(task, {"value": task[key], "type": kind}, value=key)
        handlers = self._callbacks(task.get("callbacks"), (at, "callbacks"))
        if handlers:
            params["callbacks"] = {"value": handlers, "type": "MAP"}
        params = derive(task, params)
        given = task.get("params")
        if given is None:
            return params
        place = (at, "params")
        if not isinstance(given, dict):
            self._sink.append(wrong_type(place, "an object", given))
            return params
        for name, value in given.items():
            if name in OWN_PARAMS:
                message = f"`{name}` has a meaning of its own here"
                problem = problem_at((place, name), Code.RESERVED_NAME, message, "choose another name")
                self._sink.append(at_key(problem, given, name))
            else:
                param = derive(given, self._param(value), value=name)
                params = gather(params, name, param, given, name)
        return params

    def _param(self, value: Any) -> Raw:
        """A value of any type, by the type that it shows; where no type holds it, as JSON."""
        json = json_param(value)
        if json is not None:
            return json
        kind = implied_type(value)
        assert kind is not None  # noqa: S101 - it is no mixed list
        if kind is ParamType.MAP:
            nested = {name: self._param(item) for name, item in value.items()}
            return {"value": derive(value, nested), "type": kind.value}
        return {"value": value, "type": kind.value}

    def _callbacks(self, value: Any, at: Place) -> Raw:
        """State -> the functions to call, in order."""
        handlers: dict[str, list[str]] = {}
        for callback, place in self._objects(value, at):
            self._refuse_unknown(callback, ("state", "func_key"), place)
            state = self._text(callback, "state", place).lower()
            if state not in CALLBACK_STATES:
                hint = did_you_mean(state, CALLBACK_STATES) or f"one of {', '.join(CALLBACK_STATES)}"
                self._say(
                    (place, "state"), Code.UNKNOWN_VALUE, f"`{state}` is not a state to call back on", hint
                )
            else:
                handlers.setdefault(state, []).append(self._text(callback, "func_key", place))
        return {state: {"value": names, "type": "STRING_ARRAY"} for state, names in handlers.items()}

    def _depend(self, task: Raw, at: Place, steps: dict[str, Raw]) -> None:
        names = task.get("dependencies")
        place = (at, "dependencies")
        if names is None:
            return
        if not isinstance(names, list):
            self._sink.append(wrong_type(place, "a list of task ids", names))
            return
        for index, name in enumerate(names):
            if not isinstance(name, str):
                self._sink.append(wrong_type((place, index), "text", name))
            elif name not in steps:
                hint = did_you_mean(name, steps)
                self._say((place, index), Code.UNKNOWN_STEP, f"there is no task `{name}`", hint)
            else:
                successors = steps[name]["transition"]["successors"]
                gather(successors, str(task.get("task_id")), "true", names, index)

    def _objects(self, value: Any, at: Place) -> list[tuple[Raw, Place]]:
        if value is None:
            return []
        if not isinstance(value, list):
            self._sink.append(wrong_type(at, "a list", value))
            return []
        found: list[tuple[Raw, Place]] = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                found.append((item, (at, index)))
            else:
                self._sink.append(wrong_type((at, index), "an object", item))
        return found

    def _text(self, source: Raw, key: str, at: Place) -> str:
        value = source.get(key)
        if isinstance(value, str) and value:
            return value
        if value is None or value == "":
            self._say((at, key), Code.MISSING_FIELD, f"the field `{key}` is missing")
        else:
            self._sink.append(wrong_type((at, key), "text", value))
        return ""

    def _refuse_unknown(self, source: Raw, known: tuple[str, ...], at: Place) -> None:
        for key in source:
            if key not in known:
                self._say((at, key), Code.UNKNOWN_FIELD, f"unknown field `{key}`", did_you_mean(key, known))

    def _say(self, at: Place, code: str, message: str, hint: str | None = None) -> None:
        self._sink.append(problem_at(at, code, message, hint))
