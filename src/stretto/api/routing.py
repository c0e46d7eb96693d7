"""How routes are written down: paths with `{name}`, what a body is, answers with 200.

@posts("/workflows/{workflow_id}/versions/{version}/actions/start", reads=StartRequest)
async def start_run(call: Calling, workflow_id: str, given: Given[StartRequest]) -> StartResponse:
    ...

A word where other routes have a name is written `{=yaml}`. The framework does not look back: a plain word
would hide everything that is called so.
"""

import re
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
from litestar import HttpMethod, Request
from litestar import delete as litestar_delete
from litestar import get as litestar_get
from litestar import post as litestar_post
from litestar import put as litestar_put
from litestar import route as litestar_route
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotFoundException
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.params import FromPath, FromQuery, PathParameter, QueryParameter, SkipValidation
from litestar.types import Guard

from stretto.actions.caller import Caller
from stretto.actions.parts.offload import CHARACTERS, offload
from stretto.actions.parts.once import once
from stretto.actions.preview import Preview, preview
from stretto.api.body import JSON, YAML, check_media_type, read_definition, read_json, read_yaml, room_for
from stretto.api.desk import Call
from stretto.definition.reading.read import Format
from stretto.model.errors import InvalidRequest
from stretto.model.request import PageRequest
from stretto.model.response import StartResponse, StepRestartResponse
from stretto.model.suggest import did_you_mean
from stretto.model.words import Word
from stretto.model.workflow import Definition
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store

E = TypeVar("E", bound=StrEnum)
W = TypeVar("W", bound=Word)


def word_in(tp: type[E], text: str, name: str) -> E:
    """The word of a closed set, in any case; `InvalidRequest` names the parameter and what it takes."""
    wanted = text.strip().casefold()
    found = next((word for word in tp if word.value.casefold() == wanted), None)
    if found is None:
        known = [word.value for word in tp]
        hint = did_you_mean(text, known) or f"one of {', '.join(known)}"
        raise InvalidRequest(f"Invalid {name} [{text[:80]}]", hint=hint)
    return found


def words_in(tp: type[W], text: str | None, name: str) -> tuple[W, ...]:
    """Several of them; nothing, if the parameter is not there."""
    return tuple(word_in(tp, each, name) for each in (text or "").split(",") if each.strip())


Answered = TypeVar("Answered")
Started = TypeVar("Started", bound=StartResponse | StepRestartResponse)

LONGEST_REASON: Final = 1_000  # characters
LONGEST_ID: Final = 200

Work = Callable[[Store, Caller, Hints], Awaitable[Answered]]


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
    call: Call, asking: Asking, action: str, work: Work[Answered], repeats: Any = None
) -> Answered | Preview:
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


T = TypeVar("T")

PREFIX: Final = "/api/v3"
MOST: Final = 2**63 - 1
SOME: Final = 50  # elements of a list, where nobody says how many
# For the description of the API: what a route reads, how that is written, whether a user must be named, and
# what it answers with, if that is no record.
READS: Final = "reads"
FORM: Final = "form"
USER: Final = "user"
PAGE: Final = "page"  # the parameter of a list that wants to hear how many
ERRORS: Final = "errors"  # the type of refusals, where it is not that of the rest
MEDIA: Final = "media"
_NAME: Final = re.compile(r"\{(\w+)\}")
_WORD: Final = re.compile(r"\{=(\w+)\}")
DRY_RUN: Final = "dry_run"
TAKES_IT: Final = frozenset({"asking", DRY_RUN})  # a route with one of these parameters
HARMLESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_MARK: Final = "word_"  # before the name that the framework has for such a word
_MARKED: Final = re.compile(rf"\{{{_MARK}(\w+):str\}}")

Route = HTTPRouteHandler
Calling = NamedDependency[SkipValidation[Call]]
Given = NamedDependency[SkipValidation[T]]
Paging = NamedDependency[SkipValidation[PageRequest]]
Asks = NamedDependency[SkipValidation[Asking]]
Name = FromPath[str]
Flag = FromQuery[bool]
OptionalFlag = FromQuery[bool | None]
Text = FromQuery[str]
OptionalText = FromQuery[str | None]
OptionalNumber = Annotated[int | None, QueryParameter(ge=0, le=MOST)]
Number = Annotated[int, PathParameter(ge=0, le=MOST)]  # of an instance, a run, an attempt
Connection = ASGIConnection[Any, Any, Any, Any]
Reader = Callable[[Request[Any, Any, Any], Call], Awaitable[Any]]


def _get_page(
    first: Annotated[int | None, QueryParameter(ge=-MOST, le=MOST)] = None,
    last: Annotated[int | None, QueryParameter(ge=-MOST, le=MOST)] = None,
    cursor: OptionalText = None,
) -> PageRequest:
    return PageRequest(first=first, last=last, cursor=cursor)


def _get_list(
    first: Annotated[int | None, QueryParameter(ge=-MOST, le=MOST)] = None,
    last: Annotated[int | None, QueryParameter(ge=-MOST, le=MOST)] = None,
    cursor: OptionalText = None,
) -> PageRequest:
    """As a page, for lists that Maestro does not have: who does not say how many gets some."""
    return PageRequest(first=SOME if first is None and last is None else first, last=last, cursor=cursor)


def _get_asking(dry_run: Flag = False, reason: Text = "", request_id: OptionalText = None) -> Asking:
    return asking_of(dry_run=dry_run, reason=reason, request_id=request_id)


PROVIDED: Final = {
    "asking": Provide(_get_asking, sync_to_thread=False),
    PAGE: Provide(_get_page, sync_to_thread=False),
    "part": Provide(_get_list, sync_to_thread=False),
}


def gets(path: str, *, reads: Any = None, media: tuple[str, ...] = ()) -> Callable[[Any], Route]:
    """`media`: the types of an answer that the route writes by itself."""
    made = _reading(reads, Format.JSON, user=False)
    return litestar_get(_path(path), **{**made, "opt": {**made["opt"], MEDIA: media}})


def posts(
    path: str | list[str], *, reads: Any = None, form: Format = Format.JSON, user: bool = True
) -> Callable[[Any], Route]:
    made = _reading(reads, form, user=user)
    return litestar_post(_path(path), status_code=200, guards=_guards(path), **made)


def puts(path: str, *, reads: Any, user: bool = True) -> Callable[[Any], Route]:
    return litestar_put(_path(path), status_code=200, **_reading(reads, Format.JSON, user=user))


def acts(
    path: str, *, reads: Any = None, form: Format = Format.JSON, status: int = 200
) -> Callable[[Any], Route]:
    """An action: Maestro has some by PUT and some by POST, and people mix them up. Here it is the same."""
    methods = [HttpMethod.PUT, HttpMethod.POST]
    made = _reading(reads, form, user=True)
    return litestar_route(_path(path), http_method=methods, status_code=status, guards=_guards(path), **made)


def deletes(path: str | list[str], *, user: bool = True) -> Callable[[Any], Route]:
    return litestar_delete(_path(path), status_code=200, **_reading(None, Format.JSON, user=user))


def named(route: Callable[..., Any], name: str, does: str) -> Callable[..., Any]:
    """A route that was made for one of several alike, with the name and the text of its own."""
    route.__name__ = route.__qualname__ = name
    route.__doc__ = does
    return route


def _path(path: str | list[str]) -> list[str]:
    """Everything in a path is text for the framework: what is no number is then refused by its name."""
    paths = [path] if isinstance(path, str) else path
    return [path_text(PREFIX, each) for each in paths]


def path_text(prefix: str, path: str) -> str:
    """A path as the framework writes it."""
    return prefix + _NAME.sub(r"{\1:str}", _WORD.sub(rf"{{{_MARK}\1}}", path))


def shown_path(path: str) -> str:
    """A path of the framework as people write it."""
    return _MARKED.sub(r"\1", path).replace(":str}", "}")


def _guards(path: str | list[str]) -> list[Guard]:
    return [_check_words] if any(map(_WORD.search, [path] if isinstance(path, str) else path)) else []


def _check_words(connection: Connection, _handler: BaseRouteHandler) -> None:
    """What stands where a word should be must be that word."""
    for name, found in connection.path_params.items():
        if name.startswith(_MARK) and found != name.removeprefix(_MARK):
            raise NotFoundException


def check_dry_run(connection: Connection, handler: BaseRouteHandler) -> None:
    """Who only wants to look must not be the cause of anything."""
    if b"dry_run" not in connection.scope["query_string"] or connection.scope.get("method") in HARMLESS:
        return
    asked = connection.query_params.get(DRY_RUN)
    if asked is not None and not TAKES_IT & handler.parsed_fn_signature.parameters.keys():
        hint = "nothing was done; leave `dry_run` out to have it done"
        raise InvalidRequest("What this request would do can not be tried", hint=hint)


def _reading(tp: Any, form: Format, *, user: bool) -> dict[str, Any]:
    """How a route gets its page, and its body, if it takes one."""
    provided = dict(PROVIDED)
    if tp is not None:
        provided["given"] = Provide(_reader(tp, form))
    return {"dependencies": provided, "opt": {READS: tp, FORM: form, USER: user}}


def _reader(tp: Any, form: Format) -> Reader:
    wanted = JSON if form is Format.JSON else YAML
    read = read_json if form is Format.JSON else read_yaml

    async def given(request: Request[Any, Any, Any], call: Calling) -> Any:
        check_media_type(request.headers.get("content-type"), wanted)
        text = await request.body()
        await room_for(request.scope, text)
        if tp is Definition:
            return await read_definition(call, text, form)
        return await offload(len(text) // CHARACTERS, read, tp, text, call.desk.limits)

    return given
