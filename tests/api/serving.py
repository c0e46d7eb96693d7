"""A real server in this process: a thread and event loop of its own, a node on a database in memory.

The test reaches into it: its store, its desk, its node. What must be a process of its own, because it is
killed, limited or read like a terminal, is in `tests/acceptance/serving.py`.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Final, TypeVar

import httpx
import uvloop
from tests import waiting
from tests.waiting import wait_until

from stretto.api.desk import Desk
from stretto.api.making import make_app
from stretto.api.routes import ALL
from stretto.api.server import Server, bind, url_of
from stretto.api.settings import ServerSettings
from stretto.app import App, connected, running
from stretto.config import Config
from stretto.engine.records import RunKey
from stretto.model.status import RunStatus
from stretto.ports.run_snapshot import NamedRuns
from stretto.server.state import FeedObserver, ServerState, desk_of

T = TypeVar("T")

PATIENCE: Final = waiting.PATIENCE
JSON: Final = {"content-type": "application/json"}
YAML: Final = {"content-type": "application/yaml"}


class Served:
    """A server that runs, and a client of it."""

    def __init__(
        self, url: str, loop: asyncio.AbstractEventLoop, app: App | None, desk: Desk, server: Server
    ) -> None:
        self.url = url
        self.server = server
        self._app = app
        self.desk = desk
        self._loop = loop
        self.client = httpx.Client(base_url=url, headers={"user": "ann"}, timeout=PATIENCE)

    @property
    def app(self) -> App:
        """The node beside the server, if it was served with one."""
        assert self._app is not None, "there is no node"
        return self._app

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the event loop of the server."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def stranger(self) -> httpx.Client:
        """A client that does not say who it is."""
        return httpx.Client(base_url=self.url, timeout=PATIENCE)

    # ------------------------------------------------------------------------------------------- requests
    def get(self, path: str, status: int = 200, **rest: Any) -> Any:
        return _value(self.client.get(f"/api/v3{path}", **rest), status)

    def post(self, path: str, body: Any, status: int = 200, **rest: Any) -> Any:
        return _value(self.client.post(f"/api/v3{path}", json=body, **rest), status)

    def put(self, path: str, status: int = 200, **rest: Any) -> Any:
        return _value(self.client.put(f"/api/v3{path}", **rest), status)

    def delete(self, path: str, status: int = 200, **rest: Any) -> Any:
        return _value(self.client.delete(f"/api/v3{path}", **rest), status)

    # ------------------------------------------------------------------------------------ whole workflows
    def push(self, workflow_id: str, *steps: dict[str, Any], **properties: Any) -> dict[str, Any]:
        """Publish a workflow; without steps it has one that does nothing."""
        rule = {"owner": "ann", "run_strategy": "PARALLEL", **properties}
        body = {"properties": rule, "workflow": {"id": workflow_id, "steps": list(steps) or [noop("a")]}}
        made: dict[str, Any] = self.post("/workflows", body)
        return made

    def start(self, workflow_id: str, **request: Any) -> dict[str, Any]:
        body = {"initiator": {"type": "manual"}, **request}
        made: dict[str, Any] = self.post(f"/workflows/{workflow_id}/versions/latest/actions/start", body)
        return made

    def until(self, path: str, holds: Callable[[Any], bool]) -> Any:
        """Read until it is so."""
        seen: list[httpx.Response] = []

        def so() -> bool:
            seen[:] = [self.client.get(f"/api/v3{path}")]
            return seen[0].status_code == 200 and holds(seen[0].json())

        wait_until(so, lambda: f"{path}, where {seen[0].text[:2_000]} is,")
        return seen[0].json()

    def ended(self, workflow_id: str, instance: int = 1, status: str = "SUCCEEDED") -> Any:
        """The instance, once it has ended so."""
        path = f"/workflows/{workflow_id}/instances/{instance}"
        return self.until(path, lambda found: found["status"] == status)

    def wait_for(self, run: RunKey) -> None:
        """Until a run has succeeded, however long a busy machine takes: a glance reads no document."""
        glances, this = self.app.store.glances, NamedRuns((run,))
        wait_until(lambda: self.run(glances(this)).elements[0].status is RunStatus.SUCCEEDED, patience=280.0)

    def step_is(self, workflow_id: str, step_id: str, status: str, instance: int = 1) -> Any:
        """The step, once it is so."""
        path = f"/workflows/{workflow_id}/instances/{instance}/steps/{step_id}"
        return self.until(path, lambda found: found["runtime_state"]["status"] == status)


def _value(response: httpx.Response, status: int) -> Any:
    assert response.status_code == status, f"{response.status_code}: {response.text[:2_000]}"
    if response.headers.get("content-type", "").startswith("text/") or not response.content:
        return response.text
    return response.json()


def noop(step_id: str, *successors: str) -> dict[str, Any]:
    return _step(step_id, successors, type="NoOp")


def sleep(step_id: str, seconds: int = 3_600, *successors: str) -> dict[str, Any]:
    params = {"sleep_seconds": {"value": seconds, "type": "LONG"}}
    return _step(step_id, successors, type="Sleep", params=params)


def shell(step_id: str, command: str, *successors: str) -> dict[str, Any]:
    params = {"command": {"value": command, "type": "STRING"}}
    retry = {"error_retry_limit": 0}
    return _step(step_id, successors, type="Shell", params=params, retry_policy=retry)


def _step(step_id: str, successors: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    transition = {"successors": dict.fromkeys(successors, "true")}
    return {"step": {"id": step_id, "transition": transition, **fields}}


NUMBERS = {"value": [7, 8, 9], "type": "LONG_ARRAY"}
LOOP = {
    "foreach": {
        "id": "each",
        "transition": {},
        "params": {"loop_params": {"type": "MAP", "value": {"i": NUMBERS}}},
        "steps": [noop("inner")],
    }
}


@contextmanager
def served(
    config: Config | None = None,
    settings: ServerSettings | None = None,
    url: str = "memory://",
    *,
    node: bool = True,
) -> Iterator[Served]:
    """A server from here to the end of the block. Without a node, nothing happens but what is asked for."""
    config = config or Config()
    settings = settings or ServerSettings(stop_within=1_000)
    ready: threading.Event = threading.Event()
    box: list[Any] = []

    async def main() -> None:
        stop = asyncio.Event()
        sockets = bind("127.0.0.1", 0)
        observer = FeedObserver()
        async with AsyncExitStack() as stack:
            app = await stack.enter_async_context(running(config, url, (observer,))) if node else None
            parts = await stack.enter_async_context(connected(config, url)) if app is None else app.parts
            state = ServerState(parts, observer)
            desk = desk_of(parts, config, state)
            server = Server(make_app(desk, settings, ALL), settings)
            await server.start(sockets)
            box.extend([Served(url_of(sockets), asyncio.get_running_loop(), app, desk, server), stop])
            ready.set()
            await stop.wait()
            state.stop()
            await server.stop()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(main())
        except BaseException as error:
            box.append(error)
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(PATIENCE)
    made = box[0]
    assert isinstance(made, Served), made
    try:
        yield made
    finally:
        made.client.close()
        made._loop.call_soon_threadsafe(box[1].set)
        thread.join(PATIENCE)
