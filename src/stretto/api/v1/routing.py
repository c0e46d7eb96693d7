"""How the routes of `/api/v1` are written down. Nobody need say who they are; errors have the envelope."""

from collections.abc import Callable
from typing import Any, Final

from litestar import MediaType, Request, Response
from litestar import delete as litestar_delete
from litestar import get as litestar_get
from litestar import post as litestar_post
from litestar.di import Provide
from litestar.exceptions import HTTPException

from stretto.actions.parts.offload import CHARACTERS, offload
from stretto.api.body import JSON, check_media_type, read_json, room_for
from stretto.api.errors import beside, detail_of, headers_of, logger
from stretto.api.request_ids import id_of
from stretto.api.routing import ERRORS, FORM, READS, USER, Calling, Reader, Route, path_text
from stretto.api.slashes import slashed
from stretto.api.v1.shapes import V1Refusal
from stretto.definition.reading.read import Format
from stretto.model.errors import StrettoError
from stretto.model.wire import encode, to_json

PREFIX: Final = "/api/v1"
AnyRequest = Request[Any, Any, Any]


def gets(path: str) -> Callable[[Any], Route]:
    return litestar_get(path_text(PREFIX, path), **_options(None))


def posts(path: str, *, reads: Any = None) -> Callable[[Any], Route]:
    return litestar_post(path_text(PREFIX, path), status_code=200, **_options(reads))


def deletes(path: str) -> Callable[[Any], Route]:
    return litestar_delete(path_text(PREFIX, path), status_code=200, **_options(None))


def _options(tp: Any) -> dict[str, Any]:
    return {
        "dependencies": {} if tp is None else {"given": Provide(_reader(tp))},
        "exception_handlers": {StrettoError: _refused, HTTPException: not_taken, Exception: _failed},
        "opt": {READS: tp, FORM: Format.JSON, USER: False, ERRORS: V1Refusal},
    }


def _reader(tp: Any) -> Reader:
    """A body that is not there is one that says nothing."""

    async def given(request: AnyRequest, call: Calling) -> Any:
        text = await request.body()
        await room_for(request.scope, text)
        if text:
            check_media_type(request.headers.get("content-type"), JSON)
        return await offload(len(text) // CHARACTERS, read_json, tp, text or b"{}", call.desk.limits)

    return given


# ---------------------------------------------------------------------------------------------------- errors
def _refused(_request: AnyRequest, error: StrettoError) -> Response[bytes]:
    message = slashed(error.message if error.hint is None else f"{error.message} ({error.hint})")
    return _answer(V1Refusal(code=error.status, message=message, errors=error.details), beside(error))


def not_taken(_request: AnyRequest, error: HTTPException) -> Response[bytes]:
    """What the framework refuses."""
    return _answer(V1Refusal(code=error.status_code, message=detail_of(error)), headers_of(error))


def _failed(request: AnyRequest, error: Exception) -> Response[bytes]:
    request_id = id_of(request.scope)
    logger.error("request %s %s %s failed", request_id, request.method, request.url.path, exc_info=error)
    message = f"internal error; the log of the server has more, under request id [{request_id}]"
    return _answer(V1Refusal(code=500, message=message))


def _answer(refusal: V1Refusal, headers: dict[str, str] | None = None) -> Response[bytes]:
    body = to_json(encode(refusal))
    return Response(body, status_code=refusal.code, media_type=MediaType.JSON, headers=headers)
