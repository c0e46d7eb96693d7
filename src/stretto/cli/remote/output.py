"""What steps print, read from a server."""

import sys
from typing import TYPE_CHECKING, NamedTuple, cast

import click
import msgspec

from stretto.actions.reading.log_pages import LogEntry, LogPlace, LogQuery
from stretto.actions.reading.log_target import elsewhere_text
from stretto.cli.address import Address
from stretto.cli.output.absent import INSIDE, nothing_said
from stretto.cli.output.printing import Printer, Wish
from stretto.cli.remote.reading import name_of
from stretto.cli.remote.server import Remote, talking
from stretto.engine.records import RunKey
from stretto.model.step import TypedStep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stretto.client import Client


def show_remote(remote: Remote, address: Address, query: LogQuery, wish: Wish, *, follow: bool) -> None:
    """Print what a step, or all steps of a run, have printed; while it follows, also what they print."""
    with talking(remote) as client:
        key, step_id, width, runs_others = _found(client, address)
        printer = Printer(sys.stdout, msgspec.structs.replace(wish, width=width), key)
        tell = _followed if follow else _read
        remarked = False
        for each in tell(client, key, step_id, address.attempt, query):
            if isinstance(each, LogPlace):
                remarked = True
                click.echo(elsewhere_text(each.host, list(each.steps)), err=True)
            else:
                printer.print(each)
    if printer.is_silent and not remarked and query.tail != 0:
        name = f"{address.workflow_id}/{address.instance_id}{f':{address.path}' if address.path else ''}"
        click.echo(f"{nothing_said(name, query)}, as far as is kept at {remote.url}", err=True)
        if runs_others:
            click.echo(f"    hint: {INSIDE.format(step_id, name)}", err=True)


class _Found(NamedTuple):
    """What an address names: a run or a step of it."""

    run: RunKey
    step_id: str | None
    width: int | None  # of the longest name of several steps
    runs_others: bool  # a loop or a subworkflow, which prints nothing itself


def _found(client: "Client", address: Address) -> _Found:
    run = name_of(address)
    step_id = None
    if address.path is not None:
        found = client.resolve(run, address.path)
        run, step_id = found, found.step_id
    made = client.run(run)
    key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
    steps = () if made.runtime_workflow is None else made.runtime_workflow.steps
    runs_others = any(step.id == step_id and not isinstance(step, TypedStep) for step in steps)
    width = None if step_id else max((len(step.id) for step in steps), default=0)
    return _Found(key, step_id, width, runs_others)


def _read(
    client: "Client", run: RunKey, step_id: str | None, attempt: str, query: LogQuery
) -> "Iterable[list[LogEntry] | LogPlace]":
    """What there is, page by page."""
    begin: int | None = None
    while True:
        page = client.logs(
            run,
            step_id,
            attempt,
            from_line=begin,
            tail=query.tail,
            find=query.find,
            streams=sorted(query.streams),
        )
        yield list(page.lines)
        yield from page.elsewhere
        begin = page.next_line
        if begin is None:
            return


def _followed(
    client: "Client", run: RunKey, step_id: str | None, attempt: str, query: LogQuery
) -> "Iterable[list[LogEntry] | LogPlace]":
    streams = sorted(query.streams)
    told = client.follow_logs(run, step_id, attempt, tail=query.tail, find=query.find, streams=streams)
    for each in cast("Iterable[LogEntry | LogPlace]", told):
        yield each if isinstance(each, LogPlace) else [each]
