"""What a server answers before its database does: it is alive, and not ready."""

from typing import Any, Final

from litestar.types import ASGIApp, Receive, Send

from stretto.api.door import why_not
from stretto.api.errors import PROBLEM, RETRY_AFTER, problem_body
from stretto.api.request_ids import mark
from stretto.api.routes.health import LIVE, READY, UP
from stretto.model.wire import to_json

JSON: Final = "application/json"


class Placeholder:
    """Stands in for an application until that is set. `reason`: why there is none yet."""

    def __init__(self) -> None:
        self.app: ASGIApp | None = None
        self.reason = "the server is starting"

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if self.app is not None:
            await self.app(scope, receive, send)
            return
        path, request_id = scope["path"], mark(scope).decode()
        refusal = why_not(scope["method"], scope["headers"])
        if refusal is not None:
            await _send(send, 403, PROBLEM, problem_body(403, refusal, path, request_id))
        elif path in LIVE:
            await _send(send, 200, JSON, to_json(UP))
        elif path in READY:
            await _send(send, 503, JSON, to_json({"status": "OUT_OF_SERVICE", "reason": self.reason}))
        else:
            await _send(send, 503, PROBLEM, problem_body(503, self.reason, path, request_id))


async def _send(send: Send, status: int, media_type: str, body: bytes) -> None:
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode())]
    if status == 503:
        headers += [(name.encode(), value.encode()) for name, value in RETRY_AFTER.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
