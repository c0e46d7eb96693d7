"""What the texts of a definition read: by the rules of parameters, and as mere words."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from stretto.definition.rules.visits import WORKFLOW, Visit
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.problem import Place
from stretto.model.step import AnyStep, TypedStep, WhileStep
from stretto.model.trigger import SignalTrigger
from stretto.model.wire import encode
from stretto.model.workflow import Definition, Workflow
from stretto.params import ParamError
from stretto.params.references import ALL_PARAMS, is_text, references_of
from stretto.sel import ParamsCall, compile_expression, sanitize

TESTS: Final = re.compile(r"\bnull\b|\bcontainsKey\b")
WORD: Final = re.compile(r"[A-Za-z0-9_]+")


class Read(NamedTuple):
    """A name that something in a step refers to and can not do without, and where."""

    name: str
    at: Place
    in_text: bool = False  # written `$name`
    call: ParamsCall | None = None  # what is asked of `params`, which is the name then


def reads_of(visit: Visit) -> Iterator[Read]:
    """The parameters, conditions and signals of a step. What its loop reads, it reads as that step."""
    step = visit.step
    for name, param in (step.params or {}).items():
        yield from _in_param(name, param, ((visit.at, "params"), name))
    edges = ((visit.at, "transition"), "successors")
    for target, condition in step.transition.successors.items():
        yield from _in_condition(condition, (edges, target))
    if isinstance(step, WhileStep):
        yield from _in_condition(step.condition, (visit.at, "condition"))
    elif isinstance(step, TypedStep) and step.retry_policy and step.retry_policy.retry_if:
        yield from _in_condition(step.retry_policy.retry_if, ((visit.at, "retry_policy"), "retry_if"))
    for index, dependency in enumerate(step.signal_dependencies or ()):
        yield from _in_text(dependency.name, (((visit.at, "signal_dependencies"), index), "name"))
        at: Place = (((visit.at, "signal_dependencies"), index), "match_params")
        for name, match in (dependency.match_params or {}).items():
            yield from _in_param(name, match.param, ((at, name), "param"))
    for index, output in enumerate(step.signal_outputs or ()):
        yield from _in_text(output.name, (((visit.at, "signal_outputs"), index), "name"))
        at = (((visit.at, "signal_outputs"), index), "params")
        others = output.params or {}
        for name, param in others.items():
            found = _in_param(name, param, (at, name))
            yield from (read for read in found if read.name == name or read.name not in others)
        at = (((visit.at, "signal_outputs"), index), "payload")
        payload = output.payload_params()
        others = {**others, **payload}
        for name, param in payload.items():
            found = _in_param(name, param, (at, name))
            yield from (read for read in found if read.name == name or read.name not in others)


def attributes_of(visit: Visit) -> Iterator[Read]:
    """Texts that are evaluated with the parameters of the workflow alone: its timeout, and its retries."""
    step = visit.step
    if isinstance(step.timeout, str):
        yield from _in_text(step.timeout, (visit.at, "timeout"))
    policy = step.retry_policy if isinstance(step, TypedStep) else None
    if policy is not None:
        at: Place = (visit.at, "retry_policy")
        for name in ("error_retry_limit", "platform_retry_limit", "timeout_retry_limit"):
            limit = getattr(policy, name)
            if isinstance(limit, str):
                yield from _in_text(limit, (at, name))


def reads_of_workflow(workflow: Workflow) -> Iterator[Read]:
    """What the parameters of a workflow and its timeout read: its other parameters."""
    for name, param in (workflow.params or {}).items():
        yield from _in_param(name, param, ((WORKFLOW, "params"), name))
    if isinstance(workflow.timeout, str):
        yield from _in_text(workflow.timeout, (WORKFLOW, "timeout"))


def reads_of_trigger(trigger: SignalTrigger, at: Place) -> Iterator[Read]:
    """What a signal trigger evaluates."""
    for name, param in (trigger.params or {}).items():
        yield from _in_param(name, param, ((at, "params"), name))
    for field in ("condition", "dedup_expr"):
        text = getattr(trigger, field)
        if text is not None:
            yield from _in_condition(text, (at, field))


def _in_text(text: str, at: Place) -> Iterator[Read]:
    found = _in_param("text", ParamDefinition(type=ParamType.STRING, value=text), at)
    yield from (read._replace(at=at) for read in found)


def _in_condition(text: str, at: Place) -> Iterator[Read]:
    if text not in {"true", "false"}:
        condition = ParamDefinition(type=ParamType.BOOLEAN, expression=text)
        yield from (read._replace(at=at) for read in _in_param("condition", condition, at))


def _in_param(name: str, param: ParamDefinition, at: Place) -> Iterator[Read]:
    """Members of a map stand by themselves, so that each is found where it is written."""
    if param.type is ParamType.MAP and isinstance(param.value, dict):
        for key, member in param.value.items():
            yield from _in_param(f"{name}.{key}", member, ((at, "value"), key))
        return
    inside = (at, "expression" if param.expression is not None else "value")
    with suppress(ParamError):  # it has no value yet, or can not be read, which a rule reports
        for reference in references_of(name, param):
            if not reference.optional:
                yield Read(reference.name, inside, is_text(param))
        if param.expression is not None:
            for call in compile_expression(sanitize(param.expression)).names.calls:
                if not _is_tested(call, param.expression):
                    yield Read(ALL_PARAMS.name, inside, call=call)


def _is_tested(call: ParamsCall, expression: str) -> bool:
    """Whether an expression can do without a parameter that it asks for: it looks whether it is there."""
    return call.method == "get" and TESTS.search(expression) is not None


def words_of(part: Definition | tuple[AnyStep, ...]) -> frozenset[str]:
    """Every word in any text, also in those that nothing evaluates: who writes of a name means it."""
    value = [encode(each) for each in part] if isinstance(part, tuple) else encode(part)
    return frozenset(word for text in _texts(value) for word in WORD.findall(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member)
