"""`stretto why`: what a run, or a step of it, waits for."""

from collections.abc import Mapping
from typing import Final

import click

from stretto.actions.reading.nesting import resolve_path
from stretto.actions.reading.steps import list_steps
from stretto.actions.reading.why import WhyRun, WhyStep, why_run, why_step
from stretto.actions.reading.why_workflow import WhyWorkflow, why_workflow
from stretto.cli import style
from stretto.cli.address import HINT, LATEST, Address, AddressType, as_named, readable, run_text
from stretto.cli.config_options import looking_options
from stretto.cli.database import Place, caller, finished, opened
from stretto.cli.finding import reading
from stretto.cli.remote.reading import leads_inside, read_why
from stretto.cli.remote.server import talking
from stretto.cli.showing.loops import LoopSight, loop_text, read_loops
from stretto.cli.target import Given, target_of
from stretto.cli.why_text import reason_text
from stretto.engine.records import RunKey
from stretto.engine.why import Cause, Reason, Why
from stretto.model.status import StepStatus
from stretto.model.wire import encode, to_json
from stretto.node.clock import SystemClock
from stretto.node.process import is_gone

OVER = frozenset({Cause.NOTHING, Cause.NEVER, Cause.OVER})


class PlaceType(AddressType):
    """A run, or the id of a workflow."""

    def convert(  # type: ignore[override]
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Address | str:
        text = str(value)
        return text if text and not {"/", ":"} & set(text) else super().convert(value, param, ctx)


PLACE: Final = PlaceType()


@click.command(name="why")
@click.argument("address", type=PLACE, metavar="RUN|WORKFLOW")
@click.argument("step", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@looking_options
def command(  # noqa: PLR0913 - one for each option
    address: Address | str,
    step: str | None,
    *,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
    context: str | None,
) -> None:
    """Say why a run has not ended, or why one of its steps is where it is.

    RUN is WORKFLOW/INSTANCE for the newest run of an instance, or WORKFLOW/INSTANCE/RUN; STEP may also stand
    behind a colon. A path leads into loops and subworkflows. Of a WORKFLOW it says what starts it by itself,
    and what went wrong with its triggers.

    \b
    Examples:
      stretto why etl/12
      stretto why etl
      stretto why etl/12 load
      stretto why etl/12:load --json
      stretto why 'etl/12:each[3].load'
      stretto why etl/12 --server http://127.0.0.1:8080
    """
    inside: str | None = None
    if isinstance(address, str):
        if step is not None:
            raise click.UsageError(f"a step is of a run: {HINT}")
    else:
        step = step or address.path
        is_named = step is not None or address.run != LATEST
        inside = as_named(address._replace(path=step)) if is_named else None
    target = target_of(Given(config_file, assignments, server, database, context))
    found: WhyRun | WhyStep | WhyWorkflow
    loops: list[LoopSight] = []
    if isinstance(target, Place):
        found, loops = finished(_read(target, address, step))
    else:
        with talking(target) as client:
            if isinstance(address, str):
                found, loops = client.why_workflow(address), []
            else:
                found, loops = read_why(client, address, step)
    if as_json:
        click.echo(to_json(encode(found)))
    elif isinstance(found, WhyWorkflow):
        _print_workflow(found)
    elif isinstance(found, WhyRun):
        _print_run(found, {loop.step_id: loop for loop in loops}, inside)
    else:
        _print_step(found, loop=next((loop for loop in loops if loop.step_id == found.step_id), None))


async def _read(
    place: Place, address: Address | str, step: str | None
) -> tuple[WhyRun | WhyStep | WhyWorkflow, list[LoopSight]]:
    if isinstance(address, str):
        async with opened(place) as store:
            return await why_workflow(store, caller(), address), []
    async with reading(place, address) as (store, row):
        found: WhyRun | WhyStep
        key = row.key
        if step is not None and leads_inside(step):
            inner = await resolve_path(store, caller(), *key[:2], str(key.run_id), step)
            key = RunKey(inner.workflow_id, inner.workflow_instance_id, inner.workflow_run_id)
            step = inner.step_id
        if step is None:
            found = await why_run(store, caller(), *key[:2], str(key.run_id), gone=is_gone)
        else:
            found = await why_step(store, caller(), *key[:2], step, str(key.run_id), gone=is_gone)
        steps = await list_steps(store, caller(), *key[:2], str(key.run_id))
        return found, await read_loops(store, steps)


def _print_workflow(found: WhyWorkflow) -> None:
    click.echo(f"{found.workflow_id}: {found.sentence}")
    for each in found.triggers:
        click.echo(f"  {each.sentence}{_next(each.next_fire)}")
        for line in each.trouble:
            click.echo(f"    {style.paint(line, style.mark(StepStatus.USER_FAILED)[1])}")


def _next(moment: int | None) -> str:
    return "" if moment is None else f" (in {style.duration(max(moment - SystemClock().now(), 0))})"


def _print_run(found: WhyRun, loops: Mapping[str, LoopSight], inside: str | None = None) -> None:
    """`inside`: what the user calls it, if it is an iteration, a child or a run with its number."""
    own = run_text(RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id))
    name = inside or own
    sentence = readable(found.sentence).replace(own, name)
    click.echo(f"{style.paint(f'{name} {found.status}', style.mark(found.status)[1])}: {sentence}")
    for each in found.steps:
        _print_step(each, "  ", loops.get(each.step_id))
    waiting = {each.step_id for each in found.steps}
    for loop in loops.values():  # of what has ended, those that explain why
        if loop.failed and loop.step_id not in waiting:
            click.echo(f"  {loop.step_id}: {loop_text(loop)}")


def _print_step(found: Why | WhyStep, indent: str = "", loop: LoopSight | None = None) -> None:
    sign, colour = style.mark(found.status)
    click.echo(f"{indent}{style.paint(f'{sign} {found.step_id} {found.status}', colour)}")
    for reason in found.reasons:
        click.echo(f"{indent}    {reason_text(reason)}{_since(reason)}")
    if loop is not None and (loop.failed or found.status.is_terminal):  # else the reason says how far it is
        click.echo(f"{indent}    {loop_text(loop)}")


def _since(reason: Reason) -> str:
    if reason.since is None:
        return ""
    spent = style.duration(SystemClock().now() - reason.since)
    return f" ({spent} ago)" if reason.cause in OVER else f" (for {spent})"
