"""`stretto restart`: once more, on a server."""

import sys
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from stretto.cli.address import ADDRESS, Address
from stretto.cli.config_options import server_options
from stretto.cli.remote.reading import name_of
from stretto.cli.remote.server import talking
from stretto.cli.remote.watching import Wish, watch
from stretto.cli.running.wanted import (
    STEP_PARAM,
    declared_for,
    params_of,
    read_params,
    step_params_of,
    taken_apart,
)
from stretto.cli.target import Given, server_of
from stretto.model.param import Params
from stretto.model.response import StartResponse, StepRestartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.workflow import Workflow
from stretto.params import WORKFLOW_DEFAULTS

if TYPE_CHECKING:
    from stretto.client import Client, RunName


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
    help="Another value for a parameter: of the workflow and, with a step, of that step. Repeatable.",
)
@click.option(
    STEP_PARAM,
    "step_given",
    multiple=True,
    metavar="STEP:NAME=VALUE",
    help="Another value for a parameter of one step. Repeatable.",
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
    step_given: tuple[str, ...],
    wait: bool,
    follow: bool,
    as_json: bool,
    server: str | None,
    context: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
) -> None:
    """Start a new run of an instance that has ended: of what is not complete, and what follows it. Of a loop
    only the iterations run again that did not succeed.

    With a step the new run begins there, with what follows it; in a run that goes on, a step that failed gets
    another attempt, whose parameters --step-param can change. Exit codes are those of `stretto start`.

    \b
    Examples:
      stretto restart etl/12
      stretto restart etl/12 --all -p table=orders --follow
      stretto restart etl/12 --from load -p table=orders
    """
    place = _place(address, step)
    policy = RunPolicy.RESTART_FROM_BEGINNING if everything else RunPolicy.RESTART_FROM_INCOMPLETE
    remote = server_of(Given(config_file, assignments, server, context=context, user=user))
    with talking(remote) as client:
        target = _target(client, place)
        if everything and target.step_id is not None:
            raise click.UsageError("--all runs every step again, and a step says where to begin: choose one")
        changes = _changes(client, target, given, step_given)
        cursor = client.cursor() if follow else None
        made = _restarted(client, target, policy, changes)
        code = watch(client, remote, made, Wish(wait=wait, follow=follow, as_json=as_json, cursor=cursor))
    sys.exit(code)


def _place(address: Address, step: str | None) -> Address:
    if step is None:
        return address
    if address.path is not None:
        raise click.UsageError("name the step once: --from STEP, or RUN:STEP")
    return address._replace(path=step)


class Target(NamedTuple):
    """What is restarted: a run, or a step of it."""

    run: "RunName"
    step_id: str | None = None


class Changes(NamedTuple):
    """Parameters that are others now: of the run, and of single steps."""

    run: Params
    steps: dict[str, Params]


def _target(client: "Client", place: Address) -> Target:
    run = name_of(place)
    if place.path is None:
        return Target(run)
    found = client.resolve(run, place.path)
    return Target(found, found.step_id)


def _changes(
    client: "Client", target: Target, given: tuple[str, ...], step_given: tuple[str, ...]
) -> Changes:
    """A parameter that the step has is changed there, and one that the run has in the run: wherever it is
    read, its new value is found.
    """
    if not given and not step_given:
        return Changes({}, {})
    run = client.run(target.run)
    workflow = run.runtime_workflow or Workflow(id=run.workflow_id)
    given_to_run = {name: each for name, each in (run.params or {}).items() if name not in WORKFLOW_DEFAULTS}
    workflow = msgspec.structs.replace(workflow, params={**(workflow.params or {}), **given_to_run})
    pairs, steps = [taken_apart(each) for each in given], step_params_of(workflow, step_given)
    if target.step_id is None:
        return Changes(params_of(workflow, pairs), steps)
    declared = declared_for(workflow, target.step_id)
    read = read_params(pairs, declared, "--param")
    own = {name: value for name, value in read.items() if name in declared.of_step}
    others = [f"`{each}`" for each in steps if each != target.step_id]
    if others:
        raise click.BadParameter(
            f"a restart from step `{target.step_id}` can not change parameters of {', '.join(others)}",
            param_hint=STEP_PARAM,
        )
    own |= steps.get(target.step_id, {})
    return Changes(
        {name: value for name, value in read.items() if name in declared.of_run},
        {target.step_id: own} if own else {},
    )


def _restarted(
    client: "Client", target: Target, policy: RunPolicy, changes: Changes
) -> StartResponse | StepRestartResponse:
    run, step_id = target
    if step_id is None:
        return client.restart(
            run, policy=policy, params=changes.run or None, step_params=changes.steps or None
        )
    params = changes.steps.get(step_id)
    return client.restart_step(run, step_id, policy=policy, params=params, run_params=changes.run or None)
