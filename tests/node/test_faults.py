"""Faults of our own, and values that can not be stored: they harm one step, or one run, and end."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.node.tank import GOING_ON, Tank, flow, work

from stretto.actions.parts.messages import act_on
from stretto.engine import events as happened
from stretto.engine.decide import decide
from stretto.engine.records import AttemptKey, RunKey
from stretto.node import decider
from stretto.node.asks import Ask, Carry, Commit, Deal
from stretto.node.committer import MOST_BLAME
from stretto.node.entry import Item
from stretto.ports.failures import Poison, Stale
from stretto.ports.messages import Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import InstancePage
from stretto.ports.runtime import Continue, Done, Stopped
from stretto.testing.faults import Moment, interfered

ONE = flow(work("a"))


def broken_for(monkeypatch: pytest.MonkeyPatch, bad: Callable[[Any], bool]) -> None:
    """Some events can not be decided."""

    def sometimes(flow: Any, event: Any, now: int) -> Any:
        if bad(event):
            raise RuntimeError("broken")
        return decide(flow, event, now)

    monkeypatch.setattr(decider, "decide", sometimes)


def act(tank: Tank, run: RunKey, action: happened.RunAction) -> int:
    event = happened.RunActed(run=run, action=action, user="ann")
    number: int = tank.do(tank.store.send(act_on(tank.row(run).group, event)))
    tank.hint([tank.row(run).group])
    tank.settle()
    return number


def test_a_fault_is_stored_with_the_message_that_brought_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a crash between the two would lose both."""
    tank = Tank(events_per_turn=1)
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    broken_for(monkeypatch, lambda event: isinstance(event, happened.RunActed))
    before = sum(line.startswith("committed") for line in fish.seen.lines)
    number = act(tank, run, happened.RunAction.STOP)
    outcome = tank.do(tank.store.outcome(number))
    assert (outcome.applied, outcome.message) == (False, "internal error: RuntimeError: broken")
    assert any(line.startswith("decision_failed") for line in fish.seen.lines)
    assert tank.status(run) == "FAILED"
    assert sum(line.startswith("committed") for line in fish.seen.lines) == before + 2  # and the work's end


def test_work_that_is_being_ended_is_over_when_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault while it goes on is no answer."""
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    fish.runtime.answers["terminate a"] = [Continue(after=5_000), Stopped()]
    run = tank.settle().start(ONE)
    tank.settle()
    act(tank, run, happened.RunAction.STOP)
    tank.advance(100)
    broken_for(
        monkeypatch, lambda event: isinstance(event, happened.Reported) and not event.state.is_terminal
    )
    fish.report(run, "a", GOING_ON)
    tank.advance(100)
    assert tank.steps(run) == {"a": "RUNNING"}
    tank.advance(10_000)
    assert tank.steps(run) == {"a": "STOPPED"}


def test_an_answer_that_can_not_be_decided_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    broken_for(monkeypatch, lambda event: isinstance(event, happened.Reported))
    act(tank, run, happened.RunAction.STOP)
    tank.advance(1_000)
    assert tank.steps(run) == {"a": "STOPPED"}


def test_who_is_blamed_again_and_again_takes_its_run_with_it() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    group = tank.group_of(fish, run)
    entry = group.entries[run]
    attempt = AttemptKey(run, "a", 1)
    for times in range(MOST_BLAME + 1):
        fish.node._committer._punish(group, entry, Item(happened.Resumed(attempt=attempt)), "no")
        blamed = entry.inbox.popleft().event
        assert isinstance(blamed, happened.RunFaulted if times == MOST_BLAME else happened.Faulted)
    fresh = fish.node._loader.again(group, entry)
    assert fresh.blamed == {attempt: MOST_BLAME + 1}  # it is not forgotten when the run is loaded again


PARENT = flow("{}", name="parent").replace(
    "step: {}", "subworkflow: {id: s, sync: false, params: {subworkflow_id: {value: kid, type: STRING}}}"
)


@pytest.mark.parametrize("there", [False, True])
def test_a_child_that_could_not_be_started_is_looked_for(there: bool) -> None:
    """The step lets its child alone, but must know whether there is one before it ends."""
    tank = Tank()
    moment = Moment.AFTER if there else Moment.BEFORE
    broken: list[str] = []

    async def interfere(call: str, when: Moment) -> None:
        if call == "transact" and when is moment and broken:
            raise RuntimeError(broken.pop())

    fish = tank.fish(interfered(tank.store, interfere))
    tank.settle().start(flow(work("a"), name="kid"))
    tank.settle()
    broken.append("broken")
    run = tank.start(PARENT)
    tank.advance(5_000)
    assert not broken
    assert tank.steps(run) == {"s": "INTERNALLY_FAILED"}
    children = tank.do(tank.store.runs(InstancePage("kid", Cut()))).elements
    assert len(children) == (2 if there else 1)
    assert not tank.group_of(fish, run).entries


class Moody:
    """A store that refuses commits, and takes them again."""

    def __init__(self, tank: Tank) -> None:
        self.refuses = True
        self._store = tank.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, node: NodeId, parts: Any) -> Any:
        if self.refuses:
            raise RuntimeError("a bug")
        return await self._store.commit(node, parts)


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_that_was_set_aside_is_tried_again(kept: bool) -> None:
    """Its row does not say that it is set aside: nobody could let it out."""
    tank = Tank()
    store = Moody(tank)
    fish = tank.fish(store)
    run = tank.settle().start(ONE)
    tank.advance(1_000)
    assert any(line.startswith("run_quarantined") for line in fish.seen.lines)
    assert (tank.status(run), tank.row(run).quarantined) == ("CREATED", None)
    store.refuses = False
    if not kept:  # the next owner has loaded it long ago
        fish.node.stop()
        tank.fish()
    tank.advance(10_000)
    assert (tank.status(run) == "CREATED") is kept
    tank.advance(60_000)
    assert tank.status(run) == "SUCCEEDED"


@pytest.mark.parametrize("sync", ["true", "false"])
def test_who_waits_for_its_child_waits_for_the_end_of_it(monkeypatch: pytest.MonkeyPatch, sync: str) -> None:
    """Also if it could not be decided that the child has begun. Who lets it alone knows enough."""
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    tank.settle().start(flow(work("a"), name="kid"))
    tank.settle()
    fish.held = lambda ask: isinstance(ask, Carry)
    run = tank.start(PARENT.replace("sync: false", f"sync: {sync}"))
    tank.settle()
    act(tank, run, happened.RunAction.STOP)
    assert tank.steps(run) == {"s": "RUNNING"}
    broken_for(monkeypatch, lambda event: isinstance(event, happened.ChildStarted))
    fish.let_go()
    tank.advance(1_000)
    child = RunKey("kid", 2, 1)
    assert tank.steps(run) == {"s": "RUNNING" if sync == "true" else "STOPPED"}
    fish.report(child, "a", Done())
    tank.advance(5_000)
    assert tank.steps(run) == {"s": "STOPPED"}
    assert tank.status(child) == "SUCCEEDED"


@pytest.mark.parametrize("always", [True, False])
@pytest.mark.parametrize("kind", [happened.ChildStarted, happened.ChildEnded])
@pytest.mark.parametrize("sync", ["true", "false"])
def test_news_of_a_child_that_can_not_be_decided_end_its_step(
    monkeypatch: pytest.MonkeyPatch, sync: str, kind: type, always: bool
) -> None:
    """They come once: what the end of the step waits for is in them."""
    tank = Tank()
    tank.fish()
    tank.settle().start(flow(work("a"), name="kid"))
    tank.settle()
    times = [99 if always else 1]

    def bad(event: Any) -> bool:
        times[0] -= isinstance(event, kind)
        return isinstance(event, kind) and times[0] >= 0

    broken_for(monkeypatch, bad)
    run = tank.start(PARENT.replace("sync: false", f"sync: {sync}"))
    tank.advance(5_000)
    heard = sync == "true" or kind is happened.ChildStarted
    assert tank.steps(run) == {"s": "INTERNALLY_FAILED" if heard else "SUCCEEDED"}
    assert tank.status(RunKey("kid", 2, 1)) in {"SUCCEEDED", "STOPPED"}


@pytest.mark.parametrize("sync", ["true", "false"])
def test_a_start_that_goes_wrong_while_its_step_is_being_ended_leaves_no_orphan(sync: str) -> None:
    tank = Tank()
    broken: list[str] = []

    async def interfere(call: str, when: Moment) -> None:
        if call == "transact" and when is Moment.AFTER and broken:
            raise RuntimeError(broken.pop())

    fish = tank.fish(interfered(tank.store, interfere))
    fish.runtime.answers["start a"] = [GOING_ON]
    tank.settle().start(flow(work("a"), name="kid"))
    tank.settle()
    fish.held = lambda ask: isinstance(ask, Carry)
    run = tank.start(PARENT.replace("sync: false", f"sync: {sync}"))
    tank.settle()
    act(tank, run, happened.RunAction.STOP)
    broken.append("broken")
    fish.let_go()
    tank.advance(5_000)
    assert not broken
    assert tank.steps(run) == {"s": "STOPPED"}
    assert tank.status(RunKey("kid", 2, 1)) == ("STOPPED" if sync == "true" else "IN_PROGRESS")


class Refusing:
    """A store that refuses what becomes of one run, so many times."""

    def __init__(self, tank: Tank) -> None:
        self.about: RunKey | None = None
        self.left = 0
        self._store = tank.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, node: NodeId, parts: Any) -> Any:
        if self.left and self.about in {each.root for part in parts for each in part.decisions}:
            self.left -= 1
            raise Poison("broken")
        return await self._store.commit(node, parts)


@pytest.mark.parametrize("times", [1, MOST_BLAME, MOST_BLAME + 1])
def test_a_child_is_ended_before_its_step_also_if_news_of_it_could_not_be_stored(times: int) -> None:
    """Its step is being ended, and asks for the child: that there is one can not be stored at first. Who can
    never store it ends at last, and the child is ended all the same.
    """
    tank = Tank()
    child = RunKey("kid", 2, 1)
    store = Refusing(tank)
    fish = tank.fish(store)
    fish.runtime.answers["start a"] = [GOING_ON]
    tank.settle().start(flow(work("a"), name="kid"))
    tank.settle()
    fish.held = lambda ask: isinstance(ask, Carry)
    run = tank.start(PARENT.replace("sync: false", "sync: true"))
    tank.settle()
    act(tank, run, happened.RunAction.STOP)
    store.about, store.left = run, times
    fish.let_go()
    for _ in range(50):
        tank.advance(100)
        if times <= MOST_BLAME and tank.steps(run) == {"s": "STOPPED"}:
            assert tank.status(child) == "STOPPED"
    assert store.left == 0
    assert tank.steps(run) == {"s": "STOPPED"}
    assert tank.status(child) == "STOPPED"


@pytest.mark.parametrize("beside", [True, False])
def test_a_line_for_the_log_keeps_its_place_when_a_run_beside_it_is_stale(beside: bool) -> None:
    """It is sent again as it is; only if nothing else can be to blame, it is fetched again."""
    tank = Tank()
    stale: list[str] = []

    async def interfere(call: str, when: Moment) -> None:
        if call == "commit" and when is Moment.BEFORE and stale:
            raise Stale(stale.pop())

    fish = tank.fish(interfered(tank.store, interfere))
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    asked: list[Ask] = []
    group = tank.row(run).group

    def line(ref: str, about: RunKey = run) -> None:
        tank.do(tank.store.send(Letter(ref=ref, to_group=group, body=Log(run=about, status=None, at=1))))
        tank.hint([group])
        tank.settle()

    fish.held = lambda ask: isinstance(ask, Commit)
    line("first", RunKey("other", 1, 1))  # while it is on its way, what follows gathers
    line("second")
    if beside:
        fish.report(run, "a", Done())
        tank.settle()
    fish.let_go()
    fish.held = lambda ask: bool(asked.append(ask))  # type: ignore[func-returns-value]
    stale.append("moved on")
    tank.advance(3_000)
    assert not stale
    assert len([ask for ask in asked if isinstance(ask, Deal)]) == (0 if beside else 1)
    assert not tank.do(tank.store.fetch(fish.node.id, range(GROUPS))).messages
    assert (tank.status(run) == "SUCCEEDED") is beside
