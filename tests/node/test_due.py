"""What the row of a run says about when it must be looked at: whoever owns it next goes by nothing else."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import pytest
from tests.node.tank import ANN, BEGIN, GOING_ON, Fish, Tank, flow, work

from stretto.actions.answer_step import answer_step
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.request import CallbackRequest
from stretto.node.asks import FetchMail
from stretto.ports.commit import GroupPart
from stretto.ports.failures import NoPermits, Poison, Stale
from stretto.ports.paging import Cut
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import InstancePage
from stretto.ports.runtime import Continue, Done
from stretto.ports.store import Store

TIMEOUT = 10 * 24 * 3_600_000  # of a run, by default
WORK = work("after")
THEN = ", transition: {successors: {after: 'true'}}"
NAMED = "{subworkflow_id: {value: kid, type: STRING}}"
CHILD = f"subworkflow: {{id: s{THEN}, params: {NAMED}}}"
ONE = "{type: MAP, value: {i: {type: LONG_ARRAY, value: [1]}}}"
BELOW = f"subworkflow: {{id: s, params: {NAMED}}}"
LOOP = f"foreach: {{id: l{THEN}, params: {{loop_params: {ONE}}}, steps: [{BELOW}]}}"
ASKING = f"step: {work('w', 'after', kind='Wait')}"


def lines(first: str, after: str = WORK) -> str:
    """A workflow that waits for somebody else, and then does work that takes its time."""
    return (
        f"properties: {{owner: ann}}\nworkflow:\n  id: flow\n  steps:\n    - {first}\n    - step: {after}\n"
    )


Happens = Callable[[Tank, Fish], None]


class Crowded:
    """A store that refuses the first commit of a run together with others."""

    def __init__(self, tank: Tank, refuse: Callable[[RunKey, int], Exception]) -> None:
        self.blamed: RunKey | None = None
        self.refused = 0
        self.keeps: list[bool] = []  # of each decision: whether the row says the right due time already
        self._refuse = refuse
        self._store = tank.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, node: NodeId, parts: Sequence[GroupPart]) -> Any:
        about = {each.root: part.lease.group for part in parts for each in part.decisions}
        if self.blamed is not None and self.blamed in about and len(about) > 1:
            self.refused += 1
            raise self._refuse(self.blamed, about[self.blamed])
        self.keeps += [each.keeps_due for part in parts for each in part.decisions]
        return await self._store.commit(node, parts)


def child_ends(tank: Tank, fish: Fish) -> None:
    child = tank.do(tank.store.runs(InstancePage("kid", Cut()))).elements[0].key
    fish.report(child, "a", Done())
    tank.settle()


def somebody_answers(tank: Tank, _fish: Fish) -> None:
    asked = AttemptKey(RunKey("flow", 1, 1), "w", 1)
    tank.do(answer_step(tank.store, ANN, asked, CallbackRequest(request_id="yes"), hints=tank))
    tank.settle()


REFUSALS = {
    "no permits": lambda run, group: NoPermits([run], ["t"], [group]),
    "stale": lambda _run, group: Stale("a row has moved on", [group]),
    "poison": lambda _run, _group: Poison("it can not be stored"),
}
WAITS = {"child": (CHILD, child_ends), "loop": (LOOP, child_ends), "answer": (ASKING, somebody_answers)}


class World(NamedTuple):
    """A run that only waits, and another one whose work goes on."""

    tank: Tank
    store: Crowded
    fish: Fish
    run: RunKey
    other: RunKey

    def goes_on(self, happens: Happens) -> None:
        """What the run waits for comes, and the work of the other ends. Both are in one commit, which is
        refused because of the other.
        """
        self.fish.held = lambda ask: isinstance(ask, FetchMail)
        self.tank.advance(3_000)
        happens(self.tank, self.fish)
        self.store.blamed = self.other
        self.fish.report(self.other, "b", Done())
        self.fish.let_go()
        self.tank.settle()
        assert self.store.refused == 1

    def is_taken_over(self) -> None:
        self.tank.crash(self.fish)
        self.tank.fish()
        self.tank.advance(120_000)


def world_of(text: str, refusal: str) -> World:
    tank = Tank(park_after=3_600_000)
    store = Crowded(tank, REFUSALS[refusal])
    fish = tank.fish(cast("Store", store))
    fish.runtime.answers = {f"start {each}": [GOING_ON] for each in ("a", "b", "after")}
    tank.settle().start(flow(work("a"), name="kid"))
    run, other = tank.start(text), tank.start(flow(work("b"), name="other"))
    tank.advance(10_000)
    assert tank.row(run).due_at == BEGIN + TIMEOUT  # it only waits
    return World(tank, store, fish, run, other)


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("wait", WAITS)
def test_work_is_found_again_whose_commit_was_sent_once_more(wait: str, refusal: str) -> None:
    """It is under way, and the owner dies. Nothing but its row tells the next one to look at the run."""
    first, happens = WAITS[wait]
    world = world_of(lines(first), refusal)
    world.goes_on(happens)
    assert world.tank.steps(world.run)["after"] == "RUNNING"
    assert world.tank.row(world.run).due_at == 0
    world.is_taken_over()
    assert [world.tank.status(each) for each in (world.run, world.other)] == ["SUCCEEDED", "SUCCEEDED"]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_timer_is_found_again_whose_commit_was_sent_once_more(refusal: str) -> None:
    sleep = "{id: after, type: Sleep, params: {sleep_seconds: {value: 60, type: LONG}}}"
    world = world_of(lines(CHILD, sleep), refusal)
    world.goes_on(child_ends)
    assert world.tank.row(world.run).due_at == world.tank.clock.now() + 60_000
    world.is_taken_over()
    assert world.tank.status(world.run) == "SUCCEEDED"


def test_a_due_time_that_is_stored_is_not_written_again() -> None:
    world = world_of(lines(CHILD), "stale")
    world.store.keeps.clear()
    for _ in range(3):  # it asks to be looked at, each time: work is under way all the while
        world.fish.report(world.other, "b", Continue(after=60_000))
        world.tank.settle()
    assert world.store.keeps == [True, True, True]
