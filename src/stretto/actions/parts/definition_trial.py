"""A definition that the rules allow, tried: what a push and a start of it would refuse."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.parts.dry_run import try_params, try_steps
from stretto.actions.parts.evaluation import Evaluator
from stretto.definition import Limits
from stretto.model.errors import StrettoError
from stretto.model.param import Parameter, Params
from stretto.model.problem import Code, Problem, render
from stretto.model.workflow import Definition
from stretto.params import ParamError, ParamLimits, check_request
from stretto.ports.store import Store

OUR_FAULT: Final = 500  # from here on an error says nothing of the text
RUN_PARAMS: Final = "run_params"  # which are not in the text


class DefinitionTrial(NamedTuple):
    """What a dry run came to."""

    problems: tuple[Problem, ...] = ()
    params: Mapping[str, Parameter] | None = None
    step_params: Mapping[str, Params] | None = None


async def try_definition(
    store: Store,
    caller: Caller,
    definition: Definition,
    given: Params,
    how: tuple[Limits, ParamLimits, Evaluator],
) -> DefinitionTrial:
    """What a push and a start would refuse in a definition that the rules allow."""
    limits, params, evaluate = how
    workflow = definition.workflow
    try:
        check_request(given, params)
        trial = await try_params(workflow, caller.user, await store.now(), evaluate, given)
    except StrettoError as error:
        name = error.param if isinstance(error, ParamError) else ""
        return DefinitionTrial((_problem(error, _param_path(name, given)),))
    found: list[Problem] = []
    try:
        trial.check_timeout()
    except StrettoError as error:
        found.append(_problem(error, "workflow.timeout", Code.BAD_DURATION))
    steps, failed = await try_steps(store, workflow, trial.params, limits.step_types)
    for number, failure in failed.items():
        kind = str(type(workflow.steps[number]).__struct_config__.tag)
        keys = failure.param.split(".") if isinstance(failure, ParamError) else []
        place = ["workflow", "steps", number, kind, *(["params", *_in_map(keys)] if keys else [])]
        found.append(_problem(failure, render(place)))
    return DefinitionTrial(tuple(found), trial.params, steps)


def _problem(error: StrettoError, path: str, code: str = Code.BAD_PARAM) -> Problem:
    """What the author can put right; all else is no answer about the text."""
    if error.status >= OUR_FAULT:
        raise error
    return Problem(code=code, path=path, message=error.message, hint=error.hint)


def _param_path(name: str, given: Params) -> str:
    """Where a parameter of the workflow is written: in the request, or in the text."""
    keys = name.split(".") if name else []
    place = [RUN_PARAMS] if keys[:1] and keys[0] in given else ["workflow", "params"]
    return render([*place, *_in_map(keys)])


def _in_map(keys: Sequence[str]) -> list[str | int]:
    """The members of a map are inside its value."""
    return [each for number, key in enumerate(keys) for each in ((key,) if not number else ("value", key))]
