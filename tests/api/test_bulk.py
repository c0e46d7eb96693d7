"""One action on many runs: a job that is stored, carried out item by item, and can be cancelled."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.serving import Served, noop, served, shell, sleep

from stretto.actions import bulk
from stretto.actions.bulk import carry_out_next
from stretto.actions.parts import bulk_item
from stretto.api.bulk_worker import BulkWorker
from stretto.model.errors import Unavailable
from stretto.model.status import RunStatus
from stretto.model.user import User
from stretto.ports.bulk import BulkItem, BulkJob, BulkTarget

AGAIN = {"restart_policy": "RESTART_FROM_BEGINNING"}


def ref(workflow_id: str, instance: int, run: int | None = None, **more: Any) -> dict[str, Any]:
    made = {"workflow_id": workflow_id, "workflow_instance_id": instance, **more}
    return made if run is None else {**made, "workflow_run_id": run}


def ask(server: Served, action: str, status: int = 200, **more: Any) -> Any:
    return server.post("/bulk", {"action": action, **more}, status)


def done(server: Served, found: Any, state: str = "DONE") -> Any:
    """The job, once it has ended, with its items."""
    path = f"/bulk/{found['job']['job_id']}"
    view = server.until(path, lambda view: view["job"]["state"] == state)
    return view, server.get(f"{path}/items?first=200")["elements"]


def failed(server: Served, name: str, count: int = 3, **properties: Any) -> None:
    """A workflow with failed runs."""
    server.push(name, shell("s", "exit 1"), **properties)
    for number in range(1, count + 1):
        server.start(name)
        server.ended(name, number, "FAILED")


def test_restart_by_filter(server: Served) -> None:
    failed(server, "many")
    server.push("other")
    chosen = {"workflow": "many", "status": ["failed"]}
    found = server.post("/bulk", {"action": "restart", "filter": chosen, "reason": "fixed", **AGAIN})
    assert (found["job"]["state"], found["job"]["total"]) == ("RUNNING", 3)
    assert found["job"]["by"] == "ann"
    view, items = done(server, found)
    assert view["counts"] == {"DONE": 3}
    assert view["job"]["end_time"] >= view["job"]["create_time"]
    assert [each["target"]["workflow_instance_id"] for each in items] == [3, 2, 1]
    assert all("created" in each["message"] for each in items)
    run = server.get("/workflows/many/instances/2/runs/2")
    assert run["timeline"][0]["message"].endswith(": fixed")
    jobs = server.get("/bulk")["elements"]
    assert jobs[0]["job_id"] == view["job"]["job_id"]


def test_stop_and_kill_by_ids(server: Served) -> None:
    server.push("sleepers", sleep("s"), sleep("t"))
    for number in (1, 2, 3):
        server.start("sleepers")
        server.step_is("sleepers", "s", "RUNNING", number)
        server.step_is("sleepers", "t", "RUNNING", number)
    ids = [ref("sleepers", 1), ref("sleepers", 2, 1), ref("sleepers", 3, step_id="s"), ref("sleepers", 99)]
    view, items = done(server, ask(server, "STOP", ids=ids))
    assert view["counts"] == {"DONE": 3, "REFUSED": 1}
    assert "Cannot find workflow instance [sleepers][99]" in items[3]["message"]
    refused = server.get(f"/bulk/{view['job']['job_id']}/items?state=refused")["elements"]
    assert [each["number"] for each in refused] == [3]
    server.ended("sleepers", 1, "STOPPED")
    server.ended("sleepers", 2, "STOPPED")
    server.step_is("sleepers", "s", "STOPPED", 3)
    view, _items = done(server, ask(server, "KILL", ids=[ref("sleepers", 3)]))
    server.ended("sleepers", 3, "FAILED")


def test_steps_and_queues(server: Served) -> None:
    server.push("bulk-steps", shell("s", "exit 1"), sleep("t"))
    server.start("bulk-steps")
    server.step_is("bulk-steps", "s", "FATALLY_FAILED")
    server.step_is("bulk-steps", "t", "RUNNING")
    _view, items = done(server, ask(server, "RESTART", ids=[ref("bulk-steps", 1, 1, step_id="s")]))
    assert items[0]["state"] == "DONE"
    _view, items = done(server, ask(server, "SKIP", ids=[ref("bulk-steps", 1, step_id="t")]))
    assert items[0]["state"] == "DONE"
    server.step_is("bulk-steps", "t", "SKIPPED")
    failed(server, "strictly", 1, run_strategy="STRICT_SEQUENTIAL")
    server.start("strictly")
    done(server, ask(server, "UNBLOCK", ids=[ref("strictly", 1)]))
    server.ended("strictly", 2, "FAILED")


def test_what_somebody_saw_must_still_be_so(server: Served) -> None:
    failed(server, "moved", 1)
    server.post("/workflows/moved/instances/1/actions/restart", AGAIN)
    _view, items = done(server, ask(server, "RESTART", ids=[ref("moved", 1, 1)]))
    assert items[0]["message"] == "Run [moved][1][1] is not the newest: that is [2]"


def test_the_same_request_is_one_job(server: Served) -> None:
    failed(server, "once", 1)
    made = [ask(server, "RESTART", ids=[ref("once", 1)], request_id="job:1") for _ in range(2)]
    assert {each["job"]["job_id"] for each in made} == {"job:1"}
    named = server.post(
        "/bulk", {"action": "STOP", "ids": []}, params={"request_id": "job:2", "reason": "so"}
    )
    assert (named["job"]["job_id"], named["job"]["reason"]) == ("job:2", "so")
    done(server, made[0])
    server.ended("once", 1, "FAILED")
    assert server.get("/workflows/once/instances/1")["workflow_run_id"] == 2


def test_the_id_of_another_job_is_refused(server: Served) -> None:
    made = ask(server, "STOP", ids=[], request_id="taken")
    assert ask(server, "STOP", ids=[], request_id="taken")["job"]["job_id"] == made["job"]["job_id"]
    refused = ask(server, "KILL", 409, ids=[], request_id="taken")
    assert "that of another bulk job: STOP by user [ann]" in refused["message"]
    body = {"action": "STOP", "ids": [], "request_id": "taken"}
    server.post("/bulk", body, 409, headers={"user": "bob"})


def test_a_dry_run_does_nothing(server: Served) -> None:
    failed(server, "dry-bulk", 2)
    before = len(server.get("/bulk?first=200")["elements"])
    ids = [ref("dry-bulk", 1), ref("dry-bulk", 2), ref("dry-bulk", 9)]
    found = ask(server, "RESTART", ids=ids, dry_run=True)
    assert found["dry_run"] is True
    assert [each["state"] for each in found["items"]] == ["DONE", "DONE", "REFUSED"]
    assert found["counts"] == {"DONE": 2, "REFUSED": 1}
    found = ask(server, "STOP", filter={"workflow": "dry-bulk"}, dry_run=True)
    assert [each["state"] for each in found["items"]] == ["REFUSED", "REFUSED"]
    body = {"action": "RESTART", "ids": ids}
    asked = server.client.post("/api/v3/bulk?dry_run=true", json=body, headers={"user": "ann"})
    assert asked.json()["dry_run"] is True
    assert len(server.get("/bulk?first=200")["elements"]) == before
    assert server.get("/workflows/dry-bulk/instances/1")["workflow_run_id"] == 1


def test_a_filter_that_finds_nothing(server: Served) -> None:
    view, items = done(server, ask(server, "STOP", filter={"workflow": "nobody"}))
    assert (view["job"]["total"], items) == (0, [])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"action": "STOP"}, "either `ids` or a `filter`"),
        ({"action": "STOP", "ids": [], "filter": {}}, "either `ids` or a `filter`"),
        ({"action": "DANCE", "ids": []}, "JSON parse error"),
        ({"action": "SKIP", "ids": [ref("w", 1)]}, "Only steps can be skipped"),
        ({"action": "SKIP", "filter": {}}, "only steps can be skipped"),
        ({"action": "STOP", "filter": {}}, "every run would be acted on"),
        ({"action": "KILL", "filter": {"status": [], "workflow": None}}, "`all: true`"),
        ({"action": "STOP", "filter": {"roots": False}, "dry_run": True}, "`all: true`"),
        ({"action": "KILL", "filter": {"roots": True}, "dry_run": True}, "`all: true`"),
        ({"action": "RESTART", "filter": {"since": 0}, "dry_run": True}, "`all: true`"),
        ({"action": "STOP", "filter": {"until": 2**62}}, "`all: true`"),
        ({"action": "STOP", "filter": {"since": 1, "until": 2**62, "roots": True}}, "`all: true`"),
        ({"action": "STOP", "filter": {"status": [each.value for each in RunStatus]}}, "`all: true`"),
        ({"action": "STOP", "filter": {"workflow": ""}}, "is empty"),
        ({"action": "STOP", "filter": {"status": ["FAILED"], "tag": " "}}, "is empty"),
        ({"action": "UNBLOCK", "ids": [ref("w", 1, step_id="s")]}, "Only runs can be unblocked"),
        ({"action": "STOP", "ids": [], "restart_policy": "RESTART_FROM_BEGINNING"}, "for restarts only"),
        ({"action": "STOP", "ids": [], "request_id": "a/b"}, "Invalid request_id"),
        ({"action": "STOP", "ids": [], "reason": "a\nb"}, "Invalid reason"),
        ({"action": "STOP", "filter": {"status": ["HAPPY"]}}, "JSON parse error"),
        ({"action": "STOP", "ids": [ref("w", 1)] * 10_001}, "at most 10,000"),
    ],
)
def test_wrong_requests(server: Served, body: dict[str, Any], said: str) -> None:
    found = server.post("/bulk", body, 400)
    assert said in found["message"]


def test_jobs_that_are_not_there(server: Served) -> None:
    server.get("/bulk/none", 404)
    server.get("/bulk/none/items", 404)
    server.put("/bulk/none/actions/cancel", 404)
    found = ask(server, "STOP", ids=[])
    server.get(f"/bulk/{found['job']['job_id']}/items?state=odd", 400)


# ------------------------------------------------------------------------------------- who carries them out
@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server that carries out nothing by itself."""
    monkeypatch.setattr(BulkWorker, "start", lambda _self: None)
    with served() as made:
        yield made


def test_a_job_is_cancelled(idle: Served) -> None:
    idle.push("calm", noop("a"))
    found = ask(idle, "STOP", ids=[ref("calm", 1)] * 3)
    path = f"/bulk/{found['job']['job_id']}"
    assert idle.put(f"{path}/actions/cancel")["counts"] == {"CANCELLED": 3}
    assert idle.put(f"{path}/actions/cancel")["job"]["state"] == "CANCELLED"
    assert idle.run(carry_out_next(idle.desk.store)) is False


def test_a_job_is_cancelled_while_it_is_carried_out(idle: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(idle, "STOP", ids=[ref("nobody", number) for number in range(5)])
    job_id = found["job"]["job_id"]
    real = bulk_item.act_on_item

    async def act(store: Any, caller: Any, job: BulkJob, item: BulkItem, **rest: Any) -> str:
        if item.number == 2:
            await bulk.cancel_bulk(store, caller, job_id)
        return await real(store, caller, job, item, **rest)

    monkeypatch.setattr(bulk, "act_on_item", act)
    assert idle.run(carry_out_next(idle.desk.store)) is True
    assert idle.get(f"/bulk/{job_id}")["counts"] == {"REFUSED": 3, "CANCELLED": 2}


def test_what_another_has_left_behind(idle: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies after an item was done and before that was written down: the item is not done again."""
    failed(idle, "heirs", 2)
    idle.push("sleeping", sleep("s"))
    idle.start("sleeping")
    idle.step_is("sleeping", "s", "RUNNING")
    store = idle.desk.store

    async def die(*_args: Any) -> None:
        raise Unavailable("gone")

    cases = (
        ("RESTART", ref("heirs", 1), "keep"),
        ("RESTART", ref("heirs", 2), "change_bulk"),
        ("STOP", ref("sleeping", 1), "change_bulk"),
    )
    for action, target, moment in cases:
        found = ask(idle, action, ids=[target])
        with monkeypatch.context() as patched:
            patched.setattr(store, moment, die)
            with pytest.raises(Unavailable):
                idle.run(carry_out_next(store, hold=0))
        if action == "RESTART":
            idle.ended("heirs", target["workflow_instance_id"], "FAILED")
        assert idle.run(carry_out_next(store)) is True
        view, items = done(idle, found)
        assert view["counts"] == {"DONE": 1}, items
    for instance in (1, 2):
        assert idle.get(f"/workflows/heirs/instances/{instance}")["workflow_run_id"] == 2


def test_a_fault_of_ours_keeps_nobody_from_the_others(idle: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(idle, "STOP", ids=[ref("a", 1), ref("b", 1)])

    async def broken(*_args: Any, **_rest: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setitem(bulk_item.RUN_ACTIONS, bulk_item.BulkAction.STOP, broken)
    idle.run(carry_out_next(idle.desk.store))
    view, items = done(idle, found)
    assert view["counts"] == {"REFUSED": 2}
    assert "secret" not in str(items)


def test_a_database_that_is_away_is_no_answer(idle: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(idle, "STOP", ids=[ref("a", 1)])

    async def away(*_args: Any, **_rest: Any) -> Any:
        raise Unavailable("away")

    with monkeypatch.context() as patched:
        patched.setitem(bulk_item.RUN_ACTIONS, bulk_item.BulkAction.STOP, away)
        with pytest.raises(Unavailable):
            idle.run(carry_out_next(idle.desk.store, hold=0))
    assert idle.get(f"/bulk/{found['job']['job_id']}")["counts"] == {"WAITING": 1}
    idle.run(carry_out_next(idle.desk.store))
    done(idle, found)


def test_rights_are_those_of_who_asked(idle: Served) -> None:
    idle.push("kept", sleep("s"), access_control={"runners": ["bob"]})
    idle.start("kept")
    target = BulkTarget(workflow_id="kept", workflow_instance_id=1)
    made = BulkJob(
        job_id="j",
        action="STOP",
        by=User(name="eve"),
        roles=("RUNNER",),
        create_time=idle.desk.clock.now(),
        total=1,
    )
    idle.run(idle.desk.store.put_bulk(made, [BulkItem(number=0, target=target)]))
    idle.run(carry_out_next(idle.desk.store))
    (item,) = idle.get("/bulk/j/items")["elements"]
    assert "User [eve] may not run workflow [kept]" in item["message"]
    idle.put("/workflows/kept/actions/kill", 202)


def test_more_than_a_page(idle: Served) -> None:
    idle.push("pages")
    for _ in range(bulk.PAGE + 3):
        idle.start("pages")
    found = ask(idle, "STOP", filter={"workflow": "pages", "roots": True})
    assert found["job"]["total"] == bulk.PAGE + 3
    idle.run(carry_out_next(idle.desk.store))
    view = idle.get(f"/bulk/{found['job']['job_id']}")
    assert sum(view["counts"].values()) == bulk.PAGE + 3
    assert view["job"]["state"] == "DONE"


def test_the_worker_waits_for_a_database_that_is_away() -> None:
    async def main() -> list[int]:
        looks: list[int] = []
        enough = asyncio.Event()

        async def work() -> bool:
            looks.append(len(looks))
            if len(looks) == 4:
                enough.set()
            if len(looks) == 1:
                raise Unavailable("away")
            return len(looks) == 2

        worker = BulkWorker(work, look_every=0.01)
        worker.stop()
        worker.start()
        await enough.wait()
        worker.ring()
        worker.stop()
        return looks

    assert len(asyncio.run(main())) >= 4


def test_every_run_is_acted_on_for_who_says_so(server: Served) -> None:
    asked = {"action": "STOP", "filter": {}, "all": True, "dry_run": True}
    assert server.post("/bulk", asked)["dry_run"]


@pytest.mark.parametrize(
    "narrow",
    [
        {"status": ["FAILED"]},
        {"workflow": "nobody"},
        {"owner": "nobody"},
        {"tag": "nobody"},
        {"correlation_id": "nobody"},
        {"since": 2**62, "roots": True},
        {"until": 1_577_836_800_000},
    ],
)
def test_a_condition_that_leaves_runs_out_is_enough(server: Served, narrow: dict[str, Any]) -> None:
    assert server.post("/bulk", {"action": "STOP", "filter": narrow, "dry_run": True})["dry_run"]


def test_conditions_that_hold_for_all_runs_need_all(server: Served) -> None:
    asked = {"action": "STOP", "filter": {"roots": True, "since": 0}, "all": True, "dry_run": True}
    assert server.post("/bulk", asked)["dry_run"]
