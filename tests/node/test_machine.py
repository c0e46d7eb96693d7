"""A node on the memory store, step by step: what it does when all is well, and when something is not."""

from typing import Any

import msgspec
import pytest
from tests.node.tank import GOING_ON, Fish, Tank, finished, flow, work

from stretto.actions.parts.messages import act_on
from stretto.engine.events import RunActed, RunAction, StepActed
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.actions import StepAction
from stretto.model.errors import Unavailable
from stretto.node.asks import Commit, FetchMail, LoadRuns
from stretto.node.group import GroupState
from stretto.ports.failures import OutcomeUnknown, Poison, Stale
from stretto.ports.messages import Kind, Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS, group_of_run
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.runtime import Continue, Done, UserError
from stretto.ports.store import Store
from stretto.testing.faults import Moment, interfered

CHAIN = flow(work("a", "b"), work("b"))
ONE = flow(work("a"))


class Faults:
    """A store whose calls fail when they are told to."""

    def __init__(self, tank: Tank) -> None:
        self.planned: dict[tuple[str, Moment], list[Exception]] = {}
        self.store: Store = interfered(tank.store, self._interfere)

    def plan(self, call: str, *errors: Exception, moment: Moment = Moment.BEFORE) -> None:
        self.planned.setdefault((call, moment), []).extend(errors)

    async def _interfere(self, call: str, moment: Moment) -> None:
        errors = self.planned.get((call, moment))
        if errors:
            raise errors.pop(0)


def act(tank: Tank, run: RunKey, action: RunAction) -> int:
    event = RunActed(run=run, action=action, user="ann")
    number: int = tank.do(tank.store.send(act_on(tank.row(run).group, event)))
    return number


def outcome(tank: Tank, number: int) -> Any:
    return tank.do(tank.store.outcome(number))


# ------------------------------------------------------------------------------------------------- all well
def test_a_run_goes_from_start_to_end() -> None:
    tank = Tank()
    fish = tank.fish()
    run = tank.settle().start(CHAIN)
    tank.settle()
    assert tank.status(run) == "SUCCEEDED"
    assert fish.runtime.calls == [("start", "a", 1), ("start", "b", 1)]
    assert not tank.group_of(fish, run).entries


def test_a_run_that_was_admitted_here_is_not_looked_for() -> None:
    tank = Tank()
    fish = tank.fish()
    tank.settle().start(CHAIN)
    tank.settle()
    fish.held = lambda ask: isinstance(ask, FetchMail)
    run = tank.start_again("flow")
    tank.settle()
    assert tank.status(run) == "SUCCEEDED"
    assert fish.holding == []  # nobody has asked


def test_a_run_that_is_set_aside_is_not_launched_because_somebody_names_it() -> None:
    tank = Tank()
    fish = tank.fish()
    run = tank.settle().start(ONE)
    group = fish.node.groups[group_of_run(run)]
    group.entries.clear()
    group.aside[run] = []
    fish.node.hinted([group.number], [run])
    assert run not in group.entries
    group.aside.clear()
    group.state = GroupState.LOADING
    fish.node.hinted([group.number], [run])
    assert run not in group.entries  # what is in the group is read in any case
    group.state = GroupState.READY
    fish.node.hinted([group.number], [run, RunKey("nobody's", 1, 1)])
    assert run in group.entries


def test_work_reports_by_itself() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    assert tank.steps(run) == {"a": "RUNNING"}
    fish.report(run, "a", Done())
    fish.report(run, "a", UserError(message="too late"))  # a second answer does not count
    tank.settle()
    assert tank.status(run) == "SUCCEEDED"


def test_work_is_polled() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [Continue(after=5_000)]
    fish.runtime.answers["execute a"] = [Continue(after=5_000), Done()]
    run = tank.settle().start(ONE)
    tank.advance(6_000)
    assert tank.steps(run) == {"a": "RUNNING"}
    tank.advance(6_000)
    assert tank.status(run) == "SUCCEEDED"
    assert [verb for verb, _, _ in fish.runtime.calls] == ["start", "execute", "execute"]


def test_a_sleeping_run_leaves_memory_and_comes_back() -> None:
    tank = Tank()
    fish = tank.fish()
    run = tank.settle().start(
        flow("{id: nap, type: Sleep, params: {sleep_seconds: {value: 3600, type: LONG}}}")
    )
    tank.advance(10_000)
    group = tank.group_of(fish, run)
    assert list(group.parked) == [run]
    assert not group.entries
    tank.advance(3_600_000)
    assert tank.status(run) == "SUCCEEDED"


def test_actions_are_answered_and_refused() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    pause = act(tank, run, RunAction.PAUSE)
    tank.advance(3_000)
    assert outcome(tank, pause).applied
    bad = StepActed(attempt=AttemptKey(run, "zzz", 0), action=StepAction.KILL, user="ann")
    number = tank.do(tank.store.send(act_on(tank.row(run).group, bad)))
    tank.advance(3_000)
    assert outcome(tank, number).applied is False
    assert "no step zzz" in outcome(tank, number).message
    kill = act(tank, run, RunAction.KILL)
    tank.advance(3_000)
    assert outcome(tank, kill).applied
    assert tank.status(run) == "FAILED"
    assert ("terminate", "a", 1) in fish.runtime.calls
    late = act(tank, run, RunAction.KILL)
    tank.advance(3_000)
    assert outcome(tank, late).applied is False
    assert "has ended" in outcome(tank, late).message


# ------------------------------------------------------------------------------------------ several nodes
def test_nodes_share_the_groups_and_hand_over() -> None:
    tank = Tank()
    one = tank.fish()
    tank.settle()
    assert len(one.node.groups) == GROUPS
    two = tank.fish()
    tank.advance(60_000)
    assert (len(one.node.groups), len(two.node.groups)) == (64, 64)
    one.node.stop()
    tank.advance(20_000)
    assert one.node.gone
    assert len(two.node.groups) == GROUPS
    assert [row.node for row in tank.do(tank.store.nodes())] == [two.node.id]


@pytest.mark.parametrize("freed", [[7], [3, 7], list(range(64))])
def test_groups_that_somebody_frees_without_a_word_have_one_owner_again(freed: list[int]) -> None:
    """Nothing happens in them, so that no commit is refused."""
    tank = Tank()
    one = tank.fish()
    tank.settle()
    two = tank.fish()
    tank.advance(60_000)
    mine = [group.lease for group in one.node.groups.values()][: len(freed)]
    tank.do(tank.store.give_up(one.node.id, mine))
    tank.advance(60_000)
    believed = {fish.node.id: set(fish.node.groups) for fish in (one, two)}
    owners = {row.group: row.owner for row in tank.do(tank.store.groups())}
    assert believed == {
        node: {group for group, owner in owners.items() if owner == node} for node in believed
    }
    assert sum(map(len, believed.values())) == GROUPS


def test_a_result_travels_to_the_new_owner() -> None:
    tank = Tank()
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    two = tank.fish()
    one.node.stop()
    tank.advance(10_000)
    assert len(two.node.groups) == GROUPS
    assert not one.node.gone  # its work goes on
    assert two.runtime.calls == []  # and is not done twice
    one.report(run, "a", Done())
    tank.advance(5_000)
    assert tank.status(run) == "SUCCEEDED"
    assert one.node.gone


def test_a_stopping_node_ends_what_takes_too_long() -> None:
    tank = Tank(stop_within=5_000)
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    two = tank.fish()
    one.node.stop()
    tank.advance(10_000)
    assert one.node.gone
    assert ("terminate", "a", 1) in one.runtime.calls
    tank.advance(10_000)
    assert tank.status(run) == "SUCCEEDED"
    assert [call[:2] for call in two.runtime.calls] == [("start", "a")]


def test_another_node_takes_over_after_a_crash() -> None:
    tank = Tank()
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(CHAIN)
    tank.settle()
    tank.crash(one)
    begun = tank.clock.millis
    two = tank.fish()
    tank.advance(15_000)
    assert len(two.node.groups) == GROUPS
    assert tank.clock.millis - begun <= 15_000
    assert tank.status(run) == "SUCCEEDED"
    assert two.runtime.calls[0][2] > 1  # a launch of a newer generation
    assert any(line.startswith("node_buried") for line in two.seen.lines)


def test_work_outside_is_asked_for_again_under_the_same_launch() -> None:
    tank = Tank()
    one = tank.fish()
    one.far.answers["start a"] = [Continue(after=1_000_000)]
    run = tank.settle().start(flow(work("a", kind="Shell")))
    tank.settle()
    tank.crash(one)
    two = tank.fish()
    tank.advance(20_000)
    assert tank.status(run) == "SUCCEEDED"
    assert two.far.calls == [("execute", "a", 1)]


def test_work_outside_that_was_not_known_to_be_started_is_started_again() -> None:
    tank = Tank()
    one = tank.fish()
    one.held = lambda ask: type(ask).__name__ == "CallRuntime"
    run = tank.settle().start(flow(work("a", kind="Shell")))
    tank.settle()
    tank.crash(one)
    two = tank.fish()
    tank.advance(20_000)
    assert tank.status(run) == "SUCCEEDED"
    assert two.far.calls == [("start", "a", 1)]


def test_work_of_another_node_is_ended_there() -> None:
    tank = Tank()
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    two = tank.fish()
    one.node.stop()
    tank.advance(10_000)
    kill = act(tank, run, RunAction.KILL)
    tank.advance(10_000)
    assert outcome(tank, kill).applied
    assert tank.status(run) == "FAILED"
    assert one.runtime.calls[-1] == ("terminate", "a", 1)
    assert two.runtime.calls == []


def test_nodes_are_asked_whether_they_still_do_the_work() -> None:
    tank = Tank(stop_within=1_000_000)
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    two = tank.fish()
    one.node.stop()
    tank.advance(70_000)
    assert tank.steps(run) == {"a": "RUNNING"}  # it was asked, and knows
    one.node._jobs._jobs.clear()
    tank.advance(70_000)
    assert tank.status(run) == "SUCCEEDED"
    assert [call[:2] for call in two.runtime.calls] == [("start", "a")]


def test_who_was_buried_begins_anew() -> None:
    tank = Tank()
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    tank.settle().start(ONE)
    tank.settle()
    before = one.node.id
    row = tank.do(tank.store.nodes())[0]
    tank.do(tank.store.bury(before, row.beats, expired=False))
    tank.advance(20_000)
    assert one.node.id != before
    assert len(one.node.groups) == GROUPS
    assert ("terminate", "a", 1) in one.runtime.calls
    assert one.runtime.calls[-1][:2] == ("start", "a")


# ------------------------------------------------------------------------------------------ a faulty store
@pytest.fixture
def faulty() -> tuple[Tank, Faults, Fish]:
    tank = Tank()
    faults = Faults(tank)
    return tank, faults, tank.fish(faults.store)


def test_a_store_that_is_away_only_costs_time(faulty: tuple[Tank, Faults, Fish]) -> None:
    tank, faults, fish = faulty
    tank.settle()
    for call in ("commit", "fetch", "load_flows", "beat", "grant"):
        faults.plan(call, *[Unavailable("away")] * 3)
    run = tank.start(CHAIN)
    tank.advance(20_000)
    assert tank.status(run) == "SUCCEEDED"
    assert any(line.startswith("store_failed") for line in fish.seen.lines)


@pytest.mark.parametrize("moment", list(Moment))
def test_a_commit_of_unknown_outcome(faulty: tuple[Tank, Faults, Fish], moment: Moment) -> None:
    tank, faults, fish = faulty
    run = tank.settle().start(CHAIN)
    faults.plan("commit", OutcomeUnknown("?"), OutcomeUnknown("?"), moment=moment)
    tank.advance(20_000)
    assert tank.status(run) == "SUCCEEDED"
    assert len(fish.node.groups) == GROUPS
    assert tank.group_of(fish, run).lease.generation > 1


@pytest.mark.parametrize("call", ["claim", "claim_again", "join", "load_groups", "groups"])
@pytest.mark.parametrize("moment", list(Moment))
def test_claims_whose_answer_is_lost(call: str, moment: Moment) -> None:
    tank = Tank()
    faults = Faults(tank)
    faults.plan(call, OutcomeUnknown("?"), moment=moment)
    fish = tank.fish(faults.store)
    if call == "claim_again":
        run = tank.settle().start(ONE)
        faults.plan("commit", OutcomeUnknown("?"))
    tank.advance(40_000)
    assert len(fish.node.groups) == GROUPS
    run = tank.start_again("flow") if call == "claim_again" else tank.start(ONE)
    tank.advance(5_000)
    assert tank.status(run) == "SUCCEEDED"


class Unreadable:
    """One group can not be read, and with it none that are read together with it."""

    def __init__(self, tank: Tank, group: int) -> None:
        self.group: int | None = group
        self.asked: list[int] = []  # how many groups at once
        self._store = tank.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def load_groups(self, groups: Any) -> Any:
        self.asked.append(len(groups))
        if self.group in groups:
            raise ValueError("broken")
        return await self._store.load_groups(groups)


def test_a_group_that_can_not_be_read_does_not_keep_the_others() -> None:
    tank = Tank()
    store = Unreadable(tank, 7)
    fish = tank.fish(store)
    tank.settle()
    assert store.asked == [GROUPS, *[1] * GROUPS]  # all at once; then each alone
    waiting = [group.number for group in fish.node.groups.values() if group.state is GroupState.LOADING]
    assert waiting == [7]
    store.group = None
    tank.advance(60_000)
    assert all(group.state is GroupState.READY for group in fish.node.groups.values())


def test_all_groups_are_read_and_swept_at_once() -> None:
    tank = Tank()
    store = Unreadable(tank, -1)
    fish = tank.fish(store)
    swept: list[int] = []
    queues: Any = fish.performer.queues
    sweep = queues.sweep

    async def counted(groups: Any, now: int) -> Any:
        swept.append(len(groups))
        return await sweep(groups, now)

    queues.sweep = counted
    tank.settle()
    assert (store.asked, swept) == ([GROUPS], [GROUPS])


def test_stale_rows_are_loaded_again(faulty: tuple[Tank, Faults, Fish]) -> None:
    tank, faults, fish = faulty
    run = tank.settle().start(CHAIN)
    other = tank.start_again("flow")
    faults.plan("commit", Stale("moved on", (tank.row(run).group,)), Stale("all of it"))
    tank.advance(5_000)
    assert (tank.status(run), tank.status(other)) == ("SUCCEEDED", "SUCCEEDED")
    assert fish.seen.lines


class Picky:
    """Refuses commits that have something in them."""

    def __init__(self, tank: Tank, word: str) -> None:
        self.word = word
        self.refused = 0
        self._store = tank.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, node: NodeId, parts: Any) -> Any:
        if self.word in repr(parts):
            self.refused += 1
            raise Poison("a value is refused\0" + "x" * 1_000)
        return await self._store.commit(node, parts)


def test_poison_fails_the_step_that_brought_it_and_no_other() -> None:
    tank = Tank()
    store = Picky(tank, "p0is0n")
    fish = tank.fish(store)
    fish.runtime.answers["start a"] = [UserError(message="p0is0n"), Done()]
    tank.settle()
    runs = [tank.start(ONE)]
    runs += [tank.start_again("flow") for _ in range(9)]
    tank.advance(5_000)
    assert store.refused
    statuses = [tank.status(run) for run in runs]
    assert sorted(statuses) == ["FAILED", *["SUCCEEDED"] * 9]
    bad = runs[statuses.index("FAILED")]
    assert tank.steps(bad) == {"a": "INTERNALLY_FAILED"}
    (row,) = tank.do(tank.store.attempts(NewestAttempts((bad,))))
    text = row.record.timeline[-1].message
    assert "can not be stored: a value is refusedxxx" in text
    assert len(text) < 500  # the error may hold the very value that can not be stored


def test_a_poisonous_action_is_refused() -> None:
    tank = Tank()
    store = Picky(tank, "p0is0n")
    fish = tank.fish(store)
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(ONE)
    tank.settle()
    event = RunActed(run=run, action=RunAction.KILL, user="p0is0n")
    number = tank.do(tank.store.send(act_on(tank.row(run).group, event)))
    tank.advance(5_000)
    assert outcome(tank, number).applied is False
    fish.report(run, "a", Done())
    tank.advance(5_000)
    assert tank.status(run) == "SUCCEEDED"


def test_a_run_that_can_not_be_stored_at_all_is_set_aside() -> None:
    tank = Tank()
    fish = tank.fish(Picky(tank, "'flow'"))
    bad = tank.settle().start(ONE)
    good = tank.start(flow(work("a"), name="other"))
    tank.advance(60_000)
    assert tank.status(good) == "SUCCEEDED"
    assert tank.status(bad) == "CREATED"
    assert any(line.startswith("run_quarantined") for line in fish.seen.lines)


def test_a_message_that_can_not_be_dealt_with_is_parked(faulty: tuple[Tank, Faults, Fish]) -> None:
    tank, faults, fish = faulty
    run = tank.settle().start(ONE)
    tank.settle()
    faults.plan("runs", *[ValueError("broken")] * 20)
    body = Log(run=run, status=tank.row(run).record.status, at=1)
    tank.do(tank.store.send(Letter(ref="x", to_group=tank.row(run).group, body=body)))
    tank.advance(120_000)
    (parked,) = tank.do(tank.store.parked_messages(Cut())).elements
    assert (parked.body.kind, parked.parked) == (Kind.LOG, "broken")
    assert any(line.startswith("message_parked") for line in fish.seen.lines)


def test_a_run_that_can_not_be_loaded_is_set_aside(faulty: tuple[Tank, Faults, Fish]) -> None:
    tank, faults, fish = faulty
    tank.settle()
    faults.plan("load_flows", *[ValueError("broken")] * 9)
    run = tank.start(ONE)
    tank.advance(60_000)
    assert tank.status(run) == "CREATED"
    assert any("can not be loaded" in line for line in fish.seen.lines)


# --------------------------------------------------------------------------------------------- quarantine
def test_a_run_that_is_let_out_while_it_is_read() -> None:
    """What was read still says that it is set aside; it goes on all the same, with what came for it."""
    tank = Tank(park_after=1_000)
    fish = tank.fish()
    run = tank.settle().start(
        flow("{id: nap, type: Sleep, params: {sleep_seconds: {value: 600, type: LONG}}}")
    )
    tank.settle().advance(60_000)
    assert run in tank.group_of(fish, run).parked
    with tank.database.transaction():
        tank.database.runs.put(run, msgspec.structs.replace(tank.row(run), quarantined="owners died"))
    fish.held = lambda ask: isinstance(ask, LoadRuns)
    number = act(tank, run, RunAction.PAUSE)
    tank.advance(5_000)
    (ask,) = fish.holding
    stale = finished(fish.performer.answer(ask))
    fish.held, fish.holding = lambda _ask: False, []
    assert tank.do(tank.store.release_run(run))
    tank.advance(5_000)
    fish.node.answered(ask, stale)
    tank.advance(5_000)
    assert outcome(tank, number) is not None
    assert tank.row(run).record.paused
    assert not tank.group_of(fish, run).aside


def test_without_trust_nothing_is_committed() -> None:
    tank = Tank()
    faults = Faults(tank)
    fish = tank.fish(faults.store)
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(CHAIN)
    tank.settle()
    faults.plan("beat", *[Unavailable("away")] * 30)
    tank.advance(9_000)
    fish.report(run, "a", Done())
    fish.held = lambda ask: isinstance(ask, Commit)
    tank.advance(500)
    assert not fish.holding
    fish.held = lambda _ask: False
    tank.advance(30_000)  # the beat is heard again, and nothing was lost
    assert tank.status(run) == "SUCCEEDED"
    assert [call[:2] for call in fish.runtime.calls] == [("start", "a"), ("start", "b")]


def test_groups_that_leave_finish_what_they_have_begun() -> None:
    tank = Tank()
    one = tank.fish()
    tank.settle().start(ONE)
    tank.advance(5_000)
    one.held = lambda ask: isinstance(ask, Commit)
    run = tank.start_again("flow")
    tank.settle()
    group = tank.group_of(one, run)
    tank.fish()
    one.node.stop()
    tank.advance(4_000)
    assert group.state is GroupState.LEAVING
    assert list(one.node.groups) == [group.number]  # all others are gone already
    one.let_go()
    tank.advance(20_000)
    assert one.node.gone
    assert tank.status(run) == "SUCCEEDED"
