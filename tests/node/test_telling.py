"""Lines of the change log about one run are written in their order, also if one of them fails at first."""

from collections.abc import Callable
from typing import Any

from tests.node.tank import GOING_ON, Tank, flow, work

from stretto.engine.records import RunKey
from stretto.model.event import InstanceStatusChanged
from stretto.model.status import RunStatus
from stretto.node.asks import Deal, GiveUp
from stretto.ports.failures import Poison
from stretto.ports.messages import Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.rows import NodeId
from stretto.ports.runtime import Done
from stretto.testing.faults import Moment, interfered

ONE = flow(work("a"), strategy="SEQUENTIAL")
QUEUED = RunKey("queued", 1, 1)
GROUP = 3


class Trouble:
    """A store whose calls fail while they are told to; commits only if they bring lines of the log alone."""

    def __init__(self, tank: Tank) -> None:
        self.left: dict[str, int] = {}
        self.failed: list[str] = []
        self._store = interfered(tank.store, self._interfere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, node: NodeId, parts: Any) -> Any:
        if all(decided.root is None and decided.events for part in parts for decided in part.decisions):
            self._fail("commit of a line")
        elif any(decided.root is None and decided.events for part in parts for decided in part.decisions):
            self._fail("commit with a line")
        return await self._store.commit(node, parts)

    async def _interfere(self, call: str, when: Moment) -> None:
        if when is Moment.BEFORE:
            self._fail(call)

    def _fail(self, call: str) -> None:
        if self.left.get(call, 0):
            self.left[call] -= 1
            self.failed.append(call)
            raise Poison(f"{call} fails")


def told(tank: Tank, run: RunKey) -> list[str]:
    """What the change log says of a run, in its order."""
    log = tank.database.log
    events = [event for at in sorted(log) for event in log[at].events]
    return [
        str(event.new_status)
        for event in events
        if isinstance(event, InstanceStatusChanged)
        and event.workflow_id == run.workflow_id
        and event.workflow_instance_id == run.instance_id
    ]


def send(tank: Tank, *statuses: RunStatus) -> None:
    for status in statuses:
        body = Log(run=QUEUED, status=status, at=1)
        tank.do(tank.store.send(Letter(ref=status.value, to_group=GROUP, body=body)))
    tank.hint([GROUP])


def tank_in(**left: int) -> tuple[Tank, Trouble]:
    tank = Tank()
    trouble = Trouble(tank)
    tank.fish(trouble)
    tank.settle()
    trouble.left.update({name.replace("_", " "): times for name, times in left.items()})
    return tank, trouble


def expect(tank: Tank, holds: Callable[[], bool], seconds: int = 60) -> None:
    for _ in range(seconds):
        tank.advance(1_000)
        if holds():
            return
    raise AssertionError("it does not come to that")


CREATED, STOPPED = RunStatus.CREATED, RunStatus.STOPPED


def test_a_line_that_fails_is_not_overtaken_by_the_next_one_about_its_run() -> None:
    tank, trouble = tank_in(runs=3)
    send(tank, CREATED, STOPPED)
    expect(tank, lambda: len(told(tank, QUEUED)) == 2)
    assert told(tank, QUEUED) == ["CREATED", "STOPPED"]
    assert trouble.failed == ["runs"] * 3


def test_nor_is_one_that_comes_while_it_waits() -> None:
    tank, _trouble = tank_in(runs=3)
    send(tank, CREATED)
    tank.settle()
    send(tank, STOPPED)
    expect(tank, lambda: len(told(tank, QUEUED)) == 2)
    assert told(tank, QUEUED) == ["CREATED", "STOPPED"]


def test_lines_about_other_runs_go_on_meanwhile() -> None:
    tank, _trouble = tank_in(runs=1)
    send(tank, CREATED)
    other = Log(run=RunKey("other", 1, 1), status=CREATED, at=1)
    tank.do(tank.store.send(Letter(ref="other", to_group=GROUP, body=other)))
    tank.settle()
    assert told(tank, RunKey("other", 1, 1)) == ["CREATED"]
    assert told(tank, QUEUED) == []


def test_a_run_is_not_told_to_go_on_before_its_first_line_is_stored() -> None:
    """It was queued, and let go before the owner of its group came to write that down."""
    tank, trouble = tank_in()
    fish = tank.fishes[0]
    fish.runtime.answers["start a"] = [GOING_ON, Done()]
    first = tank.start(ONE)
    tank.advance(5_000)
    fish.held = lambda ask: isinstance(ask, Deal)
    second = tank.start_again("flow")
    tank.settle()
    fish.report(first, "a", Done())
    tank.advance(5_000)
    assert (tank.status(first), tank.status(second)) == ("SUCCEEDED", "CREATED")
    trouble.left.update({"commit with a line": 1, "commit of a line": 1})
    fish.let_go()
    expect(tank, lambda: tank.status(second) == "SUCCEEDED")
    assert trouble.failed == ["commit with a line", "commit of a line"]
    assert told(tank, second) == ["CREATED", "IN_PROGRESS", "SUCCEEDED"]


def test_a_line_that_can_not_be_put_off_either_is_fetched_again_with_those_behind_it() -> None:
    tank, _trouble = tank_in(runs=5, postpone=1)
    send(tank, CREATED, STOPPED)
    expect(tank, lambda: len(told(tank, QUEUED)) == 2, 120)
    assert told(tank, QUEUED) == ["CREATED", "STOPPED"]


def test_only_one_that_was_put_off_lets_others_pass() -> None:
    tank, _trouble = tank_in(runs=5)
    send(tank, CREATED, STOPPED)
    expect(tank, lambda: len(told(tank, QUEUED)) == 2, 120)
    assert told(tank, QUEUED) == ["STOPPED", "CREATED"]
    assert not tank.do(tank.store.parked_messages(Cut())).elements


def test_nobody_tries_on_for_a_group_that_was_given_up() -> None:
    tank, trouble = tank_in(runs=1)
    send(tank, CREATED)
    tank.settle()
    assert trouble.failed == ["runs"]
    tank.fishes[0].node.stop()
    heir = tank.fish()
    expect(tank, lambda: told(tank, QUEUED) == ["CREATED"])
    assert GROUP in heir.node.groups


def test_nor_while_it_is_being_given_up() -> None:
    """The next owner may have it before the answer comes: whatever is stored then is stored by a stranger."""
    tank, trouble = tank_in(runs=1)
    fish = tank.fishes[0]
    send(tank, CREATED)
    tank.settle()
    assert trouble.failed == ["runs"]
    fish.held = lambda ask: isinstance(ask, GiveUp)
    fish.node.stop()
    tank.advance(5_000)
    assert fish.holding
    assert told(tank, QUEUED) == []
    fish.let_go()
    tank.fish()
    expect(tank, lambda: told(tank, QUEUED) == ["CREATED"])
