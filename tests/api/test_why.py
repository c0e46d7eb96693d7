"""Every kind of thing that can be in the way of a step or a run, as it is told over HTTP."""

import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest
from tests.api.serving import Served, noop, shell, sleep
from tests.waiting import until

from stretto.actions.reading.blockers import BlockerKind
from stretto.engine.records import RunKey
from stretto.store.memory import MemoryStore

# Longer than a decision may take; then it is evaluated in a process of its own, for a while.
LONG = (
    "long s = 0; for (int i = 0; i < 20000; i += 1) {for (int j = 0; j < 20000; j += 1) {s += j;}} return s"
)
TOLD: set[str] = set()
Test = TypeVar("Test", bound=Callable[..., None])


def tells(*kinds: str) -> Callable[[Test], Test]:
    """A test that meets these kinds."""
    TOLD.update(kinds)
    return lambda test: test


def why(server: Served, kind: str, run: str, step_id: str | None = None) -> dict[str, Any]:
    """The answer, once something of this kind is in the way."""
    path = f"/workflows/{run}/steps/{step_id}/why" if step_id else f"/workflows/{run}/why"
    found: dict[str, Any] = server.until(path, lambda why: kind in [each["kind"] for each in why["blockers"]])
    return found


def one(server: Served, kind: str, run: str, step_id: str | None = None) -> tuple[str, list[str]]:
    """The only thing that is in the way, and what can be done about it."""
    (found,) = why(server, kind, run, step_id)["blockers"]
    assert found["detail"]
    assert found["moves_when"]
    return found["ref"], found["actions"]


def begun(server: Served, workflow_id: str, *steps: dict[str, Any], **properties: Any) -> str:
    server.push(workflow_id, *steps, **properties)
    server.start(workflow_id)
    return f"{workflow_id}/instances/1"


@tells("predecessor", "timer")
def test_predecessor_and_timer(server: Served) -> None:
    run = begun(server, "why-timer", sleep("s", 3_600, "t"), noop("t"))
    server.step_is("why-timer", "s", "RUNNING")
    assert one(server, "timer", run) == ("s", [])
    assert one(server, "predecessor", run, "t") == ("s", [])
    assert re.fullmatch(r"it goes on at 2.{3}-.*T.*\+00:00", why(server, "timer", run, "s")["sentence"])
    assert why(server, "timer", run)["sentence"] == "2 steps of run [why-timer][1][1] have not ended"


@tells("condition", "evaluation")
def test_condition_and_evaluation(server: Served) -> None:
    """The first step is done, and which way to go takes long."""
    a = noop("a")
    a["step"]["transition"] = {"successors": {"b": f"{LONG} > 1;"}}
    run = begun(server, "why-condition", a, noop("b"))
    server.step_is("why-condition", "a", "FINISHING")
    assert one(server, "evaluation", run, "a") == ("a", [])
    assert one(server, "condition", run, "b") == ("a", [])
    assert {each["kind"] for each in why(server, "condition", run)["blockers"]} == {"condition", "evaluation"}
    server.put("/workflows/why-condition/actions/kill", 202)


@tells("signal")
def test_signal(server: Served) -> None:
    step = noop("w")
    step["step"]["signal_dependencies"] = [{"name": "why/late"}]
    run = begun(server, "why-signal", step)
    assert one(server, "signal", run, "w") == ("why/late", ["bypass_step_dependencies"])


@tells("permit")
def test_permit(server: Served) -> None:
    step = sleep("s")
    step["step"]["tags"] = ["why-few"]
    server.post("/tag-permits", {"tag": "why-few", "max_allowed": 0})
    run = begun(server, "why-permit", step)
    assert one(server, "permit", run) == ("why-few", ["set_tag_permit"])
    assert why(server, "permit", run)["sentence"] == "1 step of run [why-permit][1][1] has not ended"


@tells("slot", "strategy")
def test_slot_and_strategy(server: Served) -> None:
    narrow = {"rule": "PARALLEL", "workflow_concurrency": 1}
    begun(server, "why-slot", sleep("s"), run_strategy=narrow)
    server.start("why-slot")
    assert one(server, "slot", "why-slot/instances/2") == ("why-slot/1/1", ["stop"])
    begun(server, "why-strategy", sleep("s"), run_strategy="SEQUENTIAL")
    server.start("why-strategy")
    queued = one(server, "strategy", "why-strategy/instances/2")
    assert queued == ("why-strategy/1/1", ["stop"])
    server.push("why-blocked", shell("s", "exit 1"), run_strategy="STRICT_SEQUENTIAL")
    server.start("why-blocked")
    server.ended("why-blocked", 1, "FAILED")
    server.start("why-blocked")
    queued = one(server, "strategy", "why-blocked/instances/2")
    assert queued == ("why-blocked/1/1", ["restart", "unblock", "stop"])


@tells("retry")
def test_retry(server: Served) -> None:
    bad = shell("bad", "exit 3")
    backoff = {"type": "FIXED_BACKOFF", "error_retry_backoff_in_secs": 3_600}
    bad["step"]["retry_policy"] = {"error_retry_limit": 3, "backoff": backoff}
    run = begun(server, "why-retry", bad)
    server.step_is("why-retry", "bad", "USER_FAILED")
    assert one(server, "retry", run, "bad") == ("bad", [])


@tells("breakpoint")
def test_breakpoint(server: Served) -> None:
    server.push("why-held", noop("b"))
    server.post("/breakpoints", {"workflow_id": "why-held", "step_id": "b"})
    server.start("why-held")
    found = one(server, "breakpoint", "why-held/instances/1", "b")
    assert found == ("b", ["resume_step", "delete_breakpoint"])


@tells("pause")
def test_pause(server: Served) -> None:
    run = begun(server, "why-paused", sleep("s", 3_600, "t"), noop("t"))
    server.step_is("why-paused", "s", "RUNNING")
    server.put(f"/workflows/{run}/actions/pause")
    server.put(f"/workflows/{run}/steps/s/actions/skip")
    server.step_is("why-paused", "s", "SKIPPED")
    assert one(server, "pause", run, "t")[1] == ["resume"]


@tells("approval")
def test_approval(server: Served) -> None:
    run = begun(server, "why-asked", {"step": {"id": "ask", "type": "Wait"}})
    assert one(server, "approval", run, "ask") == ("ask", ["callback"])


@tells("node")
def test_node(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signals of a step are not stored, because whoever does that is busy."""
    real, go = MemoryStore.announce, threading.Event()

    async def slowly(self: MemoryStore, *given: Any, **more: Any) -> Any:
        await until(go.is_set)
        return await real(self, *given, **more)

    monkeypatch.setattr(MemoryStore, "announce", slowly)
    step = noop("tell")
    step["step"]["signal_outputs"] = [{"name": "why/told"}]
    run = begun(server, "why-node", step)
    assert one(server, "node", run, "tell") == ("tell", [])
    go.set()
    server.ended("why-node")


@tells("quarantine")
def test_quarantine(server: Served) -> None:
    run = begun(server, "why-aside", sleep("s"))
    server.step_is("why-aside", "s", "RUNNING")
    store = server.desk.store
    assert isinstance(store, MemoryStore)
    with store._db.transaction():
        row = store._db.runs[RunKey("why-aside", 1, 1)]
        store._db.runs.put(row.key, msgspec.structs.replace(row, quarantined="owners died at it"))
    assert one(server, "quarantine", run) == ("why-aside/1/1", ["release"])


@tells("function")
def test_function(server: Served) -> None:
    step = {"step": {"id": "a", "type": "Python", "params": {"function": {"type": "STRING", "value": "f"}}}}
    definition = {"properties": {"owner": "ann"}, "workflow": {"id": "why-function", "steps": [step]}}
    server.post("/workflows?allow_unknown_functions=true", definition)
    server.start("why-function")
    ref, actions = one(server, "function", "why-function/instances/1")
    assert (ref, actions) == ("f", [])


def test_nothing_else_is_told() -> None:
    """Who adds a kind adds a test."""
    assert set(BlockerKind) == TOLD
