"""Starts that come at the same time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.api.serving import Served

from stretto.actions.parts import submitting

START = "/api/v3/workflows/{}/versions/latest/actions/start"
BODY = {"initiator": {"type": "manual"}}


def start(server: Served, name: str, user: str = "ann", **more: str) -> Any:
    answer = server.client.post(START.format(name), json=BODY | more, headers={"user": user}, timeout=60)
    return answer.status_code, answer.json()


def test_they_share_transactions(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    start_many = submitting.start_many  # type: ignore[attr-defined]

    async def counted(*args: Any, **options: Any) -> list[Any]:
        await asyncio.sleep(0.1)  # so that others come meanwhile
        sizes.append(len(args[4]))
        return await start_many(*args, **options)

    monkeypatch.setattr(submitting, "start_many", counted)
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
