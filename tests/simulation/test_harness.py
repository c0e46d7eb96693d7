"""The harness that users test their workflows with."""

from typing import Any

import pytest

from stretto.model.errors import WrongState
from stretto.model.param import ParamType
from stretto.model.properties import Properties
from stretto.model.user import User
from stretto.model.workflow import Definition
from stretto.node.settings import NodeSettings
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    Injected,
    PlatformError,
    StepContext,
    StepResult,
    Stopped,
    UserError,
)
from stretto.testing.harness import Harness, crash_everywhere
from stretto.testing.shapes import (
    computed,
    foreach,
    noop,
    number,
    numbers,
    step,
    subworkflow,
    text,
    while_,
    workflow,
)
from stretto.testing.viewing import Run
from stretto.testing.working import HELD, Work, param, result_of

CHAIN = workflow(step("a", "b", params={"n": number(1)}), step("b"), id="chain")
YAML = "workflow: {id: written, steps: [{step: {id: one, type: Python}}]}"


def test_work_is_done_at_once() -> None:
    with Harness() as h:
        run = h.start(CHAIN, {"day": "monday", "sizes": [1, 2]})
        assert run.status == "SUCCEEDED"
        assert run.has_ended
        assert run.steps == {"a": "SUCCEEDED", "b": "SUCCEEDED"}
        assert run.params["day"] == "monday"
        assert run.params["sizes"] == (1, 2)
        assert "Workflow instance is dequeued." in run.timeline
        assert repr(run) == "<run [chain][1][1] SUCCEEDED>"
        assert repr(run.step("a")) == "<step a of [chain][1][1] SUCCEEDED>"


def test_what_work_can_be_told() -> None:
    async def slow(work: Work) -> dict[str, Any]:
        await work.sleep(2.5)
        return {"n": work.params["n"] + work.attempt}

    def broken(work: Work) -> None:
        raise ValueError(work.step_id)

    with Harness() as h:
        h.does("a", slow)
        h.does("b", broken)
        run = h.start(CHAIN)
        assert run.steps == {"a": "STARTING"}
        h.advance(seconds=2)
        assert run.steps == {"a": "STARTING"}
        h.advance(seconds=1)
        assert run.step("a").params["n"] == 2
        assert run.step("b").status == "USER_FAILED"
        assert run.step("b").reason == "ValueError: b"
        assert h.finish(run) == "FAILED"
        assert len(run.step("b").attempts) == 3
        nonsense: Any = lambda _work: 7  # noqa: E731
        h.does("a", nonsense)
        odd = h.start("chain")
        assert "the work answered 7: answer one of Done, " in (odd.step("a").reason or "")
        odd.stop()
        h.works.doings.clear()
        h.does("Python", FatalError(message="all of them"))
        assert h.start("chain").step("a").reason == "all of them"


def test_results_are_read_kindly() -> None:
    assert result_of(None) == Done()
    assert result_of(FatalError(message="no")) == FatalError(message="no")
    done = result_of({"n": 1, "names": ["x"]})
    assert isinstance(done, Done)
    assert done.outputs["names"].type is ParamType.STRING_ARRAY
    assert param(number(3)) == number(3)
    assert repr(HELD) == "HELD"


def test_work_that_is_held() -> None:
    with Harness() as h:
        h.holds("a", "b")
        run = h.start(CHAIN)
        assert run.step("a").status == "RUNNING"
        run.step("a").report(Continue())
        assert run.step("a").status == "RUNNING"
        run.step("a").finish(n=5)
        assert run.step("a").params["n"] == 5
        with pytest.raises(LookupError, match="is not held: it is SUCCEEDED"):
            run.step("a").finish()
        run.step("b").fail("no luck")
        assert run.status == "FAILED"
        assert run.step("b").reason == "no luck"
        other = h.start(CHAIN)
        other.stop()
        assert other.status == "STOPPED"
        with pytest.raises(LookupError, match="is not held"):
            other.step("a").finish()


def test_definitions_come_in_every_form() -> None:
    owned = Definition(workflow=CHAIN, properties=Properties(owner=User(name="ann")))
    with Harness() as h:
        assert h.start(YAML).key.workflow_id == "written"
        assert h.start(YAML).key.instance_id == 2  # it was published once
        assert h.start("written").key.instance_id == 3
        assert h.publish(owned) == "chain"
        assert h.start("chain").status == "SUCCEEDED"


def test_a_request_starts_one_run() -> None:
    with Harness() as h:
        one, two = (h.start(CHAIN, request_id="monday") for _ in range(2))
        assert one.key == two.key


def test_loops_children_and_waits() -> None:
    kid = workflow(step("toil"), id="kid")
    flow = workflow(
        foreach("each", {"i": numbers(1, 2, 3)}, noop("x", params={"n": computed("i * 2")}), after=("sub",)),
        subworkflow("sub", "kid", "ok"),
        step("ok", "w", type="Wait", params={"why": text("")}),
        while_("w", "k < 2", {"k": number(0)}, noop("up", params={"k": computed("k + 1")})),
    )
    with Harness() as h:
        h.publish(kid)
        run = h.start(flow)
        assert [each.step("x").params["n"] for each in run.iterations("each")] == [2, 4, 6]
        assert run.step("sub").child.steps == {"toil": "SUCCEEDED"}
        assert run.step("ok").status == "RUNNING"
        assert run.step("w").status == "NOT_CREATED"
        with pytest.raises(LookupError, match=r"step w of .* has not begun; those that have: each, sub, ok"):
            assert run.step("w").params
        with pytest.raises(LookupError, match="has started no run"):
            assert run.step("ok").child.status
        run.step("ok").answer(why="because")
        assert run.status == "SUCCEEDED"
        assert run.step("ok").params["why"] == "because"
        assert len(run.iterations("w")) == 2


def test_users_interfere() -> None:
    flow = workflow(step("a", "b"), step("b"), step("c"), step("d"), step("e"))
    with Harness() as h:
        h.holds("a", "c", "d", "e")
        run = h.start(flow)
        run.pause()
        assert run.status == "PAUSED"
        run.step("a").finish()
        assert run.step("b").status == "NOT_CREATED"
        run.resume()
        assert run.step("b").status == "SUCCEEDED"
        run.step("c").skip()
        run.step("d").stop()
        run.step("e").kill()
        assert run.steps == {
            "a": "SUCCEEDED",
            "c": "SKIPPED",
            "d": "STOPPED",
            "e": "FATALLY_FAILED",
            "b": "SUCCEEDED",
        }
        assert run.status == "FAILED"
        assert "User [tester] take action [KILL] on the step" in run.step("e").timeline
        with pytest.raises(WrongState):
            run.pause()
        again = run.restart()
        assert again.key.run_id == 2
        assert again.steps == {"d": "RUNNING", "e": "RUNNING"}
        again.kill()
        assert again.status == "FAILED"
        assert run.restart(from_beginning=True).steps.keys() == {"a", "c", "d", "e"}
        h.does("e", None)
        newest = Run(h, again.key._replace(run_id=3))
        newest.step("e").kill()
        newest.step("e").restart()
        assert newest.step("e").status == "SUCCEEDED"


def test_signals() -> None:
    flow = "workflow: {id: w, steps: [{step: {id: s, type: Python, signal_dependencies: [{name: rain}]}}]}"
    with Harness() as h:
        one, two = h.start(flow), h.start("w")
        assert one.steps == {"s": "WAITING_FOR_SIGNALS"}
        assert two.status == "CREATED"  # one at a time is the default
        one.step("s").bypass()
        assert one.status == "SUCCEEDED"
        h.announce("rain", day=1)
        assert two.status == "SUCCEEDED"


def test_time() -> None:
    with Harness() as h:
        begun = h.now
        nap = workflow(step("z", type="Sleep", params={"sleep_seconds": number(86_400)}))
        run = h.start(nap)
        h.advance(hours=23, minutes=59)
        assert run.status == "IN_PROGRESS"
        h.advance(days=0.5)
        assert run.status == "SUCCEEDED"
        assert h.now - begun >= 86_400_000
        h.holds("a")
        held = h.start(CHAIN)
        with pytest.raises(TimeoutError, match=r"has not ended within 2 days: {'a': 'RUNNING'}"):
            h.finish(held, within_days=2)
        assert h.finish(held) == "TIMED_OUT"  # ten days are the default


# ------------------------------------------------------------------------------------------------- crashes
def test_crash_and_recover() -> None:
    with Harness() as h:
        h.holds("b")
        run = h.start(CHAIN)
        h.crash()
        h.crash()  # there is nothing left that could
        h.advance(hours=2)
        assert run.status == "IN_PROGRESS"
        waiting = h.start(CHAIN)
        assert waiting.status == "CREATED"
        h.recover()
        assert run.step("b").status == "RUNNING"
        assert len(run.step("b").attempts) == 1
        run.step("b").finish()
        assert run.status == "SUCCEEDED"


def test_a_crash_at_every_commit() -> None:
    seen: list[int] = []

    def play(h: Harness) -> None:
        h.does("b", [UserError(message="once"), None])
        run = h.start(CHAIN)
        assert h.finish(run) == "SUCCEEDED"
        assert [row.record.status.value for row in run.step("b").attempts] == ["USER_FAILED", "SUCCEEDED"]
        seen.append(h.commits)

    tried = crash_everywhere(play)
    assert tried == 2 * seen[0]
    assert len(seen) == tried + 1


def test_a_crash_says_where_it_was() -> None:
    def play(h: Harness) -> None:
        run = h.start(CHAIN)
        h.advance(minutes=1)
        assert run.status == "SUCCEEDED"
        assert len([row for row in h.ask(h.store.nodes()) if row.buried_at]) == 0, "somebody died"

    with pytest.raises(AssertionError, match="somebody died") as raised:
        crash_everywhere(play, lambda **more: Harness(settings=NodeSettings(park_after=10), **more))
    assert raised.value.__notes__ == ["with crash_before=1"]


class Oven:
    """A runtime as users write them."""

    outside = True

    def params(self, step: Any) -> Injected:  # noqa: ARG002
        return Injected()

    async def start(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return Continue(after=60_000)

    async def execute(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return PlatformError(message="burnt")

    async def terminate(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return Stopped()


def test_runtimes_of_ones_own() -> None:
    with Harness(runtimes={"Python": Oven()}) as h:
        run = h.start(CHAIN)
        assert run.step("a").status == "RUNNING"
        h.advance(minutes=1, seconds=1)
        assert run.step("a").status == "PLATFORM_FAILED"


def test_what_waits_for_an_event_loop_is_refused() -> None:
    async def wait() -> None:
        await Work.sleep(1)

    with Harness() as h, pytest.raises(RuntimeError, match="there is no event loop"):
        h.ask(wait())


def test_runs_that_are_not_there() -> None:
    with Harness() as h:
        run = h.start(CHAIN)
        with pytest.raises(LookupError, match=r"there is no run \[chain\]\[1\]\[9\]"):
            assert Run(h, run.key._replace(run_id=9)).status
