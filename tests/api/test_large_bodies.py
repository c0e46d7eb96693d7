"""What is kept and worked out while bodies are read: of each, and of all together."""

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from traceback import walk_tb
from typing import Any

import httpx
import pytest
from tests.api.serving import JSON, PATIENCE, YAML, Served, served

from stretto.actions.parts import offload as offloading
from stretto.actions.parts.offload import HUGE, offload
from stretto.api.body import SMALL, Bodies, LimitedBody, Room, read_json
from stretto.api.settings import KB, MB, ServerSettings
from stretto.definition import Limits
from stretto.model.errors import InvalidRequest, Unavailable
from stretto.model.request import StartRequest

MANUAL = {"initiator": {"type": "manual"}}
START = "/workflows/w/versions/latest/actions/start"
LIMITS = Limits(problems=10, nodes=2_000)


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    """A server in which few large bodies have room."""
    with served(settings=ServerSettings(body=256 * KB, bodies=2 * MB, stop_within=1_000)) as made:
        made.push("w")
        yield made


def members(count: int, value: str = "{}") -> str:
    return "{" + ",".join(f'"k{number}": {value}' for number in range(count)) + "}"


# ------------------------------------------------------------------------------------------------- one body
@pytest.mark.parametrize(
    "body",
    [
        f'{{"initiator": {{"type": "manual"}}, "run_params": {members(500)}}}',
        members(500, "1"),
        '{"run_params": {' + ",".join(['"a": {}'] * 500) + "}}",
    ],
    ids=["values without a type", "unknown fields", "keys given twice"],
)
def test_problems_are_told_up_to_a_limit(body: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_json(StartRequest, body.encode(), LIMITS)
    assert len(caught.value.details) == 11
    assert caught.value.details[-1] == "there are more than 10 problems, the others are not shown [too-many]"
    assert len(caught.value.message) < 500


def test_a_refusal_keeps_nothing_of_what_was_read() -> None:
    """It lives until the answer is sent, by the event loop, which would then free all values at once."""
    with pytest.raises(InvalidRequest) as caught:
        read_json(StartRequest, members(500).encode(), LIMITS)
    error: BaseException | None = caught.value
    held: list[Any] = []
    while error is not None:
        held += [value for frame, _ in walk_tb(error.__traceback__) for value in frame.f_locals.values()]
        error = error.__context__
    assert max(len(each) for each in held if isinstance(each, dict | list)) < 500


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        (START, f'{{"run_params": {members(1_000)}}}', JSON),
        ("/bulk", f'{{"action": "KILL", "ids": [{",".join(["{}"] * 3_000)}]}}', JSON),
        ("/signals", f'{{"name": "s", "params": {members(2_000)}}}', JSON),
        ("/workflows", f'{{"workflow": {{"id": "x", "steps": [{",".join(["{}"] * 3_000)}]}}}}', JSON),
        ("/workflows/yaml", "workflow:\n" + "".join(f"  k{n}: 1\n" for n in range(3_000)), YAML),
        ("/workflows/yaml", "workflow:\n" + "  id: x\n" * 3_000, YAML),
    ],
    ids=["start", "bulk", "signals", "push", "yaml", "yaml with a key given twice"],
)
def test_no_route_tells_more_problems_than_the_limit(
    small: Served, path: str, body: str, headers: dict[str, str]
) -> None:
    answer = small.client.post(f"/api/v3{path}", content=body, headers=headers)
    assert answer.status_code == 400
    assert 1 <= len(answer.json()["errors"]) <= 1_001


def test_one_text_of_ten_megabytes_is_taken() -> None:
    with served(settings=ServerSettings(body=12 * MB, stop_within=1_000)) as server:
        body = {"name": "s", "payload": {"rows": [{"id": n, "text": "x" * 80} for n in range(95_000)]}}
        text = json.dumps(body)
        assert len(text) > 9_500_000
        answer = server.client.post("/api/v3/signals", content=text, headers=JSON)
        assert "limits.nodes" not in answer.text
        assert answer.status_code == 200 or "payload" in answer.text


# ----------------------------------------------------------------------------------------------- all bodies
def test_large_bodies_are_read_one_after_the_other() -> None:
    async def story() -> list[str]:
        room, told = Room(1 * MB), list[str]()

        async def use(name: str, size: int) -> None:
            taken = await room.take(size)
            told.append(name)
            assert room.taken <= 1 * MB
            await asyncio.sleep(0)
            room.give(taken)

        sizes = {"a": 600 * KB, "b": 100 * MB, "c": 300 * KB, "small": SMALL, "d": 300 * KB}
        await asyncio.gather(*(use(name, size) for name, size in sizes.items()))
        assert room.taken == 0
        return told

    assert asyncio.run(story()) == ["a", "small", "b", "c", "d"]


def test_who_stops_waiting_leaves_the_room_to_others() -> None:
    async def story() -> int:
        room = Room(1 * MB)
        taken = await room.take(1 * MB)
        waiting = [asyncio.create_task(room.take(500 * KB)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        room.give(taken)
        waiting[1].cancel()  # it has its turn already, and has not heard of it
        await asyncio.gather(*waiting, return_exceptions=True)
        return room.taken

    assert asyncio.run(story()) == 500 * KB


def test_a_body_without_room_is_refused_in_the_end() -> None:
    async def story() -> None:
        bodies = Bodies(ServerSettings(body_within=1, bodies=1 * MB))
        await bodies.room.take(1 * MB)
        body = LimitedBody(bodies, _nothing)
        with pytest.raises(Unavailable, match=r"server\.bodies"):
            await body.read(b"," * 100_000)
        body.forget()
        assert bodies.room.taken == 768 * KB

    asyncio.run(story())


async def _nothing() -> Any:
    raise AssertionError


def test_what_is_read_at_once_has_a_limit(small: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six requests, each of which takes most of the room."""
    taken: list[int] = []
    real = Room.take

    async def take(room: Room, size: int) -> int:
        made = await real(room, size)
        taken.append(room.taken)
        return made

    monkeypatch.setattr(Room, "take", take)
    body = f'{{"initiator": {{"type": "manual"}}, "run_params": {members(12_000)}}}'
    answers: list[httpx.Response] = []

    def post() -> None:
        url = f"{small.url}/api/v3{START}"
        answers.append(httpx.post(url, content=body, headers={**JSON, "user": "ann"}, timeout=PATIENCE))

    threads = [threading.Thread(target=post) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE)
    assert [each.status_code for each in answers] == [400] * 6
    assert len(taken) == 6
    assert max(taken) <= 2 * MB


# ---------------------------------------------------------------------------------------------- the collector
def test_the_collector_of_cycles_rests_while_much_is_read() -> None:
    async def story() -> list[bool]:
        return [await offload(size, gc.isenabled) for size in (1, HUGE, HUGE + 1)]

    assert asyncio.run(story()) == [True, True, False]
    assert gc.isenabled()


def test_two_threads_do_not_keep_the_collector_from_its_work() -> None:
    """Whoever comes while it rests does not make it rest longer."""
    with offloading._pause:
        assert offloading._uncollected(gc.isenabled)()
    assert not offloading._uncollected(gc.isenabled)()
    assert gc.isenabled()
