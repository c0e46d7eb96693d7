"""Is the server alive, and should requests come here: for people, load balancers and Kubernetes."""

from typing import Any, Final

from litestar import Response, get

import stretto
from stretto.api.routing import Calling
from stretto.api.v1.words import duration
from stretto.model.wire import to_json

UP: Final = {"status": "UP"}
LIVE: Final = ("/health", "/healthz", "/actuator/health", "/actuator/health/liveness")
READY: Final = ("/ready", "/readyz", "/actuator/health/readiness")


@get(list(LIVE))
async def health(call: Calling) -> Response[bytes]:
    """It answers, so it is alive; a database that can not be reached is no reason to restart it."""
    now = call.desk.clock.now()
    uptime = duration(call.desk.since, now)
    return _answer(200, {**UP, "version": stretto.__version__, "uptime": uptime, "timestamp": now})


@get(list(READY))
async def ready(call: Calling) -> Response[bytes]:
    """200 if requests can be served; else 503, and why."""
    trouble = await call.desk.trouble()
    return (
        _answer(200, UP) if trouble is None else _answer(503, {"status": "OUT_OF_SERVICE", "reason": trouble})
    )


def _answer(status: int, body: dict[str, Any]) -> Response[bytes]:
    return Response(to_json(body), status_code=status, media_type="application/json")


ROUTES: Final = (health, ready)
