"""Parameters that a request gives to single steps: refused with the reason, or sure to be used."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from stretto.actions.parts.dry_run import NO_PARAMS, layers_of
from stretto.actions.parts.offload import offload
from stretto.definition.functions import all_steps, steps_by_id
from stretto.model.errors import InvalidRequest
from stretto.model.param import Parameter, Params
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Workflow
from stretto.params import ParamError, check_request, step_params
from stretto.ports.store import Store


def check_overrides(workflow: Workflow, overrides: Mapping[str, Params]) -> None:
    """Parameters can be given only to steps that there are, also in loops."""
    steps = steps_by_id(workflow.steps)
    unknown = [each for each in overrides if each not in steps]
    if unknown:
        raise InvalidRequest(
            f"non-existing step id detected in step param overrides: inputs [{', '.join(unknown)}]"
            f" vs dag [{', '.join(steps)}] of workflow [{workflow.id}]",
            hint=did_you_mean(unknown[0], steps),
        )
    for params in overrides.values():
        check_request(params)


def check_covered(workflow: Workflow, overrides: Mapping[str, Params], covered: Collection[str]) -> None:
    """Refuse parameters of a step that a restart does not run again: nobody would read them."""
    outer = {inner.id: each.id for each in workflow.steps for inner in all_steps((each,))}
    for step_id in overrides:
        if outer[step_id] not in covered:
            raise InvalidRequest(
                f"step [{step_id}] of workflow [{workflow.id}] is complete and does not run again in this"
                " restart, so its parameters can not be changed",
                hint="restart from that step, or the whole run from the beginning",
            )


async def try_overrides(
    store: Store,
    workflow: Workflow,
    overrides: Mapping[str, Params],
    params: Mapping[str, Parameter],
    *,
    restarting: bool = False,
) -> None:
    """Merge the overrides as the steps will, with the parameters of the run: refused is what a step's own
    parameters do not allow, by their mode or their type.
    """
    steps = steps_by_id(workflow.steps)
    layers = await layers_of(store, [steps[each] for each in overrides], params)

    def merge() -> None:
        for step_id, given in overrides.items():
            step = steps[step_id]
            try:
                _check_loop_values(step, given)
                run, restart = (NO_PARAMS, given) if restarting else (given, NO_PARAMS)
                step_params(replace(layers(step), run=run, restart=restart))
            except ParamError as error:
                message = f"Step [{step_id}] of workflow [{workflow.id}]: {error.message}"
                raise ParamError(
                    error.fault, f"{step_id}.{error.param}", message, details=error.details
                ) from error

    await offload(sum(map(len, overrides.values())), merge)


def _check_loop_values(step: AnyStep, given: Params) -> None:
    """Each iteration has its own value of a loop parameter, whatever its step has under that name."""
    loop = (step.params or {}).get("loop_params") if isinstance(step, ForeachStep | WhileStep) else None
    values = loop.value if loop is not None and isinstance(loop.value, Mapping) else {}
    for name in given:
        if name in values:
            raise InvalidRequest(
                f"[{name}] is a loop parameter of step [{step.id}]: each iteration has its own value",
                hint="give loop_params",
            )
