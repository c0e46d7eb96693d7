"""The application: routes, what they are given, and what becomes of errors."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from litestar import Litestar, Request, Response
from litestar.config.compression import CompressionConfig
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from stretto.api.answers import Wire
from stretto.api.desk import Call, Desk
from stretto.api.door import STOPPING, Door, Methods
from stretto.api.encodings import PartedCompression
from stretto.api.errors import on_fault, on_problem, on_refusal
from stretto.api.queries import check_query
from stretto.api.routing import check_dry_run
from stretto.api.settings import ServerSettings
from stretto.api.v1.routing import PREFIX, not_taken
from stretto.model.errors import InvalidRequest, StrettoError, Unavailable

USER = "user"  # the header
UNCOMPRESSED = ["/events$", "/content$"]  # what must not wait, and what has numbered bytes


def make_app(desk: Desk, settings: ServerSettings, routes: Sequence[HTTPRouteHandler]) -> ASGIApp:
    """The routes behind the door."""

    def call(request: Request[Any, Any, Any]) -> Call:
        if "\0" in request.scope["path"] or b"%00" in request.scope["query_string"]:
            raise InvalidRequest("There is a NUL character in the address", hint="no name has one")
        name = request.headers.get(USER, "").strip()
        return Call(desk, name or None, request.scope["path"], partial(_gone, request))

    def fault(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
        """Parts that requests rely on end one after the other when the server stops."""
        return on_refusal(request, Unavailable(STOPPING)) if desk.stopping() else on_fault(request, error)

    app = Litestar(
        list(routes),
        dependencies={"call": Provide(call, sync_to_thread=False)},
        exception_handlers={StrettoError: on_refusal, HTTPException: _problem, Exception: fault},
        guards=[check_dry_run, check_query],
        response_class=Wire,
        request_max_body_size=settings.body,
        compression_config=CompressionConfig(
            backend="gzip",
            minimum_size=settings.compress_from,
            gzip_compress_level=4,
            exclude=UNCOMPRESSED,
            middleware_class=PartedCompression,
        ),
        openapi_config=None,
        logging_config=None,
    )
    return Door(Methods(app), settings, desk.clock, desk.feed)


def _problem(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """What has come to no route has the form of the surface that it was meant for."""
    is_v1 = request.url.path.startswith(f"{PREFIX}/")
    return not_taken(request, error) if is_v1 else on_problem(request, error)


async def _gone(request: Request[Any, Any, Any]) -> None:
    """Behind the body nothing comes but the end of the connection."""
    await request.receive()
