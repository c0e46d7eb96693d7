"""Whether some running process knows the functions that definitions call by name."""

from collections.abc import Collection, Sequence
from typing import Final

from stretto.actions.parts.living import living
from stretto.actions.parts.offload import offload, size_of
from stretto.definition.functions import (
    CACHED_AND_UNDONE,
    FUNCTION,
    REMOVE_ONE,
    all_steps,
    checked_names,
    functions_in,
    undoing_functions,
    unknown_argument,
)
from stretto.model.errors import InvalidDefinition
from stretto.model.problem import Code, Problem
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Definition
from stretto.ports.functions import ADVERTISED_HANDLER
from stretto.ports.store import Store

WAY_OUT: Final = (
    "bring the code to a server with `stretto serve --app MODULE`, or push with `--allow-unknown-functions` "
    "(`allow_unknown_functions=true`) if a process that knows it is started later"
)


async def known_functions(store: Store) -> frozenset[str]:
    """Every function that some running process advertises."""
    advertised = (await store.advertised(await living(store))).values()
    return frozenset(
        each for names in advertised for each in names if not each.startswith(ADVERTISED_HANDLER)
    )


async def check_functions(
    store: Store, definitions: Sequence[Definition], known: Collection[str] = (), way_out: str = WAY_OUT
) -> None:
    """Refuse definitions that call functions which no running process knows. `known`: those that the caller
    knows itself.
    """
    named: dict[tuple[str, str], str] = {}
    for definition in definitions:
        called = await offload(size_of(definition), functions_in, definition.workflow.steps)
        named |= {
            (definition.workflow.id, function): step_id
            for function, step_id in called.items()
            if function not in known
        }
    if not named:
        return
    advertised = await known_functions(store)
    problems = [
        Problem(
            code=Code.UNKNOWN_VALUE,
            path=f"workflow.steps[{step_id}]",
            message=f"step `{step_id}` of workflow `{workflow_id}` calls the function `{function}`, which no "
            "running process knows",
            hint="; ".join(filter(None, (did_you_mean(function, {*advertised, *known}), way_out))),
        )
        for (workflow_id, function), step_id in named.items()
        if function not in advertised
    ]
    problems += await _unknown_arguments(store, definitions, advertised)
    problems += await _cached_and_undone(store, definitions)
    if problems:
        raise InvalidDefinition(problems)


async def _cached_and_undone(store: Store, definitions: Sequence[Definition]) -> list[Problem]:
    """Steps that can be undone, or that undo, and whose functions keep their results."""
    problems: list[Problem] = []
    for definition in definitions:
        for step_id, function, role in await offload(size_of(definition), _undoing, definition):
            record = next(iter(await store.function_records([function])), None)
            if record is None or not record.keeps_results:
                continue
            text = f"step `{step_id}` of workflow `{definition.workflow.id}` has a compensation, and "
            text += f"{'it' if role == 'step' else 'that'} calls `{function}`, which has a cache: "
            is_step = role == "step"
            text += CACHED_AND_UNDONE if is_step else "taken from it, it undoes nothing"
            hint = REMOVE_ONE if is_step else f"remove `cache` from `{function}`"
            path = f"workflow.steps[{step_id}].compensation"
            problems.append(Problem(code=Code.CONFLICT, path=path, message=text, hint=hint))
    return problems


def _undoing(definition: Definition) -> list[tuple[str, str, str]]:
    return list(undoing_functions(definition.workflow.steps))


async def _unknown_arguments(
    store: Store, definitions: Sequence[Definition], advertised: Collection[str]
) -> list[Problem]:
    """Parameters of tasks that their functions do not take, as far as the functions are known."""
    problems: list[Problem] = []
    for definition in definitions:
        for step_id, function, names in await offload(size_of(definition), _checked, definition):
            known = await store.function_records([function] if function in advertised else [])
            record = next(iter(known), None)
            if record is None or record.takes_any:
                continue
            for name in names:
                if name not in record.params:
                    message, hint = unknown_argument(function, name, record.params)
                    path = f"workflow.steps[{step_id}].params.{name}"
                    text = f"step `{step_id}` of workflow `{definition.workflow.id}`: {message}"
                    problems.append(Problem(code=Code.UNKNOWN_FIELD, path=path, message=text, hint=hint))
    return problems


def _checked(definition: Definition) -> list[tuple[str, str, list[str]]]:
    """Steps with the function that each calls by name, and the parameters that must be arguments of it."""
    return [
        (step.id, str(step.params[FUNCTION].value), checked_names(step, step.params))
        for step in all_steps(definition.workflow.steps)
        if step.params and FUNCTION in step.params
    ]
