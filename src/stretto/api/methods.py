"""HEAD and OPTIONS, for every path."""

from typing import Any, Final

from litestar import Litestar
from litestar.types import Message, Receive, Send

ENDLESS: Final = "/events"  # a stream has no end, and a HEAD of it would have none either
ALLOW: Final = b"allow"


class Methods:
    """Around the routes: HEAD is GET without the body, which the server leaves out, and `Allow` says all that
    a path takes. The framework says of several routes on one path only what the first one is.
    """

    def __init__(self, app: Litestar) -> None:
        self._app = app
        self._allowed = {route.path: set(getattr(route, "methods", ())) for route in app.routes}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        asked = scope["method"]
        if asked == "HEAD" and not scope["path"].endswith(ENDLESS):
            scope = {**scope, "method": "GET"}

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = self._allowed.get(scope.get("path_template", "")) if asked == "OPTIONS" else None
                message["headers"] = [
                    (name, _all(value, known) if name.lower() == ALLOW else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        await self._app(scope, receive, answer)


def _all(value: bytes, known: set[str] | None) -> bytes:
    names = {each.strip() for each in value.decode().split(",")} | (known or set())
    if "GET" in names:
        names.add("HEAD")
    return ", ".join(sorted(names)).encode()
