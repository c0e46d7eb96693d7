"""What a screen hears: where things stand, seldom and little."""

import random
import threading
from typing import Any

import msgspec
import pytest
from tests.api.following import follow, messages
from tests.api.serving import Served, noop, shell, sleep
from tests.waiting import wait_until

from stretto.actions.reading import live
from stretto.actions.reading.live import Gathering, StepMove
from stretto.actions.reading.topics import (
    HomeTopic,
    RunsTopic,
    RunTopic,
    Topic,
    WorkflowTopic,
    instance_in,
    topic_named,
    topics_in,
)
from stretto.api.cursors import cursor_text
from stretto.api.routes import events
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, Unavailable
from stretto.model.event import InstanceStatusChanged, StepStatusChanged, WorkflowDeleted
from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.status_change import StepStatusChange
from stretto.model.tag import Tag
from stretto.ports.events import Trimmed
from stretto.ports.run_snapshot import NamedRuns

S = StepStatus


def view(server: Served, *topics: str, **rest: Any) -> Any:
    return follow(server, *topics, level="view", **rest)


# --------------------------------------------------------------------------------------------------- topics
def test_topics_are_read() -> None:
    found = topics_in(["run:a/b/3/4", "workflow:w", "home", "runs?workflow=w&tag=t&root=yes", "home"])
    assert found == [
        RunTopic(text="run:a/b/3/4", run=RunKey("a/b", 3, 4)),
        WorkflowTopic(text="workflow:w", workflow_id="w"),
        HomeTopic(text="home"),
        RunsTopic(text="runs?workflow=w&tag=t&root=yes", workflow_id="w", tag="t", root=True),
    ]
    assert topics_in([]) == topics_in(["all"]) == [Topic(text="all")]


INLINE = inline_workflow_id(Loop.FOREACH, 1, "w", 1, "each", 1)


def ended(**fields: Any) -> InstanceStatusChanged:
    event = InstanceStatusChanged(
        workflow_id="w",
        workflow_instance_id=1,
        workflow_run_id=1,
        correlation_id="c",
        depth=0,
        tags=(Tag(name="t"),),
        old_status=InstanceStatus.IN_PROGRESS,
        new_status=InstanceStatus.SUCCEEDED,
        event_time=1,
    )
    return msgspec.structs.replace(event, **fields)


@pytest.mark.parametrize(
    ("topic", "event", "holds"),
    [
        ("runs", ended(), True),
        ("runs?workflow=w&tag=t&correlation_id=c&root=1", ended(), True),
        ("runs?workflow=v", ended(), False),
        ("runs?tag=u", ended(), False),
        ("runs?tag=u", ended(tags=None), False),
        ("runs?correlation_id=d", ended(), False),
        ("runs?root=yes", ended(depth=1), False),
        ("runs?root=no", ended(depth=1), True),
        ("runs", ended(workflow_id=INLINE), False),
        (f"runs?workflow={INLINE}", ended(workflow_id=INLINE), True),
        ("home", ended(), True),
        ("home", ended(workflow_id=INLINE), False),
        ("cluster", ended(), False),
        ("run:w/1/1", ended(), True),
        ("run:w/1/2", ended(), False),
        ("run:w/1/1", WorkflowDeleted(workflow_id="w", event_time=1), False),
        ("workflow:w", WorkflowDeleted(workflow_id="w", event_time=1), True),
        ("runs", WorkflowDeleted(workflow_id="w", event_time=1), False),
        (
            "home",
            StepStatusChanged(
                workflow_id="w", workflow_instance_id=1, workflow_run_id=1, step_id="s", step_attempt_id=1
            ),
            False,
        ),
    ],
)
def test_what_a_topic_holds(topic: str, event: Any, holds: bool) -> None:
    (found,) = topics_in([topic])
    assert found.holds(event) is holds


def test_a_topic_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidRequest) as refused:
        topics_in(["runs?owner=ann"])
    assert "runs can not be told by owner" in str(refused.value)
    assert "home, approvals, cluster or all" in (refused.value.hint or "")
    with pytest.raises(InvalidRequest, match=r"root is yes or no, not \[maybe\]"):
        topics_in(["runs?root=maybe"])


@pytest.mark.parametrize(
    ("workflow", "run", "topics"),
    [
        (None, None, []),
        ("w", None, ["workflow:w"]),
        ("w", "3/2", ["run:w/3/2"]),
        (None, "w/3/2", ["run:w/3/2"]),
        (None, "nonsense", ["run:nonsense"]),
    ],
)
def test_a_workflow_or_a_run_by_name(workflow: str | None, run: str | None, topics: list[str]) -> None:
    assert topic_named(workflow, run) == topics


@pytest.mark.parametrize(
    ("workflow", "run", "instance"),
    [
        ("w", "3", ("w", 3)),
        (None, "w/3", ("w", 3)),
        ("w", "3/2", None),
        (None, "w/3/2", None),
        (None, "w", None),
    ],
)
def test_an_instance_by_name(workflow: str | None, run: str, instance: tuple[str, int] | None) -> None:
    assert instance_in(workflow, run) == instance


def test_who_follows_a_run_by_name(server: Served) -> None:
    server.push("byname")
    server.start("byname")
    server.ended("byname")
    begin = {"cursor": cursor_text({}), "workflow": "byname", "run": "1"}
    with server.client.stream("GET", "/api/v3/events", params=begin, timeout=60) as response:
        stream = messages(response)
        assert next(stream).name == "hello"
        told = next(stream)
    assert told.data["events"][0]["workflow_id"] == "byname"
    for wrong, status in (({"run": "nonsense"}, 400), ({"run": "nobody/7"}, 404)):
        assert server.client.get("/api/v3/events", params=wrong).status_code == status


# ------------------------------------------------------------------------------------------------- messages
def test_a_run_with_its_steps_by_their_places(server: Served) -> None:
    server.push("seen", noop("a", "b"), noop("b"))
    with view(server, "run:seen/1/1") as response:
        stream = messages(response)
        assert next(stream).name == "hello"
        server.start("seen")
        run: Any = None
        steps: dict[int, list[Any]] = {}
        while run is None or run["status"] != "SUCCEEDED" or len(steps) < 2:
            message = next(stream)
            assert message.data["topic"] == "run:seen/1/1"
            if message.name == "run":
                run = message.data
            else:
                assert message.name == "step"
                steps |= {each[0]: each for each in message.data["changes"]}
    assert (run["ref"], run["counts"]) == ("seen/1/1", {"s": 2})
    assert run["start"] <= run["end"]
    assert [(place, each[1], each[2]) for place, each in sorted(steps.items())] == [(0, "s", 1), (1, "s", 1)]
    assert all(each[3] <= each[4] for each in steps.values())


def step_of(run: RunKey) -> StepStatusChanged:
    return StepStatusChanged(
        workflow_id=run.workflow_id,
        workflow_instance_id=run.instance_id,
        workflow_run_id=run.run_id,
        step_id="s",
        step_attempt_id=1,
    )


def test_a_step_that_moves_changes_the_row_of_its_run(server: Served) -> None:
    """Its counts, its first error and what it waits for, though its status stays the same."""
    server.push("rows", shell("f", "exit 3"), sleep("s"))
    topics = ["workflow:rows", "runs?workflow=rows", "runs", "run:rows/1/1"]
    rows: dict[str, Any] = {}
    with view(server, *topics) as response:
        stream = messages(response)
        next(stream)
        server.start("rows")
        wanted = {"r": 1, "F": 1}
        while len(rows) < len(topics) or any(row["counts"] != wanted for row in rows.values()):
            message = next(stream)
            if message.name == "run" and message.data["ref"] == "rows/1/1":
                rows[message.data["topic"]] = message.data
    (line,) = server.get("/instances?workflow=rows")["elements"]
    for row in rows.values():
        assert (row["status"], row["end"]) == ("IN_PROGRESS", None)
        assert row["error"] == line["first_error"]
        assert row["wait"] == line["wait"]
    server.put("/workflows/rows/actions/kill", 202)


def test_a_step_is_told_to_the_lists_that_its_run_is_in(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the event of a step does not say of its run is looked up, once."""
    body = {"properties": {"owner": "ann"}, "workflow": {"id": "tagged", "tags": ["t"], "steps": [noop("s")]}}
    server.post("/workflows", body)
    server.start("tagged")
    server.ended("tagged")
    child = {"subworkflow_id": {"type": "STRING", "value": "tagged"}}
    child["subworkflow_version"] = {"type": "STRING", "value": "latest"}
    server.push("above", {"subworkflow": {"id": "sub", "transition": {}, "params": child}})
    server.start("above")
    server.ended("above")
    runs = [RunKey("tagged", 1, 1), RunKey("tagged", 2, 1), RunKey("above", 1, 1), RunKey("gone", 1, 1)]
    looked_up: list[RunKey] = []
    real = server.desk.store.runs

    async def runs_read(selection: NamedRuns) -> Any:
        looked_up.extend(selection.keys)
        return await real(selection)

    monkeypatch.setattr(server.desk.store, "runs", runs_read)

    def refs(gathering: Gathering, *heard: Any) -> list[str]:
        gathering.take(heard)
        return sorted(each.body["ref"] for each in server.run(gathering.tell(server.desk.store)))

    def lists(*heard: Any) -> dict[str, list[str]]:
        found = ("runs?tag=t", "runs?root=yes", "runs?tag=t&root=yes", "runs?workflow=above", "runs?tag=u")
        return {each: refs(Gathering(topics_in([each])[0]), *heard) for each in found}

    assert lists(*map(step_of, runs), step_of(RunKey(INLINE, 1, 1))) == {
        "runs?tag=t": ["tagged/1/1", "tagged/2/1"],
        "runs?root=yes": ["above/1/1", "tagged/1/1"],
        "runs?tag=t&root=yes": ["tagged/1/1"],
        "runs?workflow=above": ["above/1/1"],
        "runs?tag=u": [],
    }
    looked_up.clear()
    gathering = Gathering(topics_in(["runs?tag=t"])[0])
    known = ended(workflow_id="tagged")
    assert refs(gathering, known, step_of(runs[0])) == ["tagged/1/1"]  # the run itself said so
    assert looked_up == []
    assert refs(gathering, step_of(runs[1])) == refs(gathering, step_of(runs[1])) == ["tagged/2/1"]
    assert looked_up == [runs[1]]
    monkeypatch.setattr(live, "MOST_KNOWN", 1)  # no more is kept
    assert refs(gathering, step_of(runs[1])) == ["tagged/2/1"]
    assert refs(gathering, step_of(runs[0])) == ["tagged/1/1"]
    assert looked_up == [runs[1], runs[0]]


def test_a_workflow_home_and_a_list_of_runs_on_one_connection(server: Served) -> None:
    topics = ["workflow:both", "home", "runs?workflow=both", "cluster"]
    names: dict[str, set[str]] = {}
    with view(server, *topics) as response:
        stream = messages(response)
        next(stream)
        server.push("both")
        server.start("both")
        wanted = {
            "workflow:both": {"workflow", "run"},
            "home": {"workflow", "home"},
            "runs?workflow=both": {"run"},
            "cluster": {"node"},
        }
        for message in stream:
            names.setdefault(message.data["topic"], set()).add(message.name)
            if message.name == "node":
                assert [each["state"] for each in message.data["nodes"]] == ["ALIVE"]
            if names == wanted:
                break


class HeldClock:
    """Time that stands still until the test moves it."""

    def __init__(self, now: int) -> None:
        self.time = now

    def now(self) -> int:
        return self.time

    def steady(self) -> float:
        return self.time / 1_000


def test_much_at_once_is_told_seldom(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty runs while no time passes are told once at most, and all that is left with the next message."""
    store, tail = server.desk.store, server.desk.feed.tail
    clock = HeldClock(server.desk.clock.now())
    real, looks = store.glances, []

    async def look(selection: NamedRuns) -> Any:
        looks.append(list(selection.keys))
        return await real(selection)

    server.push("busy", noop("a", "b"), noop("b"))
    monkeypatch.setattr(tail, "_clock", clock)
    with view(server, "home") as response:
        stream = messages(response)
        next(stream)
        server.until("/me", lambda _: bool(tail._channels))
        (channel,) = tail._channels.values()
        monkeypatch.setattr(store, "glances", look)
        for _ in range(60):
            server.start("busy")
        server.ended("busy", 60)
        end = server.run(store.newest_seqs())
        server.until("/me", lambda _: tail.end is not None and all(tail.end[g] >= end[g] for g in end))
        assert len(looks) <= 1
        clock.time += 60_000
        server.until("/me", lambda _: channel.is_quiet)
    assert len(looks) <= 2
    assert len({run for each in looks for run in each}) == 60


def test_more_than_can_be_said_is_a_resync(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.push("large", noop("a"))
    monkeypatch.setattr(live, "MOST_BYTES", 10)
    with view(server, "workflow:large") as response:
        stream = messages(response)
        next(stream)
        server.start("large")
        message = next(stream)
    assert (message.name, message.data["topic"]) == ("resync", "workflow:large")
    assert message.data["reason"] == "too much has changed at once"


def test_so_are_too_many_runs(server: Served) -> None:
    gathering = Gathering(topics_in(["runs"])[0])
    gathering.take(ended(workflow_instance_id=number) for number in range(live.MOST_RUNS + 1))
    told = server.run(gathering.tell(server.desk.store))
    assert [each.name for each in told] == ["resync"]
    assert gathering.is_empty


def test_a_run_that_is_gone_has_no_steps_to_tell_of(server: Served) -> None:
    event = StepStatusChanged(
        workflow_id="gone", workflow_instance_id=1, workflow_run_id=1, step_id="s", step_attempt_id=1
    )
    gathering = Gathering(topics_in(["run:gone/1/1"])[0])
    gathering.take([event])
    (told,) = server.run(gathering.tell(server.desk.store))
    assert told.body["changes"] == []


def test_what_is_not_kept_or_can_not_be_read_is_a_resync(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BEAT_EVERY", 100)
    store = server.desk.store
    real_log, real_glances = store.read_log, store.glances
    logs: list[Exception] = [Unavailable("away"), Trimmed(frozenset({1}))]
    glances: list[Exception] = [Unavailable("away")]

    async def read(cursor: Any, *, most: int = 1_000) -> Any:
        if logs:
            raise logs.pop(0)
        return await real_log(cursor, most=most)

    async def look(runs: Any) -> Any:
        if glances:
            raise glances.pop(0)
        return await real_glances(runs)

    monkeypatch.setattr(store, "read_log", read)
    monkeypatch.setattr(store, "glances", look)
    server.push("torn")
    with view(server, "workflow:torn") as response:
        stream = (each for each in messages(response) if each.data is not None)
        assert [next(stream).name, next(stream).name] == ["hello", "resync"]
        server.start("torn")
        heard = next(stream)
        while heard.name == "run":
            heard = next(stream)
    assert (heard.name, heard.data["reason"]) == ("resync", "the database did not answer")


def moved(attempt: int, *statuses: StepStatus) -> StepStatusChanged:
    pairs = zip((S.NOT_CREATED, *statuses), statuses, strict=False)
    return StepStatusChanged(
        workflow_id="w",
        workflow_instance_id=1,
        workflow_run_id=1,
        step_id="s",
        step_attempt_id=attempt,
        status_change_records=tuple(
            StepStatusChange(old_status=old, new_status=new, event_time=10 * attempt + number)
            for number, (old, new) in enumerate(pairs)
        ),
    )


def test_where_a_step_has_come_to() -> None:
    move = StepMove()
    move.take(moved(1, S.CREATED))
    assert (move.attempt, move.status, move.start, move.end) == (1, S.CREATED, None, None)
    move.take(moved(1, S.STARTING, S.RUNNING, S.USER_FAILED))
    assert (move.attempt, move.status, move.start, move.end) == (1, S.USER_FAILED, 10, 12)
    move.take(moved(2, S.SUCCEEDED))
    assert (move.attempt, move.status, move.start, move.end) == (2, S.SUCCEEDED, 20, 20)


def test_nodes_are_told_when_they_have_changed(server: Served) -> None:
    gathering = Gathering(topics_in(["cluster"])[0])
    store = server.desk.store
    assert [each.name for each in server.run(gathering.tell_nodes(store))] == ["node"]
    assert server.run(gathering.tell_nodes(store)) == []


def test_steps_of_a_version_that_is_gone(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.push("lost")
    server.start("lost")
    server.ended("lost")

    async def version(_workflow_id: str, _version_id: int) -> None:
        return None

    monkeypatch.setattr(server.desk.store, "version", version)
    gathering = Gathering(topics_in(["run:lost/1/1"])[0])
    gathering.take([msgspec.structs.replace(moved(1, S.CREATED), workflow_id="lost")])
    _run, told = server.run(gathering.tell(server.desk.store))
    assert told.body["changes"] == []


# -------------------------------------------------------------------------------------- read, then follow
def test_who_is_cut_off_between_two_topics_hears_the_second_again(server: Served) -> None:
    server.push("cut", noop("a"), run_strategy="PARALLEL")
    begin = server.client.get("/api/v3/instances?workflow=cut").headers["stretto-cursor"]
    server.start("cut")
    server.start("cut")
    server.ended("cut", 2)
    topics = ["run:cut/1/1", "run:cut/2/1"]
    with view(server, *topics, cursor=begin) as response:
        stream = messages(response)
        assert next(stream).name == "hello"
        together = [next(stream) for _ in range(4)]
    assert [each.data["topic"] for each in together] == [topics[0]] * 2 + [topics[1]] * 2
    assert [each.has_id for each in together] == [False, False, False, True]
    with view(server, *topics, cursor=together[1].id) as response:  # cut off after the first topic
        stream = messages(response)
        again = [next(stream) for _ in range(5)]
    assert [each.data.get("topic") for each in again[1:]] == [each.data["topic"] for each in together]


@pytest.mark.parametrize("seed", range(3))
def test_read_then_follow_never_goes_back(server: Served, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody starts and stops runs; a screen reads them, follows from there, is cut off, comes back or
    reads anew. What it shows of a step never goes from a later state to an earlier one, and in the end it is
    what is stored.
    """
    monkeypatch.setattr(events, "BEAT_EVERY", 500)  # who waits for more than there is, waits no longer
    dice = random.Random(seed)  # noqa: S311 - no secret
    name = f"shown{seed}"
    server.push(name, noop("a", "b"), sleep("b", 0), noop("c"), run_strategy="PARALLEL")
    runs = 12
    shown: dict[int, Shown] = {}
    writing = threading.Thread(target=write, args=(server, name, runs, random.Random(seed)))  # noqa: S311
    writing.start()
    cursor: str | None = None
    while True:
        over = not writing.is_alive()
        if cursor is None or dice.random() < 0.3:
            cursor = read_all(server, name, shown)
        cursor = listen(server, name, shown, cursor, dice.randint(1, 4))
        if over:
            break
    writing.join()
    final: dict[int, Shown] = {}
    end = read_all(server, name, final)

    def all_shown() -> bool:
        nonlocal cursor
        cursor = listen(server, name, shown, cursor or end, dice.randint(1, 40))
        return shown == final

    assert end
    assert shown == final or wait_until(all_shown, "what is stored on the screen")


class Shown:
    """One instance on the screen: the run, and its steps by place."""

    def __init__(self, run: int, codes: str, attempts: list[int]) -> None:
        self.run = run
        self.steps = {place: (attempts[place], code) for place, code in enumerate(codes)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown) and (self.run, self.steps) == (other.run, other.steps)

    __hash__ = None  # type: ignore[assignment]

    def move(self, place: int, attempt: int, code: str) -> None:
        before = self.steps[place]
        if before[1] in "sSFuUk" and before[0] == attempt:
            assert code == before[1], f"step {place} went from {before} to {(attempt, code)}"
        assert attempt >= before[0]
        self.steps[place] = (attempt, code)


def write(server: Served, name: str, runs: int, dice: random.Random) -> None:
    for number in range(1, runs + 1):
        server.start(name)
        if dice.random() < 0.3:
            server.client.put(f"/api/v3/workflows/{name}/instances/{number}/actions/stop", timeout=30)
    for number in range(1, runs + 1):
        path = f"/workflows/{name}/instances/{number}"
        server.until(path, lambda each: each["status"] in {"SUCCEEDED", "STOPPED"})


def read_all(server: Served, name: str, shown: dict[int, Shown]) -> str:
    """The newest instances, each with its state; the first answer's cursor is a place before them all."""
    answer = server.client.get(f"/api/v3/instances?workflow={name}&first=100", timeout=30)
    for each in answer.json()["elements"]:
        number = each["workflow_instance_id"]
        state = server.get(f"/workflows/{name}/instances/{number}/runs/1/state")
        now = Shown(1, state["codes"], state["attempts"])
        if number in shown:
            for place, (attempt, code) in now.steps.items():
                shown[number].move(place, attempt, code)
        else:
            shown[number] = now
    return answer.headers["stretto-cursor"]


def listen(server: Served, name: str, shown: dict[int, Shown], cursor: str, most: int) -> str:
    """A few messages, then the connection is cut."""
    topics = [f"run:{name}/{number}/1" for number in sorted(shown)] or [f"workflow:{name}"]
    with view(server, f"workflow:{name}", *topics, cursor=cursor) as response:
        quiet = 0  # messages in a row that tell nothing
        for count, message in enumerate(messages(response)):
            cursor = message.id
            quiet = 0 if message.name in {"step", "run"} else quiet + 1
            if message.name == "step":
                number = int(message.data["ref"].split("/")[1])
                for place, code, attempt, _start, _end in message.data["changes"]:
                    shown[number].move(place, attempt, code)
            elif message.name == "run":
                number = int(message.data["ref"].split("/")[1])
                if number not in shown:  # it has come since: read it, and follow it from there
                    return read_all(server, name, shown)
            if count >= most or quiet > 4:
                break
    return cursor
