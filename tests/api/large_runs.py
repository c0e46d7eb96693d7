"""Runs of many steps and iterations behind a real server, and what a request costs its event loop: counted in
calls, not in seconds.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import msgspec
import pytest
from tests.api.serving import Served, noop

from stretto.api.routes import ALL
from stretto.api.routing import shown_path
from stretto.engine.plan import Plan
from stretto.engine.records import RunKey
from stretto.model.wire import convert as slices
from stretto.model.wire import to_json

STEPS: Final = 5_000
ITERATIONS: Final = 50_000
BIG: Final = "big"
LOOP: Final = "loop"


class Cost(msgspec.Struct):
    """What one request came to.

    plans   How many were built.
    slices  How often something went on in the event loop.
    most    Calls of functions that one of them made, before others had their turn.
    json    Bytes of the largest JSON text that one call of the encoder wrote.
    """

    plans: int = 0
    slices: int = 0
    most: int = 0
    json: int = 0


class Meter:
    """Counts what happens in the thread of an event loop from one turn to the next."""

    def __init__(self) -> None:
        self.cost = Cost()
        self._calls = 0

    def note(self, frame: FrameType, event: str, _argument: Any) -> None:
        """What the loop itself calls begins a slice: only the runner of the loop is below it."""
        if event == "call" and frame.f_back is not None and frame.f_back.f_code.co_name == "run":
            self.cost.slices += 1
            self._calls = 0
        if event in {"call", "c_call"}:
            self._calls += 1
            self.cost.most = max(self.cost.most, self._calls)


@contextmanager
def measured(server: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cost]:
    """What the requests in the block cost."""
    meter = Meter()
    plan = Plan.__init__

    def build(self: Plan, *args: Any, **named: Any) -> None:
        meter.cost.plans += 1
        plan(self, *args, **named)

    def write(value: Any) -> bytes:
        text = to_json(value)
        meter.cost.json = max(meter.cost.json, len(text))
        return text

    async def profile(function: Any) -> None:
        sys.setprofile(function)

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "__init__", build)
        patched.setattr(slices, "to_json", write)
        server.run(profile(meter.note))
        try:
            yield meter.cost
        finally:
            server.run(profile(None))


def fill(server: Served, steps: int = STEPS, iterations: int = ITERATIONS) -> str:
    """A run of many steps, in two versions, and one of a loop; returns the inline workflow of the loop."""
    chain = [noop(f"s{place}", *([f"s{place + 1}"] if place + 1 < steps else [])) for place in range(steps)]
    for each in chain:
        each["step"]["params"] = {"x": {"type": "STRING", "value": "a text"}}
    server.push(BIG, *chain)
    server.push(BIG, *chain[:-1], noop(f"s{steps - 1}"))
    server.start(BIG)
    numbers = {"type": "LONG_ARRAY", "value": list(range(iterations))}
    loop = {
        "id": "each",
        "transition": {},
        "params": {"loop_params": {"type": "MAP", "value": {"i": numbers}}},
        "steps": [noop("inner")],
    }
    server.push(LOOP, {"foreach": loop})
    server.start(LOOP)
    for workflow in (BIG, LOOP):
        server.wait_for(RunKey(workflow, 1, 1))
    inside = server.get(f"/workflows/{LOOP}/instances/1/runs/1/resolve", params={"path": "each[7]"})
    return str(inside["workflow_id"])


def get_paths() -> list[str]:
    """The path of every GET that the server has."""
    return sorted({shown_path(path) for route in ALL if "GET" in route.http_methods for path in route.paths})
