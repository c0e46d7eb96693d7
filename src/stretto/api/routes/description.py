"""The API described by itself, for programs and for people."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from litestar import Response, get

from stretto.actions.parts.offload import MANY, offload
from stretto.api.openapi.document import document
from stretto.api.routing import Route
from stretto.model.wire import to_json

HTML: Final = "text/html"  # the framework adds the charset
PAGE: Final = Path(__file__).parents[1] / "openapi" / "page.html"
# Nothing from elsewhere, and nobody may put the page into a frame.
POLICY: Final = (
    "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"
)


def describing(routes: Iterable[Route]) -> tuple[Route, ...]:
    """Routes that describe these ones. The document is made when it is first asked for."""
    described = tuple(routes)

    @cache
    def text() -> bytes:
        return to_json(document(described))

    @get("/openapi.json")
    async def read_document() -> Response[bytes]:
        """The OpenAPI document of this server."""
        return Response(await offload(MANY, text), media_type="application/json")

    @get(["/docs", "/"])
    async def read_page() -> Response[str]:
        """A page that shows the document, and sends requests."""
        body = PAGE.read_text(encoding="utf-8")
        return Response(body, media_type=HTML, headers={"content-security-policy": POLICY})

    return read_document, read_page
