"""Which runs a list may be asked for: each filter has an index, or goes with one that has."""

from typing import Final, get_args

from stretto.actions.caller import Caller
from stretto.actions.parts.addresses import HINT, address_in
from stretto.actions.parts.finding import find_run
from stretto.actions.reading.nesting import resolve_path
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.initiator import Initiator
from stretto.model.suggest import did_you_mean
from stretto.model.words import Word
from stretto.ports.history import Above, RunFilter
from stretto.ports.store import Store

INITIATORS: Final = tuple(each.__struct_config__.tag for each in get_args(Initiator))


class RunSort(Word):
    """The orders that a list of runs can have: those of its indexes."""

    NEWEST = "-create_time"
    OLDEST = "create_time"


def sort_in(text: str | None) -> RunSort:
    """The order that a text names; `InvalidRequest` says why there is no other."""
    if text is None:
        return RunSort.NEWEST
    try:
        return RunSort(text)
    except ValueError:
        known = " or ".join(RunSort)
        reason = f"use {known}: a page is read along an index, and no other order has one"
        raise InvalidRequest(f"Invalid sort [{text[:80]}]", hint=reason) from None


def initiator_in(text: str | None) -> str | None:
    """The type of an initiator, in any case."""
    if text is None or text.upper() in INITIATORS:
        return text and text.upper()
    hint = did_you_mean(text.upper(), INITIATORS) or f"one of {', '.join(INITIATORS)}"
    raise InvalidRequest(f"Invalid initiator [{text[:80]}]", hint=hint)


async def above_in(store: Store, caller: Caller, text: str | None) -> Above | None:
    """The run, step or attempt that a text names: `etl/12/2`, `etl/12/2:load`, `etl/12:load[41].copy/3`."""
    if text is None:
        return None
    address = address_in(text)
    if address is None:
        raise InvalidRequest(f"Invalid parent [{text[:80]}]", hint=HINT)
    where = address.workflow_id, address.instance_id, address.run
    if address.path is None:
        return Above(run=(await find_run(store, *where)).key)
    found = await resolve_path(store, caller, *where, address.path)
    return Above(
        run=RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id),
        step_id=found.step_id,
        attempt=None if address.attempt == "latest" else int(address.attempt),
    )


def check_indexed(wanted: RunFilter) -> None:
    """Refuses what would be looked for in all runs that there ever were."""
    if wanted.version_id is not None and wanted.workflow_id is None:
        raise InvalidRequest("A version is one of a workflow", hint="name the workflow, too")
    if wanted.initiator is not None and wanted.since is None and not _is_narrow(wanted):
        raise InvalidRequest(
            "There is no index of initiators alone",
            hint="say since when, or name a workflow, owner, tag, correlation_id or parent, too",
        )


def is_led(wanted: RunFilter) -> bool:
    """Whether one of the filters has an index of its own that keeps the order."""
    return bool(wanted.statuses) or _is_narrow(wanted)


def _is_narrow(wanted: RunFilter) -> bool:
    named = (wanted.workflow_id, wanted.owner, wanted.tag, wanted.correlation_id, wanted.uuid, wanted.parent)
    return any(each is not None for each in named)
