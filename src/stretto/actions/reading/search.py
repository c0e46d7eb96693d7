"""Whatever somebody may mean by a few characters: workflows, runs, tags, signals."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.addresses import address_in
from stretto.actions.reading.all_workflows import MOST_WORDS, workflow_lines
from stretto.actions.reading.lines import RunLine, WorkflowLine, run_line
from stretto.actions.reading.listing import Sight
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import RunPage
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowFilter, WorkflowRow

MOST: Final = 10  # of each kind
LONGEST: Final = 300
SURROGATES: Final = range(0xD800, 0xE000)
LAST: Final = "\U0010ffff"


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, ten of each kind at most."""

    workflows: tuple[WorkflowLine, ...] = ()
    runs: tuple[RunLine, ...] = ()
    tags: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()


async def search(store: Store, caller: Caller, text: str) -> Findings:
    """Workflows whose id begins so, or has all the words; the run with this address, request id or
    correlation id; tags and signals that begin so.
    """
    check_role(caller, Role.VIEWER, "search")
    wanted = text.strip()
    if not wanted or len(wanted) > LONGEST:
        raise InvalidRequest(f"There is something to look for with 1 to {LONGEST} characters")
    sight = Sight(store, caller)
    rows = await _workflows(store, sight, wanted)
    return Findings(
        workflows=tuple(await workflow_lines(store, rows)),
        runs=tuple(map(run_line, await _runs(store, sight, wanted))),
        tags=tuple(await _tags(store, wanted)),
        signals=tuple(await _beginning(store.signal_names, lambda row: row.name, wanted)),
    )


async def _workflows(store: Store, sight: Sight, text: str) -> list[WorkflowRow]:
    found: dict[str, WorkflowRow] = {}
    for wanted in (WorkflowFilter(prefix=text), WorkflowFilter(words=tuple(text.split()[:MOST_WORDS]))):
        page = await store.workflows(Cut(most=MOST), wanted)
        seen = await sight.of(row.workflow_id for row in page.elements)
        found |= {row.workflow_id: row for row in page.elements if row.workflow_id in seen | found.keys()}
    return list(found.values())[:MOST]


async def _runs(store: Store, sight: Sight, text: str) -> list[RunRow]:
    found: dict[RunKey, RunRow] = {}
    address = address_in(text)
    if address is not None:
        runs = await store.runs(RunPage(address.workflow_id, address.instance_id, Cut(most=MOST)))
        found |= _by_key(row for row in runs.elements if address.run in {"latest", str(row.key.run_id)})
    for wanted in (RunFilter(uuid=text), RunFilter(correlation_id=text)):
        found |= _by_key((await store.runs(FilteredRuns(wanted, Cut(most=MOST)))).elements)
    seen = await sight.of(key.workflow_id for key in found)
    return [row for key, row in found.items() if key.workflow_id in seen][:MOST]


def _by_key(rows: Iterable[RunRow]) -> dict[RunKey, RunRow]:
    return {row.key: row for row in rows}


async def _tags(store: Store, text: str) -> list[str]:
    """Those of workflows, and those that have a limit or are in use."""
    limited = await _beginning(store.tags, lambda use: use.tag, text)
    return sorted({*limited, *await store.workflow_tags(text, most=MOST)})[:MOST]


async def _beginning(fetch: Callable[[Cut], Any], name: Callable[[Any], str], text: str) -> list[str]:
    page = await fetch(Cut(most=MOST, above=just_before(text)))
    return [name(row) for row in page.elements if name(row).startswith(text)]


def just_before(text: str) -> str:
    """Nothing lies between this and the text, and what begins with the text comes after it."""
    code = ord(text[-1]) - 1
    return text[:-1] + chr(SURROGATES.start - 1 if code in SURROGATES else max(code, 0)) + LAST
