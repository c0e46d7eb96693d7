"""What to say where there is no output: it is on another machine, inside, or was never there."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from stretto.cli.output.looking import Looker
from stretto.engine.records import AttemptKey
from stretto.node.address import own_address
from stretto.ports.logs import Stream
from stretto.ports.store import Store

MOST_ASKED: Final = 1_000  # attempts
SOME: Final = 5  # names in a sentence
INSIDE: Final = "`{0}` holds other steps, which may: {1}[1].STEP in a loop, {1}.STEP in a subworkflow"


async def elsewhere(store: Store, attempts: Collection[AttemptKey]) -> list[str]:
    """A sentence for each other machine on which some of them ran, as far as that is known."""
    if not attempts:
        return []
    hosts = {row.node: _host(row.address) for row in await store.nodes()}
    here = _host(own_address())
    away: dict[str, list[str]] = {}
    for key in sorted(attempts)[:MOST_ASKED]:
        row = await store.attempt(key)
        host = here if row is None or row.runs_on is None else hosts.get(row.runs_on, here)
        if host not in {here, ""}:
            away.setdefault(host, []).append(key.step_id)
    return [f"{_names(steps)} ran on {host}: the output is kept there" for host, steps in away.items()]


async def nothing(store: Store, looker: Looker, folder: Path, streams: Collection[Stream]) -> str:
    """That nothing was printed, and where one has looked."""
    on = f" on {' or '.join(sorted(streams))}" if streams else ""
    said = f"{looker.name} has printed nothing{on}, as far as is kept in {folder}"
    for key in (await looker.look()).attempts[:MOST_ASKED]:
        row = await store.attempt(key)
        if row is not None and (row.record.loop_run is not None or row.record.child is not None):
            return f"{said}\n    hint: {INSIDE.format(key.step_id, looker.path_to(key.step_id))}"
    return said


def _host(address: str | None) -> str:
    return (address or "").partition("/")[0]


def _names(steps: list[str]) -> str:
    more = len(steps) - SOME
    return ", ".join(steps[:SOME]) + (f" and {more} more" if more > 0 else "")
