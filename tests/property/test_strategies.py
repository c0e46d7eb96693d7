"""Long random stories of one workflow, told to the strategies and to a slow and obvious model of them."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.unit.strategies.table import run_key
from tests.unit.strategies.world import World

from stretto.model.errors import PreconditionFailed
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.response import Hold
from stretto.model.runs import RunKey
from stretto.strategies import (
    Accepted,
    Admission,
    Duplicate,
    Refused,
    Request,
    Restart,
    Start,
    explain,
    would_admit,
)

R = RunStrategyRule
SLOTS = {name: 3 if name is R.PARALLEL else 1 for name in R}
ENDS = st.sampled_from(["SUCCEEDED", "FAILED", "STOPPED", "TIMED_OUT"])
Asked = tuple[str, int]  # what, and which instance or earlier request


@dataclass
class Run:
    key: RunKey
    request_id: str
    raw: str = "CREATED"
    waits: bool = True
    told_to_stop: bool = False

    @property
    def open(self) -> bool:
        return self.raw in {"CREATED", "IN_PROGRESS"}


@dataclass
class Obvious:
    """One list of runs that is searched from the start for every question. Words, not counts."""

    strategy: RunStrategy
    runs: list[Run] = field(default_factory=list)

    def queued(self) -> list[Run]:
        return sorted((run for run in self.runs if run.open and run.waits), key=lambda run: run.key)

    def running(self) -> list[Run]:
        return [run for run in self.runs if run.open and not run.waits]

    def of(self, instance_id: int) -> list[Run]:
        return [run for run in self.runs if run.key.instance_id == instance_id]

    def ask(self, requests: list[Request]) -> list[str]:
        """What the requesters hear. Who was refused is refused again in the same breath."""
        heard: list[tuple[str, str]] = []
        for request in requests:
            again = (request.request_id, "refused") in heard
            heard.append((request.request_id, "refused" if again else self.request(request)))
        self.launch()
        return [answer for _, answer in heard]

    def request(self, request: Request) -> str:
        if any(run.request_id == request.request_id for run in self.runs):
            return "duplicate"
        key = run_key(max((run.key.instance_id for run in self.runs), default=0) + 1, 1)
        if isinstance(request, Restart):
            others = self.of(request.instance_id)
            if not others or any(run.open for run in others):
                return "refused"
            key = run_key(request.instance_id, len(others) + 1)
            for run in others:
                run.raw = "FAILED_2" if run.raw == "FAILED" else run.raw
        new = Run(key, request.request_id)
        if isinstance(request, Start) and request.failure:
            new.raw = "FAILED"
        else:
            self.make_room(new)
        self.runs.append(new)
        return "accepted"

    def make_room(self, new: Run) -> None:
        if self.strategy.rule is R.FIRST_ONLY and any(run.open for run in self.runs):
            new.raw = "STOPPED"
        if self.strategy.rule in {R.LAST_ONLY, R.SERIAL_LATEST_ONLY}:
            for run in self.queued():
                run.raw = "STOPPED"
        if self.strategy.rule is R.LAST_ONLY:
            for run in self.running():
                run.told_to_stop = True

    def launch(self) -> None:
        """One by one, as long as one more may start."""
        while self.queued() and len(self.running()) < self.strategy.workflow_concurrency:
            if self.strategy.rule is R.STRICT_SEQUENTIAL and any(run.raw == "FAILED" for run in self.runs):
                return
            self.queued()[0].waits = False


class Story(RuleBasedStateMachine):
    """Every step is one transaction on both sides."""

    first_rule = R.SEQUENTIAL

    @initialize()
    def begin(self) -> None:
        strategy = RunStrategy(rule=self.first_rule, workflow_concurrency=SLOTS[self.first_rule])
        self.world = World(strategy)
        self.model = Obvious(strategy)
        self.sent: list[Request] = []
        self.last = Admission()
        self.newest: RunKey | None = None  # the last accepted under this strategy

    @rule(
        asked=st.lists(
            st.tuples(st.sampled_from(["start", "broken", "restart", "repeat"]), st.integers(0, 9)),
            min_size=1,
            max_size=4,
        )
    )
    def ask(self, asked: list[Asked]) -> None:
        requests = [self.request(what, which) for what, which in asked]
        self.last = self.world.ask(*requests)
        heard = self.model.ask(requests)
        names = {Accepted: "accepted", Duplicate: "duplicate", Refused: "refused"}
        assert [names[type(answer)] for answer in self.last.answers] == heard
        for answer in self.last.answers:
            if isinstance(answer, Accepted) and answer.status != "FAILED":
                self.newest = answer.run
            # A rule that can not work with the open runs is never reached: the change to it is refused.
            assert not isinstance(answer, Refused) or "finding more than 1" not in answer.message

    def request(self, what: str, which: int) -> Request:
        if what == "repeat" and self.sent:
            return self.sent[which % len(self.sent)]
        request_id = f"request {len(self.sent)}"
        failure = "no such param" if what == "broken" else None
        instance_id = 1 + which % self.world.next_instance_id  # the last of them does not exist
        self.sent.append(
            Restart(request_id, instance_id) if what == "restart" else Start(request_id, failure)
        )
        return self.sent[-1]

    @precondition(lambda self: self.world.running)
    @rule(which=st.integers(0, 9), raw=ENDS)
    def a_running_one_ends(self, which: int, raw: str) -> None:
        runs = self.world.running
        self.ends(runs[which % len(runs)], raw)

    @precondition(lambda self: self.world.stops)
    @rule()
    def a_stop_arrives(self) -> None:
        self.ends(min(self.world.stops), "STOPPED")

    @precondition(lambda self: self.world.queue)
    @rule(which=st.integers(0, 9), raw=st.sampled_from(["STOPPED", "FAILED"]))
    def a_queued_one_is_stopped_or_killed(self, which: int, raw: str) -> None:
        runs = self.world.queue
        self.ends(runs[which % len(runs)], raw)

    def ends(self, run: RunKey, raw: str) -> None:
        self.world.end(run, raw)
        [ended] = [each for each in self.model.runs if each.key == run]
        ended.raw, ended.told_to_stop = raw, False
        self.last = self.world.ask()
        self.model.launch()

    @precondition(lambda self: self.world.failed)
    @rule(which=st.none() | st.integers(0, 9))
    def unblock(self, which: int | None) -> None:
        failed = self.world.failed
        one = None if which is None else failed[which % len(failed)]
        self.last = self.world.unblock(one)
        for run in self.model.runs:
            if run.raw == "FAILED" and one in {None, run.key}:
                run.raw = "FAILED_1"
        self.model.launch()

    @rule(new=st.sampled_from(R), paused=st.booleans())
    def change(self, new: R, paused: bool) -> None:
        strategy = RunStrategy(rule=new, workflow_concurrency=0 if paused else SLOTS[new])
        changed = strategy.rule is not self.model.strategy.rule
        crowded = (
            strategy.rule in {R.FIRST_ONLY, R.LAST_ONLY} and sum(run.open for run in self.model.runs) > 1
        )
        blocked = strategy.rule is R.STRICT_SEQUENTIAL and any(run.raw == "FAILED" for run in self.model.runs)
        try:
            self.last = self.world.change(strategy)
        except PreconditionFailed:
            assert changed
            assert crowded or blocked
            return
        assert not changed or not (crowded or blocked)
        self.newest = None
        self.model.strategy = strategy
        self.model.launch()

    @invariant()
    def both_tell_the_same_story(self) -> None:
        assert self.world.statuses() == {run.key: run.raw for run in self.model.runs}
        assert self.world.queue == [run.key for run in self.model.queued()]
        assert self.world.running == sorted(run.key for run in self.model.running())
        assert self.world.stops == {run.key for run in self.model.runs if run.told_to_stop}

    @invariant()
    def no_more_run_than_there_are_slots(self) -> None:
        slots = self.world.strategy.workflow_concurrency
        assert not self.last.admitted or len(self.world.running) <= slots

    @invariant()
    def the_order_is_kept(self) -> None:
        assert list(self.last.admitted) == sorted(self.last.admitted)
        assert all(admitted < queued for admitted in self.last.admitted for queued in self.world.queue)

    @invariant()
    def nothing_admissible_is_left_waiting(self) -> None:
        world = self.world
        counts = world.queued, len(world.running), len(world.failed)
        assert not would_admit(world.strategy, *counts)
        for run in world.queue:
            waiting = explain(world.strategy, run, world.queue, world.running, world.failed)
            assert waiting.hold not in {Hold.NOTHING, Hold.BEHIND}

    @invariant()
    def each_rule_keeps_its_word(self) -> None:
        world, newest = self.world, self.newest
        match world.strategy.rule:
            case R.FIRST_ONLY:
                assert len(world.queue) + len(world.running) <= 1
            case R.LAST_ONLY:
                assert len(world.queue) <= 1
                assert all(
                    run == newest or run in world.stops for run in world.running if newest in world.queue
                )
            case R.SERIAL_LATEST_ONLY:
                assert newest is None or set(world.queue) <= {newest}
            case R.STRICT_SEQUENTIAL:
                assert not (self.last.admitted and world.failed)
            case R.SEQUENTIAL | R.PARALLEL:
                assert not self.last.replaced
                assert not self.last.stop_running
                assert all(getattr(answer, "status", "") != "STOPPED" for answer in self.last.answers)


@pytest.mark.parametrize("first_rule", R)
def test_a_story_that_begins_under(first_rule: R) -> None:
    story = type("Story", (Story,), {"first_rule": first_rule})
    run_state_machine_as_test(
        story, settings=settings(max_examples=60, stateful_step_count=30, deadline=None)
    )
