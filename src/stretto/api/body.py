"""Bodies of requests -> records; every problem of a body at once, with its path."""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar, overload

import msgspec
from litestar.exceptions import HTTPException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.types import Receive

from stretto.actions.job_templates import list_job_templates
from stretto.actions.parts.offload import CHARACTERS, offload
from stretto.api.desk import Call
from stretto.api.settings import KB, ServerSettings
from stretto.definition import Limits, parse
from stretto.definition.findings import Enough, Findings
from stretto.definition.parse import Options
from stretto.definition.reading.read import Format, Source, Unreadable
from stretto.model.errors import InvalidDefinition, InvalidRequest, TimedOut, Unavailable
from stretto.model.problem import Code, Problem, keys_in
from stretto.model.wire import codec_of
from stretto.model.workflow import Definition

T = TypeVar("T")

JSON: Final = ("application/json",)
YAML: Final = ("application/yaml", "application/x-yaml", "text/yaml")
MEDIA_TYPES: Final = {Format.JSON: JSON[0], Format.YAML: YAML[0]}  # as we write them
NOT_READ: Final = {Format.JSON: "JSON parse error", Format.YAML: "YAML parse error"}
NOT_VALID: Final = "Validation failure"  # it can be read, and lacks something


def check_media_type(given: str | None, wanted: tuple[str, ...]) -> None:
    """Refuse a body that says it is something else; `application/json; charset=utf-8` is JSON."""
    found = (given or "").partition(";")[0].strip().lower()
    is_other_json = wanted == JSON and found.startswith("application/") and found.endswith("+json")
    if found not in wanted and not is_other_json:
        raise HTTPException(
            status_code=415,
            detail=f"The content type [{found}] is not supported here; send {wanted[0]}",
            headers={"accept": ", ".join(wanted)},
        )


@overload
def read_json(tp: type[T], text: bytes, limits: Limits) -> T: ...
@overload
def read_json(tp: Any, text: bytes, limits: Limits) -> Any: ...
def read_json(tp: Any, text: bytes, limits: Limits) -> Any:
    """A record from JSON text."""
    return _record(tp, text, limits, Format.JSON)


@overload
def read_yaml(tp: type[T], text: bytes, limits: Limits) -> T: ...
@overload
def read_yaml(tp: Any, text: bytes, limits: Limits) -> Any: ...
def read_yaml(tp: Any, text: bytes, limits: Limits) -> Any:
    """A record from YAML text."""
    return _record(tp, text, limits, Format.YAML)


def _record(tp: Any, text: bytes, limits: Limits, form: Format) -> Any:
    """Its size is the server's affair, which has taken it: `limits.text` is for definitions."""
    limits = msgspec.structs.replace(limits, text_bytes=max(limits.text_bytes, len(text)))
    record, problems = _decoded(tp, text, limits, form)
    if problems:
        raise refused(problems, form, limits.problems)
    return record


def _decoded(tp: Any, text: bytes, limits: Limits, form: Format) -> tuple[Any, Sequence[Problem]]:
    """A record, or what is wrong with it. It does not raise that: an error keeps all that was read until the
    event loop has answered, which would then free a million values at once.
    """
    try:
        documents = Source(text, limits, form).documents
    except Unreadable as unreadable:
        return None, unreadable.problems[: limits.problems + 1]
    if len(documents) != 1 or documents[0] is None:
        raise InvalidRequest(f"{NOT_READ[form]}: the body holds no value, or several")
    problems = Findings(limits.problems)
    record = None
    with suppress(Enough):
        record = codec_of(tp).decode(documents[0], None, problems)
    return (None if problems else record), problems


def refused(problems: Sequence[Problem], form: Format, most: int | None = None) -> InvalidRequest:
    """A body that can not be read, or that lacks fields, as Maestro's clients hear of it. There may be more
    problems than the `most` that are told.
    """
    if most is not None and len(problems) > most:
        told = f"there are more than {most:,} problems, the others are not shown"
        problems = [*problems[:most], Problem(code=Code.TOO_MANY, path="", message=told)]
    kind = NOT_VALID if all(map(_lacks_field, problems)) else NOT_READ[form]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidRequest(f"{kind}: {problems[0]}{more}", details=[str(each) for each in problems])


def _lacks_field(problem: Problem) -> bool:
    """Maestro validates required fields after it has parsed the body. Without the `type` of a parameter, and
    without its value, it can not parse one.
    """
    if problem.code != Code.MISSING_FIELD:
        return False
    *around, last = keys_in(problem.path)
    return last != "type" and around[-1:] != ["params"]


async def read_definition(call: Call, text: bytes, form: Format) -> Definition:
    """The one definition of a body, in shape. Rules are checked by whoever publishes it."""
    templates: Mapping[str, str] = {}
    if form is Format.YAML:  # its jobs may name a template as their type
        known = await list_job_templates(call.store, call.reader)
        templates = {each.definition.job_type: each.definition.step_type for each in known}
    options = Options(form=form, limits=call.desk.limits, templates=templates)
    try:
        return await offload(len(text) // CHARACTERS, parse, text, options)
    except InvalidDefinition as invalid:
        raise refused(invalid.problems, form) from None


NODE: Final = 100  # bytes of memory for each value that is read from a body
COPIES: Final = 4  # of the text of a body, while it is read
MARKS: Final = b",:[{-"  # each may begin a value, in JSON or in YAML
SMALL: Final = 64 * KB  # memory that a request takes without waiting for others
KEY: Final = "stretto_body"  # of the scope of a request


class Bodies:
    """The bodies of all requests that are under way."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.kept = 0  # bytes that the application was handed, unpacked
        self.room = Room(settings.bodies)

    @contextmanager
    def limited(self, receive: Receive) -> Iterator["LimitedBody"]:
        """One more, until its request is answered."""
        body = LimitedBody(self, receive)
        try:
            yield body
        finally:
            self.kept -= body.kept
            body.forget()


class Room:
    """Memory for what is read from bodies. Who finds too little of it waits for those that came before.
    Small requests never wait: their sum is small, and large ones must not delay them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self.taken = 0

    async def take(self, size: int) -> int:
        """Wait for it, and say how much was taken: nobody needs more than three quarters."""
        size = min(size, self._most * 3 // 4)
        if size > SMALL and (self._waiting or not self._fits(size)):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append((size, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.cancelled():
                    with suppress(ValueError):
                        self._waiting.remove((size, turn))
                    self._admit()
                else:
                    self.give(size)
                raise
        else:
            self.taken += size
        return size

    def give(self, size: int) -> None:
        """It is free again."""
        self.taken -= size
        self._admit()

    def _fits(self, size: int) -> bool:
        return self.taken + size <= self._most

    def _admit(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            size, turn = self._waiting.popleft()
            if not turn.done():  # whoever waited may have left
                self.taken += size
                turn.set_result(None)


class LimitedBody:
    """One body. `receive` gives it as it comes, `counted` as the application keeps it."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies = bodies
        self._receive = receive
        self._seconds = bodies.settings.body_within / 1_000
        self._end = asyncio.get_running_loop().time() + self._seconds
        self._is_complete = False
        self._size = 0
        self._room = 0
        self.kept = 0

    async def receive(self) -> Any:
        """The next part. The body must have come when its time is up, however slowly it began."""
        if self._is_complete:  # now only the end of the connection can come
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message: Any = await self._receive()
        except TimeoutError:
            self._is_complete = True
            raise TimedOut(f"The body of the request did not come within {self._seconds:g} s") from None
        self._is_complete = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        if self._size > self._bodies.settings.body:
            self._is_complete = True
            raise RequestEntityTooLarge
        return message

    def counted(self, receive: Receive) -> Receive:
        """The same parts. There may be no room for them beside the bodies of other requests."""

        async def next_part() -> Any:
            message: Any = await receive()
            size = len(message.get("body", b""))
            if self._bodies.kept + size > self._bodies.settings.bodies:
                raise Unavailable(
                    "The bodies of other requests leave no room for this one now (server.bodies)"
                )
            self._bodies.kept += size
            self.kept += size
            return message

        return next_part

    async def read(self, text: bytes) -> None:
        """Wait until there is memory for what is read from the text, as much as it takes at the worst."""
        size = COPIES * len(text) + NODE * sum(map(text.count, MARKS))
        try:
            async with asyncio.timeout(self._seconds):
                self._room += await self._bodies.room.take(size)
        except TimeoutError:
            raise Unavailable(
                "The bodies of other requests leave no room to read this one now (server.bodies)"
            ) from None

    def forget(self) -> None:
        """What was read is done with."""
        size, self._room = self._room, 0
        if size:
            self._bodies.room.give(size)


async def room_for(scope: Any, text: bytes) -> None:
    """Wait until there is memory to read the body of a request."""
    body: LimitedBody = scope[KEY]
    await body.read(text)
