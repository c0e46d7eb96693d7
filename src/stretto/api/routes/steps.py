"""Steps and their attempts: read."""

from typing import Final

from stretto.actions.reading.lines import AttemptLine
from stretto.actions.reading.steps import get_attempt, get_step, list_attempts, list_steps, step_action_map
from stretto.api.fields import fields_in
from stretto.api.routing import Calling, Flag, Name, Number, OptionalText, gets
from stretto.model.actions import StepAction
from stretto.model.status import StepStatus
from stretto.model.step_instance import StepInstance

INSTANCE: Final = "/workflows/{workflow_id}/instances/{instance_id}"


@gets("/workflows/steps/instances/action-map")
async def read_actions() -> dict[StepStatus, tuple[StepAction, ...]]:
    """What a user can do to a step in which status."""
    return dict(step_action_map())


@gets(f"{INSTANCE}/steps/{{step_id}}")
async def read_step(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    step_id: Name,
    enriched: Flag = True,
    fields: OptionalText = None,
) -> StepInstance:
    """The newest attempt of a step, in the newest run that has it. `fields`, with commas: only these, and
    those that say which attempt.
    """
    wanted = fields_in(StepInstance, fields)
    return await get_step(
        call.store, call.reader, workflow_id, instance_id, step_id, enriched=enriched, fields=wanted
    )


@gets(f"{INSTANCE}/runs/{{run}}/steps/{{step_id}}/attempts/{{attempt}}")
async def read_attempt(  # noqa: PLR0913, PLR0917 - it takes five to name an attempt
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    step_id: Name,
    attempt: Name,
    enriched: Flag = True,
    fields: OptionalText = None,
) -> StepInstance:
    """One attempt: a number, or `latest`; or some fields of it."""
    return await get_attempt(
        call.store,
        call.reader,
        workflow_id,
        instance_id,
        run,
        step_id,
        attempt,
        enriched=enriched,
        fields=fields_in(StepInstance, fields),
    )


@gets(f"{INSTANCE}/steps")
async def read_steps(
    call: Calling, workflow_id: Name, instance_id: Number, fields: OptionalText = None
) -> list[StepInstance]:
    """The newest attempt of each step over all runs, or some fields of each."""
    wanted = fields_in(StepInstance, fields)
    return await list_steps(call.store, call.reader, workflow_id, instance_id, fields=wanted)


@gets(f"{INSTANCE}/runs/{{run}}/steps")
async def read_steps_of_run(
    call: Calling, workflow_id: Name, instance_id: Number, run: Name, fields: OptionalText = None
) -> list[StepInstance]:
    """The newest attempt of each step in a run, or some fields of each."""
    wanted = fields_in(StepInstance, fields)
    return await list_steps(call.store, call.reader, workflow_id, instance_id, run, fields=wanted)


@gets(f"{INSTANCE}/runs/{{run}}/steps/{{step_id}}/attempts")
async def read_attempts(
    call: Calling, workflow_id: Name, instance_id: Number, run: Name, step_id: Name
) -> list[AttemptLine]:
    """All attempts of a step in a run: how each ended, and where."""
    return await list_attempts(call.store, call.reader, workflow_id, instance_id, run, step_id)


ROUTES: Final = (read_actions, read_step, read_attempt, read_attempts, read_steps, read_steps_of_run)
