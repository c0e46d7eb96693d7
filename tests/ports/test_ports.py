"""What the ports fix for ever, and the parts of them that are no store."""

import asyncio
from collections import Counter
from collections.abc import Collection
from typing import get_args

import msgspec
import pytest

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import StrettoError
from stretto.model.param import Parameter
from stretto.model.step import TypedStep
from stretto.ports import messages
from stretto.ports.events import Trimmed
from stretto.ports.failures import Fenced, OutcomeUnknown, Poison, Stale
from stretto.ports.hints import Hints
from stretto.ports.messages import AnyBody, Kind
from stretto.ports.observer import Observer
from stretto.ports.paging import Slice
from stretto.ports.places import GROUPS, group_of_run, group_of_signal, group_of_tag, group_of_workflow
from stretto.ports.run_snapshot import NewestAttempts, RunSnapshot
from stretto.ports.runtime import Continue, Done, Injected, Launch, StepContext, StepResult, StepRuntime
from stretto.store.memory import MemoryHints

RUN = RunKey("wf", 7, 2)


# --------------------------------------------------------------------------------------------------- places
def test_places_never_change() -> None:
    """A database that was made yesterday must be read tomorrow: these numbers may not differ."""
    assert GROUPS == 128
    assert group_of_run(RUN) == 34
    assert (group_of_workflow("wf"), group_of_tag("wf"), group_of_signal("wf")) == (35, 35, 35)


def test_runs_are_spread_over_all_groups() -> None:
    counts = Counter(group_of_run(RunKey("wf", number, 1)) for number in range(12_800))
    assert len(counts) == GROUPS
    assert max(counts.values()) < 200


# ------------------------------------------------------------------------------------------------- messages
def test_every_kind_of_message_has_one_body() -> None:
    assert sorted(body.kind for body in get_args(AnyBody)) == sorted(Kind)
    types = [each for each in vars(messages).values() if isinstance(each, type)]
    bodies = {each for each in types if issubclass(each, messages.Body) and each is not messages.Body}
    assert bodies == set(get_args(AnyBody))


# ------------------------------------------------------------------------------------------------- failures
@pytest.mark.parametrize(
    ("error", "status", "retryable"),
    [
        (Fenced([3, 1]), 409, False),
        (Stale("gone", [1]), 409, False),
        (Poison("a NUL"), 422, False),
        (OutcomeUnknown("no answer"), 503, True),
        (Trimmed(frozenset({4})), 410, False),
    ],
    ids=lambda each: type(each).__name__,
)
def test_failures_are_part_of_the_tree(error: StrettoError, status: int, retryable: bool) -> None:
    assert (error.status, error.retryable) == (status, retryable)
    assert error.id == type(error).id != StrettoError.id


def test_a_fence_says_which_groups() -> None:
    error = Fenced([3, 1])
    assert error.groups == {1, 3}
    assert error.message == "not the owner of flow group 1, 3 any more"


# ------------------------------------------------------------------------------------------------- runtimes
def test_launches_of_an_attempt_sort_by_generation_then_take() -> None:
    attempt = AttemptKey(RUN, "s", 1)
    launches = [Launch(attempt, 2), Launch(attempt, 1, 3), Launch(attempt, 1, 1)]
    assert sorted(launches) == launches[::-1]
    assert str(launches[1]) == "[wf][7][2][s][1][1][3]"


class Echo:
    """The least that a runtime must be."""

    outside = False

    def params(self, _step: object) -> Injected:
        return Injected()

    async def start(self, ctx: StepContext) -> StepResult:
        return Continue(after=5) if ctx.timeout_at else Done(outputs=ctx.params)

    async def execute(self, ctx: StepContext) -> StepResult:
        return await self.start(ctx)

    async def terminate(self, ctx: StepContext) -> StepResult:
        return await self.start(ctx)


def test_a_runtime_answers_with_a_result() -> None:
    async def nobody(_result: StepResult) -> None:
        """Nobody listens."""

    runtime: StepRuntime = Echo()
    params: dict[str, Parameter] = {}
    context = StepContext(
        launch=Launch(AttemptKey(RUN, "s", 1), 1),
        step=TypedStep(id="s", type="NoOp"),
        params=params,
        report=nobody,
    )
    assert asyncio.run(runtime.start(context)) == Done(outputs=params)
    later = msgspec.structs.replace(context, timeout_at=9)
    assert asyncio.run(runtime.execute(later)) == Continue(after=5)
    assert asyncio.run(runtime.terminate(later)) == Continue(after=5)
    assert runtime.params(context.step) == Injected()


# ---------------------------------------------------------------------------------------------- the others
def test_an_observer_need_not_care() -> None:
    observer = Observer()
    observer.committed([])
    observer.leases_claimed([1])
    observer.leases_lost([1])
    observer.node_buried("x")
    observer.run_quarantined(RUN, "why")
    observer.store_failed(ValueError(), 1)


def test_hints_reach_who_listens() -> None:
    hints: Hints = MemoryHints()
    heard: list[tuple[frozenset[int], Collection[RunKey]]] = []
    stop = hints.listen(lambda groups, runs: heard.append((groups, runs)))
    hints.hint([1, 2, 1], [RUN])
    hints.hint([])
    stop()
    stop()
    hints.hint([3])
    assert heard == [(frozenset({1, 2}), [RUN])]


def test_a_snapshot_has_no_selection_of_one_step() -> None:
    """It was read for whole runs: an answer would lack attempts that nobody looked for."""
    snapshot = RunSnapshot(Slice(elements=()), None)
    with pytest.raises(LookupError, match="a snapshot has no NewestAttempts"):
        asyncio.run(snapshot.attempts(NewestAttempts((RunKey("wf", 1, 1),), "load")))
