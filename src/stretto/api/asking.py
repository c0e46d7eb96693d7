"""What somebody says beside the action that they ask for: why, whether only to look, and under which id."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.once import once
from stretto.actions.preview import Preview, preview
from stretto.api.desk import Call
from stretto.api.words import words_in
from stretto.model.errors import InvalidRequest
from stretto.model.response import StartResponse, StepRestartResponse
from stretto.model.words import Word
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store

T = TypeVar("T")
Started = TypeVar("Started", bound=StartResponse | StepRestartResponse)

LONGEST_REASON: Final = 1_000  # characters
LONGEST_ID: Final = 200

Work = Callable[[Store, Caller, Hints], Awaitable[T]]


class StartExtra(Word):
    """What a start or restart answers with beyond Maestro's fields, if the request asks for it."""

    QUEUED = "queued"


class Asking(NamedTuple):
    """How an action is asked for."""

    dry_run: bool
    reason: str
    request_id: str | None


def asking_of(*, dry_run: bool, reason: str, request_id: str | None) -> Asking:
    """What a query says, within bounds."""
    why = checked_text("reason", reason, LONGEST_REASON)
    return Asking(dry_run, why, checked_text("request_id", request_id or "", LONGEST_ID) or None)


def checked_text(name: str, text: str, most: int) -> str:
    """A text that people are shown, without what stands around it."""
    if len(text) > most or not text.isprintable():
        hint = f"at most {most:,} printable characters on one line"
        raise InvalidRequest(f"Invalid {name} [{text[:80]!r}]", hint=hint)
    return text.strip()


async def carried_out(
    call: Call, asking: Asking, action: str, work: Work[T], repeats: Any = None
) -> T | Preview:
    """What an action answers; or, of a dry run, what it would do. `repeats` is the type of the answer, which
    is given again to who comes again with the same id; None: the action knows its requests by itself.
    """
    caller = msgspec.structs.replace(call.caller, reason=asking.reason)
    if asking.dry_run:
        return await preview(call.store, action, lambda store: work(store, caller, SILENT))
    if asking.request_id is None or repeats is None:
        return await work(call.store, caller, call.hints)
    who = (caller.name, call.path, asking.request_id)
    return await once(call.store, who, repeats, lambda: work(call.store, caller, call.hints), call.desk.clock)


def start_extras(include: str | None) -> tuple[StartExtra, ...]:
    """What the query parameter `include` of a start names."""
    return words_in(StartExtra, include, "include")


def with_extras(done: Started, extras: tuple[StartExtra, ...]) -> Started:
    """The answer to a start, without what the request has not asked for."""
    return done if StartExtra.QUEUED in extras else msgspec.structs.replace(done, queued=None)
