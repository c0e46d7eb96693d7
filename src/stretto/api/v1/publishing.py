"""Definitions of the task engine, with the defaults that hold there."""

import re
from collections.abc import Collection
from typing import Final

import msgspec

from stretto.actions.parts.function_checks import check_functions, known_functions
from stretto.actions.parts.offload import CHARACTERS, offload, size_of
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
from stretto.model.workflow import Definition, Semantics

WAY_OUT: Final = "bring the code to a server with `stretto serve --app MODULE`"
TIMEOUT: Final = 30  # seconds
ONCE: Final = RetryPolicy(error_retry_limit=0, timeout_retry_limit=0)
FUNCTION: Final = "function"
ENTRYPOINT: Final = "entrypoint"
PYTHON: Final = "Python"
_IMPORTABLE: Final = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")


async def publish_text(call: Call, text: str) -> V1Published:
    """Every workflow of a text, each as a new version where it is new; none of them if one is not valid."""
    limits = msgspec.structs.replace(call.desk.limits, empty_workflow=True)
    known = await known_functions(call.store)
    definitions = await offload(len(text) // CHARACTERS, _read, text, limits, known)
    await _check_all(call, definitions, limits)
    await check_functions(call.store, definitions, way_out=WAY_OUT)
    versions = [
        await publish_if_new(call.store, call.reader, each, triggers=True, limits=limits, hints=call.hints)
        for each in definitions
    ]
    ids = tuple(each.workflow.id for each in definitions)
    return V1Published(id=ids[0], version=versions[0], workflow_ids=ids)


def _read(text: str, limits: Limits, known: Collection[str]) -> list[Definition]:
    options = Options(form=Format.YAML, limits=limits)
    try:
        return [_with_defaults(each, known) for each in parse_all(text, options)]
    except InvalidDefinition as invalid:
        raise refused(invalid.problems, Format.YAML) from None


async def _check_all(call: Call, definitions: list[Definition], limits: Limits) -> None:
    problems: list[Problem] = []
    for each in definitions:
        templates = await templates_of(call.store, each.workflow)
        problems += await offload(size_of(each), validate, each, limits, versions=templates)
    if problems:
        raise InvalidDefinition(problems)


def _with_defaults(definition: Definition, known: Collection[str]) -> Definition:
    """30 s for each task, no second try and Stretto's semantics, where nothing else is said."""
    workflow = definition.workflow
    steps = tuple(_step(each, known) for each in workflow.steps)
    made = msgspec.structs.replace(workflow, steps=steps, semantics=workflow.semantics or Semantics.STRETTO)
    return msgspec.structs.replace(definition, workflow=made)


def _step(step: AnyStep, known: Collection[str]) -> AnyStep:
    if isinstance(step, ForeachStep | WhileStep):
        return msgspec.structs.replace(step, steps=tuple(_step(each, known) for each in step.steps))
    if not isinstance(step, TypedStep):
        return step
    changed = msgspec.structs.replace(
        step,
        timeout=TIMEOUT if step.timeout is None else step.timeout,
        retry_policy=ONCE if step.retry_policy is None else step.retry_policy,
    )
    return _importable(changed, known)


def _importable(step: TypedStep, known: Collection[str]) -> TypedStep:
    """A key such as `shop.jobs:count` is what a server imports, unless a running process knows it."""
    params = step.params or {}
    function = params.get(FUNCTION)
    if step.type != PYTHON or function is None or str(function.value) in known:
        return step
    if not _IMPORTABLE.fullmatch(str(function.value)):
        return step
    rest = {name: param for name, param in params.items() if name != FUNCTION}
    return msgspec.structs.replace(step, params={ENTRYPOINT: function, **rest})
