"""`stretto logs`: what the steps of a run have printed, and print."""

import asyncio
import sys
from typing import Final

import click
import msgspec

from stretto.actions.reading.log_pages import LogFollower, LogQuery, StepLogs
from stretto.actions.reading.log_target import elsewhere_text, host_of, log_target_of
from stretto.app import logs_of
from stretto.cli.address import ADDRESS, Address
from stretto.cli.config_options import looking_options
from stretto.cli.database import Place, caller, finished
from stretto.cli.finding import reading
from stretto.cli.output.absent import nothing
from stretto.cli.output.printing import Printer, Wish
from stretto.cli.remote.output import show_remote
from stretto.cli.target import Given, target_of
from stretto.model.errors import Unavailable
from stretto.node.process import own_address
from stretto.ports.logs import LOG, STDERR, STDOUT, Stream

LOOK_EVERY: Final = 0.25  # seconds: nobody tells that a file has grown
SPARE: Final = 5  # times as long as the database needs to answer it is left in peace
SELDOM: Final = 2.0  # seconds between two looks, if it needs long
TRY_EVERY: Final = 0.5  # seconds between two tries while the database does not answer
INTERRUPTED: Final = 130


@click.command(name="logs")
@click.argument("address", type=ADDRESS, metavar="RUN[:STEP]")
@click.option("-f", "--follow", is_flag=True, help="Go on until the step, or the run, has ended.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N lines that there are.")
@click.option("--find", default="", metavar="TEXT", help="Only lines with this text in them.")
@click.option(
    "--stream",
    "streams",
    multiple=True,
    type=click.Choice([STDOUT, STDERR, LOG]),
    help="Only this one; `log` is what a function tells its logger. Repeatable.",
)
@click.option("--attempt", type=click.IntRange(min=1), metavar="N", help="Another attempt than the newest.")
@click.option("--timestamps", is_flag=True, help="When each line was printed, in UTC.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object for each line.")
@looking_options
def command(  # noqa: PLR0913 - options
    address: Address,
    *,
    follow: bool,
    tail: int | None,
    find: str,
    streams: tuple[Stream, ...],
    attempt: int | None,
    timestamps: bool,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
    context: str | None,
) -> None:
    """Show what a step has printed, or all steps of a run, in the order in which it came.

    RUN is WORKFLOW/INSTANCE for the newest run of an instance, or WORKFLOW/INSTANCE/RUN. STEP is a step, or a
    path to one inside loops and subworkflows; STEP/ATTEMPT is another attempt than the newest.

    \b
    Examples:
      stretto logs etl/12:load
      stretto logs etl/12:load/1 --timestamps
      stretto logs -f etl/12 --server http://127.0.0.1:8080
      stretto logs 'etl/12:each_day[3].clean' --tail 20
      stretto logs etl/12 --json | jq -r 'select(.stream == "stderr").text'
    """
    if attempt is not None:
        if address.path is None:
            raise click.BadParameter("name a step, too, such as etl/12:load", param_hint="--attempt")
        address = address._replace(attempt=str(attempt))
    target = target_of(Given(config_file, assignments, server, database, context))
    query = LogQuery(streams=frozenset(streams), tail=tail, find=find)
    wish = Wish(timestamps=timestamps, as_json=as_json)
    try:
        if isinstance(target, Place):
            finished(_show(target, address, query, wish, follow=follow))
        else:
            show_remote(target, address, query, wish, follow=follow)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


async def _show(place: Place, address: Address, query: LogQuery, wish: Wish, *, follow: bool) -> None:
    async with reading(place, address) as (store, row):
        target = await log_target_of(store, caller(), row, address.path, address.attempt)
        printer = Printer(sys.stdout, msgspec.structs.replace(wish, width=await target.width()), row.key)
        files = logs_of(place.config, place.url)
        assert files is not None  # noqa: S101 - what is in memory was refused
        logs = StepLogs(store, files, host_of(own_address()))
        follower = LogFollower(logs, target, query, ends=not follow, most_text=float("inf"))
        remarked = await show(follower, printer)
        if printer.is_silent and not remarked and query.tail != 0:
            click.echo(await nothing(store, target, files.folder, query), err=True)


async def show(follower: LogFollower, printer: Printer) -> bool:
    """Print what there is and, while it follows, what comes. Returns whether something was said of output
    that is not here; that is said beside what is shown, not in it.
    """
    loop, remarked = asyncio.get_running_loop(), False
    while True:
        began = loop.time()
        try:
            async for lines in follower.round():
                printer.print(lines)
            for place in await follower.elsewhere():
                remarked = True
                click.echo(elsewhere_text(place.host, list(place.steps)), err=True)
        except Unavailable:  # a database that does not answer is waited for, as the run itself does
            await asyncio.sleep(TRY_EVERY)
            continue
        if follower.is_over:
            return remarked
        await asyncio.sleep(max(LOOK_EVERY, min(SELDOM, SPARE * (loop.time() - began))))
