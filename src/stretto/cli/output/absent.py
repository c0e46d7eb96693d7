"""What to say where there is no output: it was never there, or inside of a loop."""

from pathlib import Path
from typing import Final

from stretto.actions.reading.log_pages import LogQuery
from stretto.actions.reading.log_target import MOST_ASKED, LogTarget
from stretto.ports.run_snapshot import read_attempt
from stretto.ports.store import Store
from stretto.runtimes.python.own_params import FUNCTION

INSIDE: Final = "`{0}` runs other steps; name one of them: {1}[1].STEP in a loop, {1}.STEP in a subworkflow"

IN_A_THREAD: Final = (
    "`{0}` is a Python function; in a thread of an `Engine` it prints to the output of its program, and what "
    "it tells `ctx.logger` is kept; with `Engine(capture_output=True)`, or with "
    '`@step(isolation="process")`, all that it prints is kept'
)


async def nothing(store: Store, target: LogTarget, folder: Path, query: LogQuery) -> str:
    """That nothing was printed, and where one has looked."""
    said = f"{nothing_said(target.name, query)}, as far as is kept in {folder}"
    for key in (await target.look()).attempts[:MOST_ASKED]:
        row = await read_attempt(store, key)
        if row is not None and (row.record.loop_run is not None or row.record.child is not None):
            return f"{said}\n    hint: {INSIDE.format(key.step_id, target.path_to(key.step_id))}"
        if row is not None and FUNCTION in (row.record.params or {}):
            return f"{said}\n    hint: {IN_A_THREAD.format(key.step_id)}"
    return said


def nothing_said(name: str, query: LogQuery) -> str:
    """`etl/12:load has printed nothing on stderr with `text` in it`."""
    on = f" on {' or '.join(sorted(query.streams))}" if query.streams else ""
    having = f" with `{query.find}` in it" if query.find else ""
    return f"{name} has printed nothing{on}{having}"
