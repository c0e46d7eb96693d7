"""`stretto logs`: what the steps of a run have printed, and print."""

import asyncio
import sys
from collections.abc import Collection
from typing import Final

import click
import msgspec

from stretto.app import logs_of
from stretto.cli.address import ADDRESS, Address
from stretto.cli.config_options import config_options
from stretto.cli.database import Place, finished, place_of
from stretto.cli.finding import reading
from stretto.cli.output.absent import elsewhere, nothing
from stretto.cli.output.looking import Look, Looker, looker_of
from stretto.cli.output.merging import at_once, merged
from stretto.cli.output.printing import Printer, Wish
from stretto.engine.records import AttemptKey
from stretto.model.errors import Unavailable
from stretto.ports.logs import LOG, STDERR, STDOUT, Stream
from stretto.ports.store import Store
from stretto.runtimes.logs.files import LogFiles
from stretto.runtimes.logs.reading import Reading

LOOK_EVERY: Final = 0.25  # seconds: nobody tells that a file has grown
SPARE: Final = 5  # times as long as the database needs to answer it is left in peace
SELDOM: Final = 2.0  # seconds between two looks, if it needs long
TRY_EVERY: Final = 0.5  # seconds between two tries while the database does not answer
INTERRUPTED: Final = 130


@click.command(name="logs")
@click.argument("address", type=ADDRESS, metavar="RUN[:STEP]")
@click.option("-f", "--follow", is_flag=True, help="Go on until the step, or the run, has ended.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N lines that there are.")
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
@config_options
def command(  # noqa: PLR0913 - options
    address: Address,
    *,
    follow: bool,
    tail: int | None,
    streams: tuple[Stream, ...],
    attempt: int | None,
    timestamps: bool,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
) -> None:
    """Show what a step has printed, or all steps of a run, in the order in which it came.

    RUN is WORKFLOW/INSTANCE for the newest run of an instance, or WORKFLOW/INSTANCE/RUN. STEP is a step, or a
    path to one inside loops and subworkflows; STEP/ATTEMPT is another attempt than the newest.

    \b
    Examples:
      stretto logs etl/12:load
      stretto logs etl/12:load/1 --timestamps
      stretto logs -f etl/12
      stretto logs 'etl/12:each_day[3].clean' --tail 20
      stretto logs etl/12 --json | jq -r 'select(.stream == "stderr").text'
    """
    place = place_of(config_file, assignments, database)
    if attempt is not None:
        if address.path is None:
            raise click.BadParameter("name a step, too, such as etl/12:load", param_hint="--attempt")
        address = address._replace(attempt=str(attempt))
    wish = Wish(streams=frozenset(streams), tail=tail, timestamps=timestamps, as_json=as_json)
    try:
        finished(_show(place, address, wish, follow=follow))
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


async def _show(place: Place, address: Address, wish: Wish, *, follow: bool) -> None:
    async with reading(place, address) as (store, row):
        looker = await looker_of(store, row, address)
        wish = msgspec.structs.replace(wish, width=await looker.width())
        printer = Printer(sys.stdout, wish)
        files = logs_of(place.config, place.url)
        assert files is not None  # noqa: S101 - what is in memory was refused
        showing = Showing(store, looker, files, printer)
        await showing.show(follow=follow)
        await showing.remark()
        if printer.is_silent:
            click.echo(await nothing(store, looker, files.folder, wish.streams), err=True)


class Showing:
    """From what there is to what comes."""

    def __init__(self, store: Store, looker: Looker, files: LogFiles, printer: Printer) -> None:
        self._store = store
        self._looker = looker
        self._files = files
        self._printer = printer
        self._readings: dict[AttemptKey, Reading] = {}
        self._known: set[AttemptKey] = set()
        self._remarked: set[AttemptKey] = set()

    async def show(self, *, follow: bool) -> None:
        """What there is now; with `follow`, until no more can come."""
        loop, took = asyncio.get_running_loop(), 0.0
        look = await self._looker.look()
        if self._looker.has_step and not look.attempts and (look.is_over or not follow):
            raise self._looker.missing()
        while follow and not look.is_over:
            self._print(look)
            await self.remark(look.running)
            await asyncio.sleep(max(LOOK_EVERY, min(SELDOM, SPARE * took)))
            begun = loop.time()
            look = await self._looked()
            took = loop.time() - begun
        self._print(look._replace(ended=frozenset(look.attempts)))

    def _print(self, look: Look) -> None:
        for key in look.attempts:
            if key not in self._known:
                self._known.add(key)
                self._readings[key] = self._files.reading(key, at_once(len(look.attempts)))
        ended = look.ended | (self._readings.keys() - look.attempts)  # another has taken their place
        self._printer.print(merged(self._readings, ended))
        for key in ended:
            self._readings.pop(key, None)

    async def _looked(self) -> Look:
        """A database that does not answer is waited for, as the run itself does."""
        while True:
            try:
                return await self._looker.look()
            except Unavailable:
                await asyncio.sleep(TRY_EVERY)

    async def remark(self, running: Collection[AttemptKey] | None = None) -> None:
        """Say whose output is not here; beside what is shown, not in it. None: of all that was looked for."""
        silent = (self._known if running is None else set(running)) - self._printer.heard - self._remarked
        self._remarked |= silent
        for each in await elsewhere(self._store, silent):
            self._printer.is_silent = False
            click.echo(each, err=True)
