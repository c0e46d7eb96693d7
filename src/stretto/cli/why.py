"""`stretto why`: what a run, or a step of it, waits for."""

import click

from stretto.actions.reading.why import WhyRun, WhyStep, why_run, why_step
from stretto.cli import style
from stretto.cli.address import ADDRESS, Address, readable, run_text
from stretto.cli.config_options import looking_options
from stretto.cli.database import Place, caller, finished, place_of
from stretto.cli.finding import reading
from stretto.cli.remote.reading import read_why
from stretto.cli.remote.server import remote_if_any, talking
from stretto.cli.why_text import reason_text
from stretto.engine.records import RunKey
from stretto.engine.why import Cause, Reason, Why
from stretto.model.wire import encode, to_json
from stretto.node.clock import SystemClock

OVER = frozenset({Cause.NOTHING, Cause.NEVER, Cause.OVER})


@click.command(name="why")
@click.argument("address", type=ADDRESS, metavar="RUN")
@click.argument("step", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@looking_options
def command(
    address: Address,
    step: str | None,
    *,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
) -> None:
    """Say why the newest run of an instance has not ended, or why one of its steps is where it is.

    RUN is WORKFLOW/INSTANCE; STEP may also stand behind a colon.

    \b
    Examples:
      stretto why etl/12
      stretto why etl/12 load
      stretto why etl/12:load --json
      stretto why etl/12 --server http://127.0.0.1:8080
    """
    step = step or address.path
    remote = remote_if_any(config_file, assignments, database, server)
    if remote is None:
        found = finished(_read(place_of(config_file, assignments, database), address, step))
    else:
        with talking(remote) as client:
            found = read_why(client, address, step)
    if as_json:
        click.echo(to_json(encode(found)))
    elif isinstance(found, WhyRun):
        _print_run(found)
    else:
        _print_step(found)


async def _read(place: Place, address: Address, step: str | None) -> WhyRun | WhyStep:
    async with reading(place, address) as (store, row):
        if step is None:
            return await why_run(store, caller(), *row.key[:2])
        return await why_step(store, caller(), *row.key[:2], step)


def _print_run(found: WhyRun) -> None:
    name = run_text(RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id))
    click.echo(
        f"{style.paint(f'{name} {found.status}', style.mark(found.status)[1])}: {readable(found.sentence)}"
    )
    for each in found.steps:
        _print_step(each, "  ")


def _print_step(found: Why | WhyStep, indent: str = "") -> None:
    sign, colour = style.mark(found.status)
    click.echo(f"{indent}{style.paint(f'{sign} {found.step_id} {found.status}', colour)}")
    for reason in found.reasons:
        click.echo(f"{indent}    {reason_text(reason)}{_since(reason)}")


def _since(reason: Reason) -> str:
    if reason.since is None:
        return ""
    spent = style.duration(SystemClock().now() - reason.since)
    return f" ({spent} ago)" if reason.cause in OVER else f" (for {spent})"
