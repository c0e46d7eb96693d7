"""Definitions of the task engine, with the defaults that hold there."""

import re
from typing import Final

import msgspec

from stretto.actions.parts.templates_in import templates_of
from stretto.actions.publish_if_new import publish_if_new
from stretto.api.body import refused
from stretto.api.desk import Call
from stretto.api.v1.shapes import V1Published
from stretto.definition import Limits, validate
from stretto.definition.parse import Options, parse_all
from stretto.definition.reading.read import Format
from stretto.model.errors import InvalidDefinition
from stretto.model.problem import Problem
from stretto.model.retry import RetryPolicy
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.workflow import Definition

TIMEOUT: Final = 30  # seconds
ONCE: Final = RetryPolicy(error_retry_limit=0, timeout_retry_limit=0)
FUNCTION: Final = "function"
ENTRYPOINT: Final = "entrypoint"
PYTHON: Final = "Python"
_IMPORTABLE: Final = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")


async def publish_text(call: Call, text: str) -> V1Published:
    """Every workflow of a text, each as a new version where it is new; none of them if one is not valid."""
    limits = msgspec.structs.replace(call.desk.limits, empty_workflow=True)
    definitions = [_with_defaults(each) for each in _read(text, limits)]
    await _check_all(call, definitions, limits)
    versions = [
        await publish_if_new(call.store, call.reader, each, triggers=True, limits=limits, hints=call.hints)
        for each in definitions
    ]
    ids = tuple(each.workflow.id for each in definitions)
    return V1Published(id=ids[0], version=versions[0], workflow_ids=ids)


def _read(text: str, limits: Limits) -> tuple[Definition, ...]:
    try:
        return parse_all(text, Options(form=Format.YAML, limits=limits))
    except InvalidDefinition as invalid:
        raise refused(invalid.problems) from None


async def _check_all(call: Call, definitions: list[Definition], limits: Limits) -> None:
    problems: list[Problem] = []
    for each in definitions:
        problems += validate(each, limits, templates=await templates_of(call.store, each.workflow))
    if problems:
        raise InvalidDefinition(problems)


def _with_defaults(definition: Definition) -> Definition:
    """30 s for each task, and no second try, where nothing else is said."""
    workflow = definition.workflow
    steps = tuple(_step(each) for each in workflow.steps)
    return msgspec.structs.replace(definition, workflow=msgspec.structs.replace(workflow, steps=steps))


def _step(step: AnyStep) -> AnyStep:
    if isinstance(step, ForeachStep | WhileStep):
        return msgspec.structs.replace(step, steps=tuple(_step(each) for each in step.steps))
    if not isinstance(step, TypedStep):
        return step
    changed = msgspec.structs.replace(
        step,
        timeout=TIMEOUT if step.timeout is None else step.timeout,
        retry_policy=ONCE if step.retry_policy is None else step.retry_policy,
    )
    return _importable(changed)


def _importable(step: TypedStep) -> TypedStep:
    """A server has no functions of its own: a key such as `shop.jobs:count` is what it imports."""
    params = step.params or {}
    function = params.get(FUNCTION)
    if step.type != PYTHON or function is None or not _IMPORTABLE.fullmatch(str(function.value)):
        return step
    rest = {name: param for name, param in params.items() if name != FUNCTION}
    return msgspec.structs.replace(step, params={ENTRYPOINT: function, **rest})
