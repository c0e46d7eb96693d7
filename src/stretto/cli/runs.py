"""`stretto runs`: the runs in a database, or on a server, newest first."""

from typing import Any, Final

import click

from stretto.actions.parts.near_workflows import why_no_run
from stretto.actions.reading.all_runs import list_all_runs
from stretto.actions.reading.lines import RunLine
from stretto.actions.reading.paging import MOST_ON_A_PAGE
from stretto.cli import style
from stretto.cli.address import readable, run_text
from stretto.cli.config_options import looking_options
from stretto.cli.database import Place, caller, finished, opened
from stretto.cli.remote.server import Remote, talking
from stretto.cli.target import Given, target_of
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus, StepStatus
from stretto.model.wire import to_json
from stretto.node.clock import SystemClock
from stretto.ports.history import RunFilter

WIDEST: Final = 70  # characters of an error in a file or a pipe


@click.command(name="runs")
@click.option("--workflow", "workflow_id", metavar="ID", help="Only runs of this workflow.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([each.value for each in RunStatus], case_sensitive=False),
    help="Only runs in this status. Repeatable.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ON_A_PAGE),
    default=20,
    show_default=True,
    metavar="N",
    help=f"How many, up to {MOST_ON_A_PAGE}.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@looking_options
def command(  # noqa: PLR0913 - one for each option
    *,
    workflow_id: str | None,
    statuses: tuple[str, ...],
    limit: int,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
    context: str | None,
) -> None:
    """List the runs that a database holds, or a server, the newest first.

    The database is that of `stretto run`: by default .stretto/stretto.db in the current folder.

    \b
    Examples:
      stretto runs
      stretto runs --workflow etl --status failed
      stretto runs --limit 100 --json | jq '.runs[].status'
      stretto runs --server http://127.0.0.1:8080
    """
    target = target_of(Given(config_file, assignments, server, database, context))
    wanted = RunFilter(workflow_id=workflow_id, statuses=tuple(map(RunStatus, statuses)))
    lines, more, where = (
        _local(target, wanted, limit) if isinstance(target, Place) else _asked(target, wanted, limit)
    )
    if as_json:
        click.echo(to_json({"runs": [line_json(line) for line in lines], "more": more}))
    elif lines:
        print_lines(lines, whole=not statuses)
        if more:
            click.echo(f"{style.plain('…')} there are older ones; --limit shows more")
    else:
        what = " that fit" if workflow_id or statuses else ""
        click.echo(f"no runs{what} {where}")


def _local(place: Place, wanted: RunFilter, limit: int) -> tuple[tuple[RunLine, ...], bool, str]:
    where = f"in {place.shown}; `stretto run FILE` makes one"
    if place.is_missing:
        return (), False, where
    found, more, absent = finished(_read(place, wanted, limit))
    return found, more, where if absent is None else f"in {place.shown}: {absent}"


def _asked(remote: Remote, wanted: RunFilter, limit: int) -> tuple[tuple[RunLine, ...], bool, str]:
    with talking(remote) as client:
        page = client.runs(workflow=wanted.workflow_id, status=wanted.statuses, first=limit)
        where = f"at {remote.url}; `stretto start WORKFLOW` makes one"
        if not page.elements and wanted.workflow_id:
            try:
                client.overview(wanted.workflow_id)
            except NotFound as error:
                where = f"at {remote.url}: {error.message}"
    return page.elements, page.page_info.has_next_page, where


async def _read(place: Place, wanted: RunFilter, limit: int) -> tuple[tuple[RunLine, ...], bool, str | None]:
    """With the reason, if there are none because there is no such workflow."""
    async with opened(place) as store:
        page = await list_all_runs(store, caller(), wanted, PageRequest(first=limit))
        ask = not page.elements and wanted.workflow_id
        absent = await why_no_run(store, wanted.workflow_id or "") if ask else None
        return page.elements, page.page_info.has_next_page, absent


def print_lines(lines: tuple[RunLine, ...], *, whole: bool = False) -> None:
    """For people, one line for each run, each with a name that leads to it. `whole`: newer runs of the same
    instances are before them.
    """
    now = SystemClock().now()
    newest: set[tuple[str, int]] = set()
    names: list[str] = []
    for line in lines:
        key = _key(line)
        is_newest = whole and key[:2] not in newest
        newest.add(key[:2])
        names.append(run_text(key) if is_newest or key.run_id > 1 else "/".join(map(str, key)))
    longest = max(8, *map(style.width_of, names))
    for name, line in zip(names, lines, strict=True):
        sign, colour = style.mark(line.status)
        began = line.start_time
        took = "" if began is None else style.duration((line.end_time or now) - began)
        error = line.first_error if line.status is not RunStatus.SUCCEEDED else None
        note = (
            ""
            if error is None
            else f"  {error.step_id}: {readable(style.one_line(error.text or error.status))}"
        )
        note = f"  quarantined: {line.quarantined}{note}" if line.quarantined else note
        left = f"{sign} {style.padded(name, longest)}  {line.status:11}"
        note = note if style.columns() else style.cut(note, WIDEST)
        rest = f"  {style.date_time(line.create_time)}  {took:>6}  {counts_text(line)}{note}"
        click.echo(style.row(left, rest, colour))


def counts_text(line: RunLine) -> str:
    """`4 done, 1 failed, 1 stopped`."""
    stopped = line.counts.get(StepStatus.STOPPED, 0)
    done = sum(count for status, count in line.counts.items() if status.is_complete)
    failed = sum(
        count
        for status, count in line.counts.items()
        if (status.is_restartable or status.is_retryable) and status is not StepStatus.STOPPED
    )
    rest = sum(
        count
        for status, count in line.counts.items()
        if not status.is_terminal and status is not StepStatus.NOT_CREATED
    )
    parts = ((done, "done"), (failed, "failed"), (stopped, "stopped"), (rest, "under way"))
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def _key(line: RunLine) -> RunKey:
    return RunKey(line.workflow_id, line.workflow_instance_id, line.workflow_run_id)


def line_json(line: RunLine) -> dict[str, Any]:
    """For programs."""
    error = line.first_error
    found = {
        "run": "/".join(map(str, _key(line))),
        "workflow_id": line.workflow_id,
        "workflow_instance_id": line.workflow_instance_id,
        "workflow_run_id": line.workflow_run_id,
        "workflow_version_id": line.workflow_version_id,
        "status": line.status,
        "quarantined": line.quarantined,
        "create_time": line.create_time,
        "start_time": line.start_time,
        "end_time": line.end_time,
        "steps": dict(line.counts),
        "error": None if error is None else {"step_id": error.step_id, "text": error.text},
    }
    return {name: value for name, value in found.items() if value is not None}
