"""`stretto show`: a run, or a step of it, as a whole."""

from typing import Any

import click
import msgspec

from stretto.actions.reading.instances import get_run
from stretto.actions.reading.nesting import resolve_path
from stretto.actions.reading.steps import get_attempt, list_attempts, list_steps
from stretto.cli.address import ADDRESS, LATEST, Address, as_named
from stretto.cli.config_options import looking_options
from stretto.cli.database import Place, caller, finished
from stretto.cli.finding import reading
from stretto.cli.remote.reading import read_sight
from stretto.cli.remote.server import talking
from stretto.cli.showing.loops import read_loops
from stretto.cli.showing.run import RunSight, result_in, run_lines
from stretto.cli.showing.step import StepSight, step_lines
from stretto.cli.target import Given, target_of
from stretto.engine.records import RunKey
from stretto.model.wire import encode, to_json
from stretto.ports.store import Store


@click.command(name="show")
@click.argument("address", type=ADDRESS, metavar="RUN[:STEP]")
@click.option("--timeline", is_flag=True, help="Of a step, also when it came into each status.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, in the form of the API.")
@looking_options
def command(  # noqa: PLR0913 - one for each option
    address: Address,
    *,
    timeline: bool,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    server: str | None,
    context: str | None,
) -> None:
    """Show a run with its steps, or a step with its parameters, attempts and outputs. Of a loop both say how
    many iterations have ended, and which failed.

    RUN is WORKFLOW/INSTANCE for the newest run of an instance, or WORKFLOW/INSTANCE/RUN. STEP is a step, or a
    path to one inside loops and subworkflows; a path that ends in an iteration shows that iteration, and
    STEP/ATTEMPT another attempt than the newest.

    They are read from a database, as `stretto run` leaves one behind, or from a server.

    \b
    Examples:
      stretto show etl/12
      stretto show etl/12:load
      stretto show etl/12:load/1
      stretto show 'etl/12:each_day[3].clean'
      stretto show etl/12 --server http://127.0.0.1:8080
    """
    target = target_of(Given(config_file, assignments, server, database, context))
    if isinstance(target, Place):
        sight = finished(_read(target, address))
    else:
        with talking(target) as client:
            sight = read_sight(client, address)
    if as_json:
        click.echo(to_json(_as_json(sight)))
    elif isinstance(sight, RunSight):
        click.echo("\n".join(run_lines(sight, target.again)))
    else:
        click.echo("\n".join(step_lines(msgspec.structs.replace(sight, whole=timeline))))


async def _read(place: Place, address: Address) -> RunSight | StepSight:
    async with reading(place, address) as (store, row):
        if address.path is None:
            return await _run(store, row.key, None if address.run == LATEST else as_named(address))
        found = await resolve_path(store, caller(), *row.key[:2], str(row.key.run_id), address.path)
        key = RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id)
        name = as_named(address)
        if found.step_id is None:
            return await _run(store, key, name)
        return await _step(store, key, found.step_id, address.attempt, name)


async def _run(store: Store, key: RunKey, name: str | None = None) -> RunSight:
    run = str(key.run_id)
    made = await get_run(store, caller(), *key[:2], run)
    steps = await list_steps(store, caller(), *key[:2], run)
    version = (
        None if made.workflow_version_id is None else await store.version(key[0], made.workflow_version_id)
    )
    loops = await read_loops(store, steps)
    return RunSight(key=key, name=name, run=made, steps=steps, loops=loops, result=result_in(version, steps))


async def _step(store: Store, key: RunKey, step_id: str, attempt: str, name: str) -> StepSight:
    run = str(key.run_id)
    step = await get_attempt(store, caller(), *key[:2], run, step_id, attempt)
    attempts = await list_attempts(store, caller(), *key[:2], run, step_id)
    return StepSight(name=name, step=step, attempts=attempts, loops=await read_loops(store, [step]))


def _as_json(sight: RunSight | StepSight) -> dict[str, Any]:
    if isinstance(sight, StepSight):
        return {"step": encode(sight.step), "attempts": [encode(each) for each in sight.attempts]}
    return {"run": encode(sight.run), "steps": [encode(each) for each in sight.steps]}
