"""`stretto restart`: once more, on a server."""

import sys
from typing import TYPE_CHECKING

import click

from stretto.cli.address import ADDRESS, Address
from stretto.cli.config_options import server_options
from stretto.cli.remote.reading import name_of
from stretto.cli.remote.server import remote_of, talking
from stretto.cli.remote.watching import Wish, watch
from stretto.cli.running.wanted import params_of, taken_apart
from stretto.model.param import Params
from stretto.model.response import StartResponse, StepRestartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.workflow import Workflow

if TYPE_CHECKING:
    from stretto.client import Client


@click.command(name="restart")
@click.argument("address", type=ADDRESS, metavar="RUN[:STEP]")
@click.option("--from", "step", metavar="STEP", help="Begin at this step; the same as RUN:STEP.")
@click.option("--all", "everything", is_flag=True, help="Also what is complete, from the beginning on.")
@click.option(
    "-p",
    "--param",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the workflow that is another one now. Repeatable.",
)
@click.option("--wait", is_flag=True, help="Wait until the new run has ended.")
@click.option("--follow", is_flag=True, help="The same, and say how its steps go.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@server_options
def command(  # noqa: PLR0913 - one for each option
    address: Address,
    *,
    step: str | None,
    everything: bool,
    given: tuple[str, ...],
    wait: bool,
    follow: bool,
    as_json: bool,
    server: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
) -> None:
    """Start a new run of an instance that has ended: of what is not complete, and what follows it.

    With a step the new run begins there, with what follows it; in a run that goes on, a step that failed gets
    another attempt. Exit codes are those of `stretto start`.

    \b
    Examples:
      stretto restart etl/12
      stretto restart etl/12 --all -p table=orders --follow
      stretto restart etl/12 --from load
    """
    place = _place(address, step)
    if place.path is not None and given:
        raise click.UsageError("parameters are those of a whole run: leave --param or the step out")
    policy = RunPolicy.RESTART_FROM_BEGINNING if everything else RunPolicy.RESTART_FROM_INCOMPLETE
    remote = remote_of(config_file, assignments, server, user)
    with talking(remote) as client:
        params = _params(client, place, given)
        cursor = client.cursor() if follow else None
        made = _restarted(client, place, policy, params)
        code = watch(client, remote, made, Wish(wait=wait, follow=follow, as_json=as_json, cursor=cursor))
    sys.exit(code)


def _place(address: Address, step: str | None) -> Address:
    if step is None:
        return address
    if address.path is not None:
        raise click.UsageError("name the step once: --from STEP, or RUN:STEP")
    return address._replace(path=step)


def _params(client: "Client", place: Address, given: tuple[str, ...]) -> Params | None:
    if not given:
        return None
    pairs = [taken_apart(each) for each in given]
    run = client.run(name_of(place))
    return params_of(run.runtime_workflow or Workflow(id=run.workflow_id), pairs)


def _restarted(
    client: "Client", place: Address, policy: RunPolicy, params: Params | None
) -> StartResponse | StepRestartResponse:
    run = name_of(place)
    if place.path is None:
        return client.restart(run, policy=policy, params=params)
    found = client.resolve(run, place.path)
    if found.step_id is None:
        return client.restart(found, policy=policy)
    return client.restart_step(found, found.step_id, policy=policy)
