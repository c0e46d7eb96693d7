"""Which form is it? -> definitions as JSON values of the model, ready to be decoded."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from stretto.definition.forms.convenience import expand_params, expand_step, expand_tags
from stretto.definition.forms.maestro_yaml import MaestroYaml
from stretto.definition.forms.outcomes import expand_outcomes
from stretto.definition.forms.stages import compile_stages
from stretto.definition.forms.task_engine import TaskEngineYaml
from stretto.definition.reading.located import derive, derive_list
from stretto.model.problem import Code, Place, problem_at
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type
from stretto.model.workflow import Semantics

Raw = dict[str, Any]

NO_TYPES: Final[AbstractSet[str]] = frozenset()


def normalise(
    document: Any,
    templates: Mapping[str, str],
    sink: Sink,
    types: AbstractSet[str] = NO_TYPES,
    odd: Sink | None = None,
) -> list[Raw]:
    """The definitions of one document. Problems are placed by the document's own paths.

    `types`: names that a step's type may have beside those of the product.
    `odd`: takes the keys that became parameters, and look like fields.
    """
    if not isinstance(document, dict):
        sink.append(wrong_type(None, "an object with `workflow`", document))
        return []
    key = next((key for key in ("workflow", "Workflow") if isinstance(document.get(key), dict)), None)
    if key is None and "workflow" not in document and isinstance(document.get("workflows"), dict):
        _refuse_others(document, "workflows", sink)
        return [_Expansion(sink).definition(raw) for raw in TaskEngineYaml(sink).definitions(document)]
    if key is not None and (key == "Workflow" or _is_dsl(document[key])):
        _refuse_others(document, key, sink)
        return [
            _Expansion(sink).definition(MaestroYaml(templates, sink, types, odd).definition(document, key))
        ]
    return [_Expansion(sink).definition(document)]


def _refuse_others(document: Raw, only: str, sink: Sink) -> None:
    """The model keeps other keys as metadata; these two forms have no place for them."""
    for key in document:
        if key != only:
            message = f"unknown field `{key}`"
            sink.append(problem_at((None, key), Code.UNKNOWN_FIELD, message, f"this YAML has `{only}` only"))


def _is_dsl(workflow: Raw) -> bool:
    """`jobs` instead of `steps` tells Maestro's YAML from its JSON model written as YAML."""
    if "jobs" in workflow:
        return True
    stages = workflow.get("stages")
    return isinstance(stages, list) and any(isinstance(stage, dict) and "jobs" in stage for stage in stages)


def _with(body: Raw, key: str, value: Any) -> Raw:
    return body if body.get(key) is value else derive(body, {**body, key: value})


class _Expansion:
    """Brings one definition into the form of the model: stages compiled, every step in its real form.

    A definition that uses a form which Maestro does not have (stages, `on_success`, `on_failure`,
    `compensation`, `undo_on_stop`) gets `semantics: STRETTO`, unless it names its semantics itself.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._beyond_maestro = False

    def definition(self, raw: Raw) -> Raw:
        workflow = raw.get("workflow")
        if not isinstance(workflow, dict):
            return raw
        expanded = self._body(workflow, (None, "workflow"), "")
        if isinstance(expanded.get("params"), dict):
            expanded = _with(expanded, "params", expand_params(expanded["params"]))
        if isinstance(expanded.get("tags"), list):
            expanded = _with(expanded, "tags", expand_tags(expanded["tags"]))
        self._beyond_maestro |= expanded.get("undo_on_stop") is not None
        if self._beyond_maestro and expanded.get("semantics") is None:
            expanded = _with(expanded, "semantics", Semantics.STRETTO.value)
        return _with(raw, "workflow", expanded)

    def _body(self, body: Raw, at: Place, owner: str) -> Raw:
        """The steps of a workflow or a loop."""
        stages = body.get("stages")
        if stages is not None:
            self._beyond_maestro = True
            if body.get("steps") is not None:
                message = "`stages` and `steps` exclude each other"
                problem = problem_at((at, "stages"), Code.CONFLICT, message, "move the steps into a stage")
                self._sink.append(problem)
            stages = self._stages(stages, (at, "stages"))
            rest = {key: value for key, value in body.items() if key not in {"stages", "steps"}}
            compiled = compile_stages(stages, (at, "stages"), owner, self._sink)
            return derive(body, {**rest, "steps": compiled}, steps="stages")
        steps = body.get("steps")
        if not isinstance(steps, list):
            return body
        return _with(body, "steps", self._steps(steps, (at, "steps")))

    def _stages(self, stages: Any, at: Place) -> Any:
        if not isinstance(stages, list):
            return stages
        made = [
            _with(stage, "steps", self._steps(stage["steps"], ((at, index), "steps")))
            if isinstance(stage, dict) and isinstance(stage.get("steps"), list)
            else stage
            for index, stage in enumerate(stages)
        ]
        return derive_list(stages, made)

    def _steps(self, steps: list[Any], at: Place) -> list[Any]:
        made = [self._step(step, (at, index)) for index, step in enumerate(steps)]
        if all(new is old for new, old in zip(made, steps, strict=True)):
            return steps
        return derive_list(steps, made)

    def _step(self, step: Any, at: Place) -> Any:
        if not isinstance(step, dict) or len(step) != 1:
            return step
        ((kind, body),) = step.items()
        if not isinstance(body, dict):
            return step
        lower = kind.lower()
        plain = expand_step(lower, body, (at, kind), self._sink)
        made = expand_outcomes(plain, (at, kind), self._sink)
        self._beyond_maestro |= made is not plain or made.get("compensation") is not None
        if lower in {"foreach", "while"}:
            made = self._body(made, (at, kind), str(body.get("id", "")))
        elif "compensation" in made:
            undo = self._step(made["compensation"], ((at, kind), "compensation"))
            made = _with(made, "compensation", undo)
        return step if made is body else derive(step, {kind: made})
