"""Permits on several nodes: what limits cost that never bind, and that those that bind are kept."""

from collections import Counter
from typing import Any

import pytest
from tests.node.tank import ANN, GOING_ON, Tank, flow, work

from stretto.actions.tag_permits import set_tag_permit
from stretto.engine.records import RunKey
from stretto.model.permit import TagPermitRequest
from stretto.model.status import StepStatus
from stretto.node.permits import MOST_TAGS, PermitRoom
from stretto.ports.runtime import Done

AT_WORK = {StepStatus.STARTING, StepStatus.RUNNING}
TAGS = ", tags: [gpu]"


def counted(tank: Tank, *names: str) -> Counter[str]:
    """How often methods of the store are called from now on."""
    calls: Counter[str] = Counter()
    store: Any = tank.store

    def noting(name: str, method: Any) -> Any:
        def noted(*given: Any, **more: Any) -> Any:
            calls[name] += 1
            return method(*given, **more)

        return noted

    for name in names:
        setattr(store, name, noting(name, getattr(store, name)))
    return calls


def limit(tank: Tank, tag: str, most: int) -> None:
    tank.do(set_tag_permit(tank.store, ANN, TagPermitRequest(tag=tag, max_allowed=most), hints=tank))


def chain(count: int, more: str, kind: str) -> list[str]:
    return [
        work(f"s{n}", *([f"s{n + 1}"] if n + 1 < count else []), kind=kind, more=more) for n in range(count)
    ]


def calls_of(text: str, *, most: int | None = None) -> Counter[str]:
    """What a run of a definition asks of the store."""
    tank = Tank()
    tank.fish()
    tank.settle()
    if most is not None:
        limit(tank, "gpu", most)
    calls = counted(tank, "commit", "grant", "load_flows", "fetch")
    assert tank.status(run := tank.start(text)) == "CREATED"
    assert tank.advance(2_000).status(run) == "SUCCEEDED"
    return calls


@pytest.mark.parametrize("kind", ["NoOp", "Python"])
def test_limits_that_never_bind_cost_no_commit_and_no_load(kind: str) -> None:
    """A hundred steps in a row: what one returns the next one takes, so only the last one looks who waits."""
    plain = calls_of(flow(*chain(100, "", kind)))
    workflow = flow(*chain(100, "", kind)).replace("properties: {", "properties: {step_concurrency: 1000, ")
    instance = flow(*chain(100, "", kind)) + "  instance_step_concurrency: 999\n"
    tagged = flow(*chain(100, TAGS, kind))
    found = [calls_of(workflow), calls_of(instance), calls_of(tagged), calls_of(tagged, most=1)]
    assert found == [plain + Counter(grant=int(kind != "NoOp"))] * 4
    assert plain["commit"] < 10 or kind == "Python"


def wide(count: int) -> list[str]:
    return [work(f"s{n}", more=TAGS) for n in range(count)]


def test_a_limit_that_is_known_refuses_nobody() -> None:
    """Who would exceed the limit that attempts bring along stands in line, without a second try."""
    steps = [work(f"s{n}", more=", tags: [{name: gpu, permit: 2}]") for n in range(6)]
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {f"start s{n}": [GOING_ON] for n in range(6)}
    tank.settle()
    calls = counted(tank, "load_flows")
    run = tank.start(flow(*steps))
    tank.settle()
    assert Counter(tank.steps(run).values()) == {"RUNNING": 2, "WAITING_FOR_PERMITS": 4}
    assert calls["load_flows"] == 1
    for n in range(6):
        fish.report(run, f"s{n}", Done())
        tank.settle()
    assert tank.status(run) == "SUCCEEDED"


def test_who_took_what_is_not_left_decides_again_and_stands_in_line() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {f"start s{n}": [GOING_ON] for n in range(3)}
    tank.settle()
    limit(tank, "gpu", 2)  # which nobody told the node
    calls = counted(tank, "load_flows")
    run = tank.start(flow(*wide(3)))
    tank.settle()
    assert calls["load_flows"] == 2
    assert Counter(tank.steps(run).values()) == {"RUNNING": 2, "WAITING_FOR_PERMITS": 1}


def test_a_limit_that_is_set_while_steps_run_counts_them() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {f"start s{n}": [GOING_ON] for n in range(3)}
    tank.settle()
    first = tank.start(flow(*wide(2)))
    tank.settle()
    limit(tank, "gpu", 2)
    second = tank.start(flow(*wide(2), name="second"))
    tank.settle()
    assert set(tank.steps(second).values()) == {"WAITING_FOR_PERMITS"}
    fish.report(first, "s0", Done())
    tank.settle()  # by a hint: no time passes
    assert Counter(tank.steps(second).values()) == {"RUNNING": 1, "WAITING_FOR_PERMITS": 1}


def at_work(tank: Tank) -> list[tuple[RunKey, str]]:
    rows = tank.database.attempts
    return [(key.run, key.step_id) for key in rows if rows[key].record.status in AT_WORK]


@pytest.mark.parametrize("shared", ["step_concurrency", "tag"])
def test_three_nodes_keep_a_limit_over_eight_runs(shared: str) -> None:
    """Eight runs of six steps, at most four of them at once; all of them go, by hints alone."""
    steps = [work(f"s{n}", more=TAGS if shared == "tag" else "") for n in range(6)]
    text = flow(*steps)
    if shared == "step_concurrency":
        text = text.replace("properties: {", "properties: {step_concurrency: 4, ")
    tank = Tank()
    fishes = [tank.fish() for _ in range(3)]
    for fish in fishes:
        fish.runtime.answers = {f"start s{n}": [GOING_ON] for n in range(6)}
    tank.advance(60_000)
    if shared == "tag":
        limit(tank, "gpu", 4)
    runs = [tank.start(text), *(tank.start_again("flow") for _ in range(7))]
    tank.settle()
    began = tank.clock.millis
    for ended in range(48):
        found = at_work(tank)
        assert len(found) == min(4, 48 - ended)
        run, step_id = min(found)
        owners = [fish for fish in fishes if any(run == key.run for key in fish.runtime.contexts)]
        owners[0].report(run, step_id, Done())
        tank.settle()
    assert {tank.status(run) for run in runs} == {"SUCCEEDED"}
    assert tank.clock.millis == began
    assert len({fish for fish in fishes if fish.runtime.contexts}) > 1


# --------------------------------------------------------------------------------------------- what is known
def test_what_a_node_knows_of_permits() -> None:
    room = PermitRoom()
    assert room.has_room({"x": None, "y": 1}, {})
    assert not room.has_room({"x": None, "y": 1}, {"y": 1})
    room.committed({"x": 1, "y": None})
    assert room.has_room({"x": None}, {})
    room.changed(["x", "unknown"], 1)
    assert not room.has_room({"x": None}, {})
    room.changed(["x"], -1)
    assert room.has_room({"x": None}, {})
    room.waits(["x"])
    assert not room.has_room({"x": None}, {})
    room.looked(["x", "y"], {"x"})
    assert not room.has_room({"x": None}, {})
    room.looked(["x"], ())
    assert room.has_room({"x": None}, {"x": 5})
    room.committed({"x": 5, "y": 5})
    room.committed({"x": None})
    assert room.has_room({"x": None}, {"x": 9})


def test_a_node_forgets_the_tags_that_it_has_not_met_for_long() -> None:
    room = PermitRoom()
    room.committed({f"t{number}": 0 for number in range(MOST_TAGS + 1)})
    assert room.has_room({"t0": None}, {})
    assert not room.has_room({"t1": None}, {})
