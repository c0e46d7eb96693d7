"""Starts that come at the same time."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.api.serving import Served
from tests.waiting import until

from stretto.actions import start as start_batcher

START = "/api/v3/workflows/{}/versions/latest/actions/start"
BODY = {"initiator": {"type": "manual"}}


def start(server: Served, name: str, user: str = "ann", **more: str) -> Any:
    answer = server.client.post(START.format(name), json=BODY | more, headers={"user": user}, timeout=60)
    return answer.status_code, answer.json()


def test_they_share_transactions(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    start_batch = start_batcher.start_batch

    one_by_one = start_batcher.StartBatcher.start
    come: list[str] = []

    async def coming(self: start_batcher.StartBatcher, *args: Any, **options: Any) -> Any:
        come.append("one more")
        return await one_by_one(self, *args, **options)

    async def counted(*args: Any, **options: Any) -> list[Any]:
        await until(lambda: len(come) >= 2)  # so that others come meanwhile
        sizes.append(len(args[2]))
        return await start_batch(*args, **options)

    monkeypatch.setattr(start_batcher, "start_batch", counted)
    monkeypatch.setattr(start_batcher.StartBatcher, "start", coming)
    server.push("crowd", run_strategy="PARALLEL")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: start(server, "crowd"), range(32)))
    assert {status for status, _body in answers} == {200}
    assert sorted(body["workflow_instance_id"] for _status, body in answers) == list(range(1, 33))
    assert sum(sizes) == 32
    assert len(sizes) < 32


def test_the_same_request_starts_one(server: Served) -> None:
    server.push("same", run_strategy="PARALLEL")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: start(server, "same", request_id="r-1"), range(8)))
    assert {body["workflow_instance_id"] for _status, body in answers} == {1}
    assert sorted(body["status"] for _status, body in answers) == ["CREATED"] + ["DUPLICATED"] * 7


def of_table(value: str) -> dict[str, Any]:
    return {"request_id": "r-1", "run_params": {"table": {"value": value, "type": "STRING"}}}


def test_a_request_id_used_with_other_parameters_is_refused_if_asked_for(server: Served) -> None:
    server.push("checked")
    path = START.format("checked").removeprefix("/api/v3")
    first, check = BODY | of_table("sales"), {"check_request_id": True}
    assert server.post(path, first, params=check)["status"] == "CREATED"
    assert server.post(path, first, params=check)["status"] == "DUPLICATED"
    other = BODY | of_table("returns")
    assert server.post(path, other)["status"] == "DUPLICATED"  # as Maestro answers
    steps = first | {"step_run_params": {"a": {"x": {"value": 1, "type": "LONG"}}}}
    for given, names in ((other, "table"), (BODY | {"request_id": "r-1"}, "table"), (steps, "a:x")):
        for dry_run in (False, True):
            refused = server.post(path, given, 409, params=check | {"dry_run": dry_run})
            wanted = (
                f"run checked/1, which was started with other parameters: {names} (use another request id"
            )
            assert wanted in refused["message"]
    listed = server.get("/workflows/checked/instances", params={"first": 10})
    assert [each["workflow_instance_id"] for each in listed["elements"]] == [1]
    server.push("another")  # a request id belongs to a workflow
    made = server.post(START.format("another").removeprefix("/api/v3"), other, params=check)
    assert (made["status"], made["workflow_id"]) == ("CREATED", "another")


def test_the_request_id_of_a_restart_is_refused_if_asked_for(server: Served) -> None:
    server.push("restarted")
    server.start("restarted")
    server.ended("restarted")
    again = {"restart_policy": "RESTART_FROM_BEGINNING", "request_id": "r-2"}
    server.post("/workflows/restarted/instances/1/actions/restart", again)
    path = START.format("restarted").removeprefix("/api/v3")
    refused = server.post(path, BODY | {"request_id": "r-2"}, 409, params={"check_request_id": True})
    assert refused["message"].endswith(
        "run restarted/1/2, which a restart made (use another request id to start a new run)"
    )


def test_each_is_refused_for_itself(server: Served) -> None:
    server.push("mixed", run_strategy="PARALLEL")
    asked = [{"request_id": "r"}, {"run_params": {"x": {"value": 1, "type": "NONSENSE"}}}, {}]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda more: start(server, "mixed", **more), asked))
    assert [status for status, _body in answers] == [200, 400, 200]
    assert start(server, "nobody")[0] == 404


def test_who_has_started_it_is_noted(server: Served) -> None:
    server.push("noted", run_strategy="PARALLEL")
    users = [f"user-{number % 3}" for number in range(9)]
    with ThreadPoolExecutor(9) as pool:
        answers = list(pool.map(lambda user: (user, start(server, "noted", user)[1]), users))
    for user, body in answers:
        run = server.get(f"/workflows/noted/instances/{body['workflow_instance_id']}")
        assert run["initiator"]["user"] == user
