"""Nodes that know different functions: a launch goes to one that knows its function, or waits for one."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.node.tank import ANN, GOING_ON, Fish, Scripted, Tank, flow, work

from stretto.actions.reading.why import why_run, why_step
from stretto.engine.events import StepActed
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.param import Parameter
from stretto.model.step import AnyStep
from stretto.node.asks import Ask, Commit, FetchMail, ReadAdvertised, Withdraw
from stretto.node.settings import NodeSettings
from stretto.ports.messages import Act, Kind, Letter
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.runtime import Done


class Knowing(Scripted):
    """A runtime that knows some functions; a step calls the function that has its id."""

    def __init__(self, *functions: str) -> None:
        super().__init__()
        self.functions = frozenset(functions)

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:  # noqa: ARG002
        return () if step.id in self.functions else (step.id,)


class Sea(Tank):
    """A tank for fishes that know functions."""

    def knowing(self, *functions: str) -> Fish:
        made = Fish(self, len(self.fishes) + 1, self.settings, self.store, Knowing(*functions))
        self.fishes.append(made)
        return made

    def teach(self, fish: Fish, *functions: str) -> None:
        """A process registers functions while it runs."""
        assert isinstance(fish.runtime, Knowing)
        fish.runtime.functions |= set(functions)
        if self.do(fish.performer.advertise()):
            fish.node.functions_changed()

    def messages(self, kind: Kind) -> list[Any]:
        rows = (self.database.messages[number] for number in self.database.messages)
        return [row for row in rows if row.body.kind is kind]

    def act(self, run: RunKey, step_id: str, action: StepAction) -> None:
        """A user asks for something; nobody waits for what becomes of it."""
        event = StepActed(attempt=AttemptKey(run, step_id, 0), action=action, user="ann")
        letter = Letter(ref="act", to_group=self.row(run).group, body=Act(step=event))
        self.do(self.store.send(letter))

    def runs_on(self, run: RunKey, step_id: str) -> str | None:
        rows = self.do(self.store.attempts(NewestAttempts((run,))))
        (found,) = [row.runs_on for row in rows if row.key.step_id == step_id]
        return None if found is None else str(found)


def owned(one: str = "a", other: str = "b", **settings: Any) -> tuple[Sea, Fish, Fish, RunKey]:
    """A run owned by a node that knows one function, beside a node that knows the other one."""
    sea = Sea(NodeSettings(**settings))
    owner = sea.knowing(one)
    sea.settle()
    run = sea.start(flow(work("a", "b"), work("b")))
    worker = sea.knowing(other)
    return sea, owner, worker, run


def starts(fish: Fish) -> list[str]:
    return [step for verb, step, _launch in fish.runtime.calls if verb == "start"]


def test_a_launch_goes_to_a_node_that_knows_its_function() -> None:
    sea, owner, worker, run = owned()
    sea.advance(10_000)
    assert sea.status(run) == "SUCCEEDED"
    assert (starts(owner), starts(worker)) == (["a"], ["b"])
    assert not list(sea.database.messages)


def test_a_launch_waits_while_no_node_knows_its_function() -> None:
    sea = Sea()
    owner = sea.knowing("a")
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.advance(60_000)
    assert sea.steps(run) == {"a": "SUCCEEDED", "b": "STARTING"}
    answer = sea.do(why_step(sea.store, ANN, run.workflow_id, 1, "b"))
    assert answer.sentence.startswith("no running process knows the function `b`; if none joins that does")
    assert [(each.kind.value, each.ref) for each in answer.blockers] == [("function", "b")]
    assert answer.blockers[0].moves_when == "a process that knows b joins"
    whole = sea.do(why_run(sea.store, ANN, run.workflow_id, 1))
    assert [(each.kind.value, each.step_id) for each in whole.blockers] == [("function", "b")]
    wait = sea.row(run).summary.wait
    assert wait is not None
    assert (wait.kind, wait.ref) == ("FUNCTION", "b")
    worker = sea.knowing("b")
    sea.advance(10_000)
    assert sea.status(run) == "SUCCEEDED"
    assert (starts(owner), starts(worker)) == (["a"], ["b"])


def test_a_function_that_is_registered_later_lets_the_launch_begin() -> None:
    sea = Sea()
    owner = sea.knowing("a")
    other = sea.knowing()
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.advance(30_000)
    assert sea.steps(run)["b"] == "STARTING"
    sea.teach(other, "b")
    sea.advance(10_000)
    assert sea.status(run) == "SUCCEEDED"
    assert (starts(owner) + starts(other)).count("b") == 1


def test_the_owner_itself_may_come_to_know_the_function() -> None:
    sea = Sea()
    owner = sea.knowing("a")
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.advance(5_000)
    sea.teach(owner, "b")
    sea.settle()
    assert sea.status(run) == "SUCCEEDED"
    assert starts(owner) == ["a", "b"]


@pytest.mark.parametrize("within", [0, 5_000])
def test_after_its_time_the_step_fails(within: int) -> None:
    sea = Sea(NodeSettings(engine=EngineSettings(function_within=within)))
    sea.knowing("a")
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.settle()
    assert sea.steps(run)["b"] == ("FATALLY_FAILED" if within == 0 else "STARTING")
    sea.advance(within)
    assert sea.status(run) == "FAILED"
    (row,) = [row for row in sea.do(sea.store.attempts(NewestAttempts((run,)))) if row.key.step_id == "b"]
    assert str(row.record.reason).startswith("no running process knows the function `b`")


def test_work_of_a_node_that_dies_waits_for_the_next_one_that_knows_it() -> None:
    sea, owner, worker, run = owned()
    worker.runtime.answers["start b"] = [GOING_ON]
    sea.advance(10_000)
    assert sea.runs_on(run, "b") == worker.node.id
    sea.crash(worker)
    sea.advance(40_000)
    assert sea.steps(run)["b"] in {"STARTING", "RUNNING"}
    assert sea.runs_on(run, "b") is None
    next_one = sea.knowing("b")
    sea.advance(20_000)
    assert sea.status(run) == "SUCCEEDED"
    assert (starts(owner), starts(next_one)) == (["a"], ["b"])


def test_work_elsewhere_goes_on_when_the_owner_dies() -> None:
    sea, owner, worker, run = owned()
    worker.runtime.answers["start b"] = [GOING_ON]
    sea.advance(10_000)
    assert starts(worker) == ["b"]
    sea.crash(owner)
    sea.advance(60_000)
    worker.report(run, "b", Done())
    sea.advance(10_000)
    assert sea.status(run) == "SUCCEEDED"
    assert starts(worker) == ["b"]


def test_a_run_that_waits_is_taken_over_with_its_wait() -> None:
    sea = Sea()
    owner = sea.knowing("a")
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.advance(5_000)
    before = sea.do(why_step(sea.store, ANN, run.workflow_id, 1, "b"))
    other = sea.knowing("a")
    sea.crash(owner)
    sea.advance(60_000)
    after = sea.do(why_step(sea.store, ANN, run.workflow_id, 1, "b"))
    assert (after.since, after.next_check) == (before.since, before.next_check)
    knowing = sea.knowing("b")
    sea.advance(10_000)
    assert sea.status(run) == "SUCCEEDED"
    assert (starts(other), starts(knowing)) == ([], ["b"])


def test_an_owner_that_takes_over_a_waiting_run_and_knows_the_function_begins_it() -> None:
    sea = Sea()
    owner = sea.knowing("a")
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.advance(5_000)
    sea.crash(owner)
    other = sea.knowing("a", "b")
    sea.advance(60_000)
    assert sea.status(run) == "SUCCEEDED"
    assert starts(other) == ["b"]


def test_a_wait_that_its_owner_could_not_store_is_found_again() -> None:
    sea = Sea(NodeSettings(events_per_turn=1))  # so that the launch and the wait are commits of their own
    owner = sea.knowing("a")
    sea.settle()
    owner.held = lambda ask: isinstance(ask, Commit) and _is_launched(sea, "b")
    run = sea.start(flow(work("a", "b"), work("b")))
    sea.settle()
    sea.crash(owner)
    other = sea.knowing("b")
    sea.advance(60_000)
    assert sea.status(run) == "SUCCEEDED"
    assert starts(other).count("b") == 1


def _is_launched(sea: Sea, step_id: str) -> bool:
    rows = (sea.database.attempts[key] for key in sea.database.attempts)
    return any(row.key.step_id == step_id and row.record.launch is not None for row in rows)


def test_a_step_that_is_done_elsewhere_is_ended_there() -> None:
    sea, _owner, worker, run = owned()
    worker.runtime.answers["start b"] = [GOING_ON]
    sea.advance(10_000)
    sea.act(run, "b", StepAction.STOP)
    sea.advance(10_000)
    assert ("terminate", "b") in [call[:2] for call in worker.runtime.calls]
    assert sea.steps(run)["b"] == "STOPPED"


def test_a_node_that_leaves_sends_the_launch_back() -> None:
    sea, _owner, worker, run = owned()
    worker.held = lambda ask: isinstance(ask, FetchMail)  # it does not read its messages for now
    sea.advance(6_000)
    assert [row.to_node for row in sea.messages(Kind.START)] == [worker.node.id]
    third = sea.knowing("b")
    worker.node.stop()
    worker.let_go()
    sea.advance(20_000)
    assert starts(worker) == []
    assert starts(third) == ["b"]
    assert sea.status(run) == "SUCCEEDED"


def test_a_launch_that_was_read_is_begun_once_although_its_message_stays() -> None:
    sea, _owner, worker, run = owned()
    worker.runtime.answers["start b"] = [GOING_ON]
    worker.held = lambda ask: isinstance(ask, Withdraw)
    sea.advance(30_000)
    assert starts(worker) == ["b"]
    assert sea.messages(Kind.START)
    worker.let_go()
    worker.report(run, "b", Done())
    sea.advance(10_000)
    assert not sea.messages(Kind.START)
    assert sea.status(run) == "SUCCEEDED"
    assert starts(worker) == ["b"]


def test_a_node_that_becomes_the_owner_of_work_that_it_does_for_another_goes_on() -> None:
    sea, owner, worker, run = owned()
    worker.runtime.answers["start b"] = [GOING_ON]
    sea.advance(10_000)
    owner.node.stop()
    sea.advance(20_000)
    assert owner.node.gone
    assert sea.row(run).group in worker.node.groups
    worker.report(run, "b", Done())
    sea.settle()
    assert sea.status(run) == "SUCCEEDED"
    assert starts(worker) == ["b"]


def test_launches_are_spread_over_the_nodes_that_know_the_function() -> None:
    sea = Sea()
    sea.knowing("a")
    sea.settle()
    runs = [sea.start(flow(work("a", "b"), work("b"), name=f"flow{number}")) for number in range(20)]
    workers = [sea.knowing("b"), sea.knowing("b")]
    sea.advance(60_000)
    assert {sea.status(run) for run in runs} == {"SUCCEEDED"}
    assert all(starts(worker) for worker in workers)
    assert sum(len(starts(worker)) for worker in workers) == 20


# ------------------------------------------------------------------------------------------------ advertising
def test_functions_are_read_when_they_change_and_never_for_a_beat() -> None:
    sea = Sea()
    one = sea.knowing("a")
    asked: list[frozenset[NodeId]] = []

    def note(ask: Ask) -> bool:
        if isinstance(ask, ReadAdvertised):
            asked.append(ask.nodes)
        return False

    one.held = note
    sea.advance(10_000)
    assert asked == []
    other = sea.knowing("b")
    sea.knowing()  # it advertises nothing
    sea.advance(60_000)
    assert asked == [{other.node.id}]
    sea.teach(other, "c")
    sea.teach(other, "c")
    sea.advance(60_000)
    assert asked == [{other.node.id}] * 2
    assert one.node._membership.nodes_with(("b", "c")) == [other.node.id]
    sea.crash(other)
    sea.advance(60_000)
    assert one.node._membership.nodes_with(("b",)) == []
    assert len(asked) == 2


def test_a_read_that_fails_is_repeated_with_the_next_beat() -> None:
    sea = Sea()
    one = sea.knowing("a")
    sea.settle()
    other = sea.knowing("b")
    one.held = lambda ask: isinstance(ask, ReadAdvertised)
    sea.advance(5_000)
    asks, one.holding = one.holding, []
    assert len(asks) == 1
    one.held = lambda _ask: False
    one.node.failed(asks[0], OSError("the database is away"))
    sea.advance(5_000)
    assert one.node._membership.nodes_with(("b",)) == [other.node.id]


def test_a_node_that_joins_anew_advertises_again() -> None:
    sea = Sea()
    one, other = sea.knowing("a"), sea.knowing("b")
    sea.settle()
    (row,) = [row for row in sea.do(sea.store.nodes()) if row.node == other.node.id]
    sea.do(sea.store.bury(row.node, row.beats, expired=False))
    sea.advance(10_000)
    assert one.node._membership.nodes_with(("b",)) == [other.node.id]
    assert other.node.id != row.node
