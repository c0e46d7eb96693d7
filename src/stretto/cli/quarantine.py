"""`stretto quarantine`: runs that were set aside because nodes died while they handled them."""

import click

from stretto.actions.reading.all_runs import list_quarantined
from stretto.actions.reading.lines import RunLine
from stretto.actions.reading.paging import MOST_ON_A_PAGE
from stretto.actions.release import release_run
from stretto.cli import style
from stretto.cli.address import ADDRESS, Address, run_text
from stretto.cli.config_options import looking_options
from stretto.cli.database import Place, Refused, caller, finished, opened
from stretto.cli.finding import reading
from stretto.cli.remote.reading import name_of
from stretto.cli.remote.server import Remote, talking
from stretto.cli.runs import line_json, print_lines
from stretto.cli.target import Given, target_of
from stretto.engine.records import RunKey
from stretto.model.page import Page, PageInfo
from stretto.model.request import PageRequest
from stretto.model.wire import to_json


@click.group(name="quarantine")
def command() -> None:
    """List runs that were set aside, and let them go on.

    A run is set aside when one node after the other died while it handled the run. Nobody touches it until it
    is released; all other runs go on.
    """


@command.command(name="list")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ON_A_PAGE),
    default=MOST_ON_A_PAGE,
    show_default=True,
    metavar="N",
    help=f"How many, up to {MOST_ON_A_PAGE}.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@looking_options
def list_all(
    *,
    limit: int,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
    context: str | None,
) -> None:
    """List the runs that were set aside, in a database or on a server, by id.

    \b
    Examples:
      stretto quarantine list
      stretto quarantine list --server http://127.0.0.1:8080
      stretto quarantine list --json | jq -r '.runs[].run'
    """
    target = target_of(Given(config_file, assignments, server, database, context))
    page = finished(_read(target, limit)) if isinstance(target, Place) else _asked(target, limit)
    more = page.page_info.has_next_page
    if as_json:
        click.echo(to_json({"runs": [line_json(line) for line in page.elements], "more": more}))
        return
    if not page.elements:
        where = f"in {target.shown}" if isinstance(target, Place) else f"at {target.url}"
        click.echo(f"no runs in quarantine {where}")
        return
    print_lines(page.elements, whole=True)
    if more:
        click.echo(f"{style.plain('…')} there are more; --limit shows up to {MOST_ON_A_PAGE}")


async def _read(place: Place, limit: int) -> Page[RunLine]:
    if place.is_missing:  # as `stretto runs` says: there are none
        return Page(elements=(), page_info=PageInfo())
    async with opened(place) as store:
        return await list_quarantined(store, caller(), PageRequest(first=limit))


def _asked(remote: Remote, limit: int) -> Page[RunLine]:
    with talking(remote) as client:
        return client.quarantine(first=limit)


@command.command(name="release")
@click.argument("address", type=ADDRESS, metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@looking_options
def release(
    address: Address,
    *,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
    context: str | None,
) -> None:
    """Let a run go on that was set aside. The node that owns it handles it again.

    RUN is WORKFLOW/INSTANCE for the newest run of an instance, or WORKFLOW/INSTANCE/RUN.

    \b
    Examples:
      stretto quarantine release etl/12
      stretto quarantine release etl/12/2 --server http://127.0.0.1:8080
    """
    if address.path is not None:
        name = f"{address.workflow_id}/{address.instance_id}"
        raise Refused(f"a run is released as a whole, not the step {address.path}", f"name the run: {name}")
    target = target_of(Given(config_file, assignments, server, database, context))
    if isinstance(target, Place):
        key = finished(_release(target, address))
    else:
        with talking(target) as client:
            found = client.run(name_of(address), enriched=False)
            client.release(found)
            key = RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id)
    if as_json:
        click.echo(to_json({"released": "/".join(map(str, key))}))
    else:
        click.echo(f"{run_text(key)} is released: the node that owns it goes on with it")


async def _release(place: Place, address: Address) -> RunKey:
    async with reading(place, address) as (store, row):
        await release_run(store, caller(), row.key)
        return row.key
