"""`stretto stop`: end a run, or a step of it, on a server."""

from typing import TYPE_CHECKING

import click

from stretto.cli.address import ADDRESS, Address, readable, run_text
from stretto.cli.config_options import server_options
from stretto.cli.remote.reading import name_of
from stretto.cli.remote.server import talking
from stretto.cli.target import Given, server_of
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.response import InstanceActionResponse, StepActionResponse
from stretto.model.wire import encode, to_json

if TYPE_CHECKING:
    from stretto.client import Client


@click.command(name="stop")
@click.argument("address", type=ADDRESS, metavar="RUN[:STEP]")
@click.option("--kill", is_flag=True, help="End it as failed, whatever the failure modes of its steps say.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it stands on the timeline.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, in the form of the API.")
@server_options
def command(  # noqa: PLR0913 - one for each option
    address: Address,
    *,
    kill: bool,
    reason: str,
    as_json: bool,
    server: str | None,
    context: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
) -> None:
    """Stop the newest run of an instance, or a step of it. It ends a little later.

    RUN is WORKFLOW/INSTANCE or WORKFLOW/INSTANCE/RUN; STEP is a step, or a path to one inside loops and
    subworkflows; a path that ends in an iteration stops that iteration.

    \b
    Examples:
      stretto stop etl/12
      stretto stop etl/12:load --kill --reason 'the table is locked'
    """
    remote = server_of(Given(config_file, assignments, server, context=context, user=user))
    with talking(remote) as client:
        try:
            made = _stopped(client, address, reason, kill=kill)
        except InvalidRequest as error:
            raise (_ended_before(client, address, kill=kill) or error) from None
    if as_json:
        click.echo(to_json(encode(made)))
    else:
        click.echo(readable(_said(made)))


def _stopped(
    client: "Client", address: Address, reason: str, *, kill: bool
) -> InstanceActionResponse | StepActionResponse:
    run = name_of(address)
    if address.path is None:
        return client.kill(run, reason=reason) if kill else client.stop(run, reason=reason)
    found = client.resolve(run, address.path)
    if found.step_id is None:
        return client.kill(found, reason=reason) if kill else client.stop(found, reason=reason)
    end = client.kill_step if kill else client.stop_step
    return end(found, found.step_id, reason=reason)


def _ended_before(client: "Client", address: Address, *, kill: bool) -> WrongState | None:
    """The refusal in the words of this command; None: the run has not ended, so there is another reason."""
    if address.path is not None:
        return None
    run = client.run(name_of(address))
    status = run.run_status
    if not status.is_terminal:
        return None
    name = run_text(RunKey(run.workflow_id, run.workflow_instance_id, run.workflow_run_id))
    return WrongState(
        f"{name} has already ended {status}, so it can not be {'killed' if kill else 'stopped'}"
    )


def _said(made: InstanceActionResponse | StepActionResponse) -> str:
    if isinstance(made, InstanceActionResponse):
        return made.info or f"{made.workflow_id}/{made.workflow_instance_id}: {made.workflow_instance_status}"
    state = made.step_runtime_state
    status = "it is asked to end" if state is None else state.status
    return f"{made.workflow_id}/{made.workflow_instance_id}:{made.step_id}: {status}"
