"""Dry runs say what an action would do, and write nothing: all rows are the same before and after."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.api.serving import LOOP, Served, noop, served, shell, sleep
from tests.waiting import wait_until

from stretto.actions.parts.dry_store import DryStore
from stretto.model.errors import Internal

DRY = {"dry_run": "true"}
MANUAL = {"initiator": {"type": "manual"}}
AGAIN = {"restart_policy": "RESTART_FROM_INCOMPLETE"}
MOST_TRIES = 10
ALIVE = {"beat", "node", "flow_group"}  # which a node writes by itself


class Kept(Served):
    """A server on a file that can be looked into."""

    file: Path

    def rows(self) -> dict[str, list[Any]]:
        with closing(sqlite3.connect(self.file)) as database:
            names = [
                name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            return {
                name: sorted(map(repr, database.execute(f"SELECT * FROM {name}")))  # noqa: S608
                for name in names
                if name not in ALIVE
            }

    def dry(self, method: str, path: str, body: Any = None, status: int = 200, **more: str) -> Any:
        """The answer to a dry run, which has changed nothing. A node that is still busy with something else
        may have: then it is asked again, and what it writes itself would be written each time.
        """

        def unchanged() -> list[Any] | None:
            before = self.rows()
            response = self.client.request(method, f"/api/v3{path}", json=body, params={**DRY, **more})
            assert response.status_code == status, response.text
            return [response.json()] if self.rows() == before else None

        (found,) = wait_until(unchanged, "a dry run that writes nothing")
        assert status >= 400 or found["dry_run"] is True
        return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    file = tmp_path_factory.mktemp("dry") / "work.db"
    with served(url=f"sqlite:///{file}") as made:
        made.__class__ = Kept
        assert isinstance(made, Kept)
        made.file = file
        yield made


def ref(workflow_id: str, instance: int, run: int = 1) -> dict[str, Any]:
    return {"workflow_id": workflow_id, "workflow_instance_id": instance, "workflow_run_id": run}


def blocked(kept: Kept, name: str) -> None:
    """Two runs of a strict queue: the first has failed, the second waits."""
    kept.push(name, shell("s", "exit 1"), run_strategy="STRICT_SEQUENTIAL")
    kept.start(name)
    kept.ended(name, 1, "FAILED")
    kept.start(name)


# --------------------------------------------------------------------------------------------------- start
def start(kept: Kept, name: str, body: Any = None, status: int = 200) -> Any:
    path = f"/workflows/{name}/versions/latest/actions/start"
    return kept.dry("POST", path, {**MANUAL, **(body or {})}, status)


def test_a_start(kept: Kept) -> None:
    params = {"n": {"type": "LONG", "value": 2}, "m": {"type": "LONG", "expression": "return n * 3;"}}
    workflow = {"id": "fresh", "params": params, "steps": [noop("a", "b"), sleep("b")]}
    kept.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    found = start(kept, "fresh", {"run_params": {"n": {"type": "LONG", "value": 5}}})
    assert (found["action"], found["status"], found["begins"]) == ("START", "CREATED", True)
    assert found["run"] == ref("fresh", 1)
    assert found["params"]["m"]["evaluated_result"] == 15
    assert found["steps"] == ["a", "b"]
    assert found["strategy"]["rule"] == "SEQUENTIAL"
    assert "below" not in found
    kept.start("fresh", request_id="seen")
    kept.step_is("fresh", "b", "RUNNING")
    queued = start(kept, "fresh")
    assert (queued["begins"], queued["run"]) == (False, ref("fresh", 2))
    known = start(kept, "fresh", {"request_id": "seen"})
    assert (known["status"], known["run"]) == ("DUPLICATED", ref("fresh", 1))
    assert not {"params", "steps", "strategy", "begins"} & known.keys()
    wrong = start(kept, "fresh", {"run_params": {"m": {"type": "MAP", "value": {}}}}, 400)
    assert "[m]" in wrong["message"]
    start(kept, "nobody", status=404)


def test_a_start_that_replaces_others(kept: Kept) -> None:
    kept.push("last", sleep("s"), run_strategy="LAST_ONLY")
    kept.start("last")
    kept.step_is("last", "s", "RUNNING")
    found = start(kept, "last")
    assert found["asked"] == {"count": 1, "runs": [ref("last", 1)]}
    assert found["below"] == {"steps": 1, "runs": 0, "exact": True}
    kept.push("newest", sleep("s"), run_strategy="SERIAL_LATEST_ONLY")
    kept.start("newest")
    kept.start("newest")
    assert start(kept, "newest")["ended"] == {"count": 1, "runs": [ref("newest", 2)]}
    kept.push("first", sleep("s"), run_strategy="FIRST_ONLY")
    kept.start("first")
    assert start(kept, "first")["status"] == "STOPPED"


# ---------------------------------------------------------------------------------------------------- ends
@pytest.mark.parametrize("verb", ["stop", "kill"])
def test_an_end(kept: Kept, verb: str) -> None:
    """With what stands below: runs that steps wait for, also inside of loops; not those that nobody does."""
    kept.push("leaf", sleep("l"))
    child = {
        "subworkflow_id": {"value": "leaf", "type": "STRING"},
        "subworkflow_version": {"value": "latest", "type": "STRING"},
    }
    each = {"foreach": {**LOOP["foreach"], "steps": [{"subworkflow": {"id": "deep", "params": child}}]}}
    alone = {"subworkflow": {"id": "alone", "sync": False, "params": child, "transition": {}}}
    name = f"tree-{verb}"
    kept.push(name, {"subworkflow": {"id": "sub", "transition": {}, "params": child}}, each, alone)
    made = kept.start(name)["workflow_instance_id"]
    kept.until(
        f"/instances?workflow=leaf&status=IN_PROGRESS&correlation_id={name}:1:1&first=9",
        lambda page: sum(each["counts"].get("RUNNING", 0) for each in page["elements"]) == 5,
    )
    for path in (f"/instances/{made}", f"/instances/{made}/runs/1"):
        found = kept.dry("PUT", f"/workflows/{name}{path}/actions/{verb}")
        assert (found["action"], found["run"]) == (verb.upper(), ref(name, 1))
        assert found["asked"]["runs"] == [ref(name, 1)]
        assert found["below"]["runs"] == 4
        assert found["below"]["exact"] is True
    leaf = kept.get(f"/instances?workflow=leaf&correlation_id={name}:1:1&first=1")["elements"][0]
    below = kept.dry("PUT", f"/workflows/leaf/instances/{leaf['workflow_instance_id']}/actions/{verb}")
    assert below["below"] == {"steps": 1, "runs": 0, "exact": True}
    kept.put(f"/workflows/{name}/actions/kill", 202)
    kept.put("/workflows/leaf/actions/kill", 202)
    kept.ended(name, 1, "FAILED")
    kept.dry("PUT", f"/workflows/{name}/instances/1/actions/stop", status=400)


def test_the_end_of_all_runs(kept: Kept) -> None:
    kept.push("crowded", sleep("s"), run_strategy="SEQUENTIAL")
    for _ in range(24):
        kept.start("crowded")
    kept.step_is("crowded", "s", "RUNNING")
    found = kept.dry("PUT", "/workflows/crowded/actions/stop", status=202)
    assert (found["ended"]["count"], found["asked"]["count"]) == (23, 1)
    assert "[23] queued" in found["message"]
    assert "run" not in found
    assert kept.dry("PUT", "/workflows/crowded/actions/kill", status=202)["action"] == "KILL"
    one = kept.dry("PUT", "/workflows/crowded/instances/5/actions/stop")
    assert one["ended"]["runs"] == [ref("crowded", 5)]
    kept.put("/workflows/crowded/actions/kill", 202)


# ------------------------------------------------------------------------------------------- restart, skip
def test_a_restart(kept: Kept) -> None:
    kept.push("again", noop("a", "b"), shell("b", "exit 1", "c"), noop("c"))
    kept.start("again")
    kept.ended("again", 1, "FAILED")
    found = kept.dry("POST", "/workflows/again/instances/1/actions/restart", AGAIN)
    assert (found["action"], found["run"], found["steps"]) == ("RESTART", ref("again", 1, 2), ["b", "c"])
    assert found["begins"] is True
    step = kept.dry("POST", "/workflows/again/instances/1/steps/c/actions/restart", AGAIN, 400)
    assert "c" in step["message"]
    step = kept.dry("POST", "/workflows/again/instances/1/steps/b/actions/restart", AGAIN)
    assert step["run"] == ref("again", 1, 2)
    skip = kept.dry("PUT", "/workflows/again/instances/1/steps/b/actions/skip")
    assert (skip["action"], skip["steps"]) == ("SKIP", ["b", "c"])


def test_a_restart_of_a_restart(kept: Kept) -> None:
    """What earlier runs have done is read, too."""
    kept.push("thrice", noop("a", "b"), shell("b", "exit 1", "c"), noop("c"))
    kept.start("thrice")
    kept.ended("thrice", 1, "FAILED")
    path = "/workflows/thrice/instances/1"
    for run in (2, 3):
        kept.post(f"{path}/actions/restart", AGAIN)
        kept.until(f"{path}/runs/{run}", lambda found: found["status"] == "FAILED")
    found = kept.dry("POST", f"{path}/actions/restart", AGAIN)
    assert (found["run"], found["steps"]) == (ref("thrice", 1, 4), ["b", "c"])
    assert kept.dry("PUT", f"{path}/steps/b/actions/skip")["run"] == ref("thrice", 1, 4)


def test_a_restart_inside_of_a_loop(kept: Kept) -> None:
    """It begins with the run around the loop."""
    inner = {"foreach": {**LOOP["foreach"], "steps": [shell("inner", "exit 1")]}}
    kept.push("looped", inner)
    kept.start("looped")
    kept.ended("looped", 1, "FAILED")
    base = "/workflows/looped/instances/1/runs/latest/resolve"
    at = kept.get(base, params={"path": "each[2].inner"})
    path = f"/workflows/{at['workflow_id']}/instances/{at['workflow_instance_id']}"
    found = kept.dry("POST", f"{path}/actions/restart", AGAIN)
    assert (found["run"], found["steps"]) == (ref("looped", 1, 2), ["each"])
    found = kept.dry("POST", f"{path}/steps/inner/actions/restart", AGAIN)
    assert found["run"] == ref("looped", 1, 2)


def test_what_is_asked_of_a_step(kept: Kept) -> None:
    kept.push("stepwise", sleep("s"), shell("t", "exit 1"))
    kept.start("stepwise")
    kept.step_is("stepwise", "s", "RUNNING")
    kept.step_is("stepwise", "t", "FATALLY_FAILED")
    base = "/workflows/stepwise/instances/1/steps"
    for verb in ("stop", "kill", "skip"):
        found = kept.dry("PUT", f"{base}/s/actions/{verb}")
        assert found["action"] == verb.upper()
        assert found["step"] == {**ref("stepwise", 1), "step_id": "s", "step_attempt_id": 1}
        assert found["asked"]["count"] == 1
    restart = kept.dry("POST", f"{base}/t/actions/restart", AGAIN)
    assert restart["step"]["step_id"] == "t"
    assert kept.dry("PUT", f"{base}/s/actions/bypass", status=400)["status"] == "BAD_REQUEST"
    kept.put("/workflows/stepwise/actions/kill", 202)


# --------------------------------------------------------------------------------------- unblock and delete
def test_a_queue_goes_on(kept: Kept) -> None:
    blocked(kept, "strict")
    found = kept.dry("PUT", "/workflows/strict/instances/1/actions/unblock")
    assert (found["action"], found["admitted"]["runs"]) == ("UNBLOCK", [ref("strict", 2)])
    found = kept.dry("PUT", "/workflows/strict/actions/unblock")
    assert found["admitted"]["count"] == 1
    kept.dry("PUT", "/workflows/strict/instances/2/actions/unblock", status=400)
    kept.dry("DELETE", "/workflows/strict", status=400)
    kept.put("/workflows/strict/actions/kill", 202)


def test_a_deletion(kept: Kept) -> None:
    kept.push("doomed")
    found = kept.dry("DELETE", "/workflows/doomed")
    assert found["action"] == "DELETE"
    assert "deletes workflow [doomed]" in found["message"]
    kept.get("/workflows/doomed/overview")
    kept.dry("DELETE", "/workflows/nobody", status=404)


def test_nothing_else_can_be_called(kept: Kept) -> None:
    with pytest.raises(Internal, match="can not call"):
        _ = DryStore(kept.desk.store).store.put_template


# --------------------------------------------------------------------------------------------------- reason
def lines(kept: Kept, path: str) -> str:
    found = kept.get(path)
    return " | ".join(str(event.get("message")) for event in found["timeline"])


def test_reasons_are_on_the_timeline(kept: Kept) -> None:
    kept.push("told", sleep("s"))
    path = "/workflows/told/instances/1"
    kept.post("/workflows/told/versions/1/actions/start", MANUAL, params={"reason": "because I can"})
    kept.step_is("told", "s", "RUNNING")
    assert "[ann]: because I can" in lines(kept, path)
    kept.put(f"{path}/steps/s/actions/kill", params={"reason": "it hangs"})
    kept.ended("told", 1, "FAILED")
    assert "take action [KILL] on the step: it hangs" in lines(kept, f"{path}/steps/s")
    kept.post(f"{path}/actions/restart", AGAIN, params={"reason": "once more"})
    assert "restarted run [told][1][1] with policy [RESTART_FROM_INCOMPLETE]: once more" in lines(kept, path)
    kept.step_is("told", "s", "RUNNING")
    kept.put(f"{path}/actions/stop", params={"reason": "enough"})
    kept.ended("told", 1, "STOPPED")
    assert "asked to stop run [told][1][2]: enough" in lines(kept, path)
    gone = kept.delete("/workflows/told", params={"reason": "not needed"})
    assert gone["message"].endswith(": not needed")


def test_the_reason_of_what_is_done_to_all_runs(kept: Kept) -> None:
    blocked(kept, "reasons")
    event = kept.put("/workflows/reasons/actions/unblock", params={"reason": "it is known"})
    assert event["reason"] == "it is known"
    (told,) = [
        each for each in kept.get("/workflows/reasons/instances/1")["timeline"] if each["type"] == "ACTION"
    ]
    assert (told["action"], told["author"], told["reason"]) == ("UNBLOCK", "ann", "it is known")
    event = kept.put("/workflows/reasons/actions/stop", 202, params={"reason": "holiday"})
    assert event["reason"].endswith(": holiday")


@pytest.mark.parametrize("query", [{"reason": "a\nb"}, {"reason": "x" * 1_001}, {"request_id": "x" * 201}])
def test_reasons_and_ids_have_bounds(kept: Kept, query: dict[str, str]) -> None:
    kept.push("bounded")
    found = kept.put("/workflows/bounded/actions/stop", 400, params=query)
    assert f"Invalid {next(iter(query))}" in found["message"]
