"""The behaviour cases of the areas `flow-engine` and `queue`: what they ask of leases, actors and messages.

The names are Maestro's; each test says what the same thing is here, and where we differ on purpose.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.conformance.behaviour import Case, Then, cases_of
from tests.node.tank import GOING_ON, Fish, Tank, finished, flow, work

from stretto.actions.dequeue import dequeue
from stretto.engine.inline_ids import Loop, hash_key, inline_prefix, name_uuid, range_key
from stretto.engine.records import RunKey
from stretto.model.errors import Conflict, Unavailable
from stretto.model.param import ParamDefinition, ParamType
from stretto.node.asks import Ask, FetchMail, LookAtQueues
from stretto.ports.commit import Decided, GroupPart
from stretto.ports.messages import Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.permits import HoldersOf
from stretto.ports.places import GROUPS, group_of_run
from stretto.ports.rows import NodeId, Phase
from stretto.ports.runtime import Continue, Done, PlatformError
from stretto.store.memory import Database, MemoryStore
from stretto.strategies import MOST_ADMITTED
from stretto.testing.clock import VirtualClock
from stretto.testing.faults import Moment, interfered

pytestmark = pytest.mark.conformance

CASES: dict[str, Case] = cases_of("flow-engine", "queue")
CHECKS: dict[str, Callable[[Any, Then], None]] = {}
LONG = 3_600_000
A, B = NodeId("a"), NodeId("b")


def case(case_id: str) -> Callable[[Callable[[Any, Then], None]], Callable[[Any, Then], None]]:
    def register(check: Callable[[Any, Then], None]) -> Callable[[Any, Then], None]:
        CHECKS[case_id] = check
        return check

    return register


@pytest.mark.parametrize("case_id", CASES)
def test_case(case_id: str) -> None:
    then = Then(CASES[case_id])
    CHECKS[case_id](CASES[case_id]["given"], then)
    then.assert_all_taken()


def on_store(body: Callable[[MemoryStore, VirtualClock], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        clock = VirtualClock()
        await body(MemoryStore(Database(clock)), clock)

    asyncio.run(run())


# --------------------------------------------------------------------------------------------------- groups
@case("group-claim")
def group_claim(given: Any, then: Then) -> None:
    """An owner that lives keeps its group; after its burial another has it, under a newer generation."""
    number = given["group"]["id"]
    assert then.take("first") is None
    expected = then.take("second")

    async def body(store: MemoryStore, clock: VirtualClock) -> None:
        await store.join(A)
        mine = {lease.group: lease for lease in await store.claim(A, GROUPS)}
        await store.join(B)
        assert await store.claim(B, GROUPS) == []
        await clock.advance(11_000)
        assert await store.bury(A, 1) is not None
        theirs = {lease.group: lease for lease in await store.claim(B, GROUPS)}
        assert expected["group_id"] == number
        assert theirs[number].generation > mine[number].generation
        assert [row.owner for row in await store.groups() if row.group == number] == [B]

    on_store(body)


@case("group-heartbeat-generation")
def heartbeat(_given: Any, then: Then) -> None:
    """We beat for a node, not for each group: who was buried is told so by its next beat."""
    assert then.take("generation_1")
    assert then.take("generation_2") is None

    async def body(store: MemoryStore, clock: VirtualClock) -> None:
        heard = await store.join(A)
        await clock.advance(1_000)
        again = await store.beat(A)
        assert again is not None
        assert again.nodes[0].expires_at > heard.nodes[0].expires_at
        await store.bury(A, again.nodes[0].beats, expired=False)
        assert await store.beat(A) is None

    on_store(body)


@case("group-release")
def release(_given: Any, then: Then) -> None:
    """A group that was given up can be claimed at once."""
    assert then.take("heartbeat_ts") == 0

    async def body(store: MemoryStore, _clock: VirtualClock) -> None:
        await store.join(A)
        await store.join(B)
        (lease,) = await store.claim(A, 1)
        assert await store.give_up(A, [lease]) == [lease.group]
        assert lease.group in {each.group for each in await store.claim(B, GROUPS)}

    on_store(body)


@case("group-insert-conflict")
def insert_twice(_given: Any, then: Then) -> None:
    """Groups are made with the database; what is inserted is a node, and no id is used twice."""
    assert "conflict" in then.take("error")

    async def body(store: MemoryStore, _clock: VirtualClock) -> None:
        await store.join(A)
        with pytest.raises(Conflict):
            await store.join(A)

    on_store(body)


@case("flow-load-by-generation")
def load_by_generation(_given: Any, then: Then) -> None:
    """The generation is the group's: who has a newer one loads, and who has the old one writes nothing."""
    assert (then.take("generation_2"), then.take("generation_1")) == (1, 0)
    assert then.take("side_effect")
    tank = Tank()
    one = tank.fish()
    one.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(flow(work("a")))
    tank.settle()
    group = tank.group_of(one, run)
    (new,) = tank.do(tank.store.claim_again(one.node.id, [group.lease]))
    assert new.generation == group.lease.generation + 1
    assert len(tank.do(tank.store.load_flows([run]))) == 1
    old = GroupPart(lease=group.lease, decisions=(Decided(root=run, due_at=5),))
    assert tank.do(tank.store.commit(one.node.id, [old])).fenced == {group.number}
    assert tank.row(run).due_at != 5


@case("flow-insert-conflict")
def same_flow_twice(_given: Any, then: Then) -> None:
    """The same request never makes two runs: the second finds the first."""
    assert "insertFlow" in then.take("error")
    tank = Tank()
    run = tank.start(flow(work("a")), request_id="same")
    assert tank.start_again("flow", request_id="same") == run


# ---------------------------------------------------------------------------------------------------- flows
def timers(fish: Fish, tank: Tank, run: RunKey) -> list[str]:
    """What a run in memory waits for by time."""
    entry = tank.group_of(fish, run).entries[run]
    return [type(event).__name__ for _, _, event in sorted(entry.timers, key=lambda each: each[:2])]


@case("flow-start")
def flow_start(given: Any, then: Then) -> None:
    """A run that begins sets its timeout; without one it has Maestro's default of ten days."""
    assert then.take("scheduled") == [["FLOW_TIMEOUT"], []]
    assert then.take("posted") == ["FlowReconcile"]
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(flow(work("a")))
    tank.settle()
    assert tank.row(run).record.timeout_at == tank.clock.now() + given["timeout"][0]
    assert "RunTimeDue" in timers(fish, tank, run)
    assert tank.steps(run) == {"a": "RUNNING"}  # and its first steps have begun


def in_retry(tank: Tank) -> tuple[Fish, RunKey]:
    """A run with one step that waits for its next attempt, and one that is at work."""
    fish = tank.fish()
    fish.runtime.answers["start task1"] = [PlatformError(message="away"), Done()]
    fish.far.answers["start task2"] = [Continue(after=LONG)]
    run = tank.settle().start(flow(work("task1"), work("task2", kind="Shell")))
    tank.settle()
    assert tank.steps(run) == {"task1": "PLATFORM_FAILED", "task2": "RUNNING"}
    return fish, run


@case("flow-resume-with-retry")
def resume_with_retry(_given: Any, then: Then) -> None:
    """After a take-over what waited for a retry still does, and what was at work is asked how it goes."""
    assert then.take("posted") == ["FlowTaskRetry(task2)", "FlowReconcile"]
    assert then.take("task1_gets") == "TASK_RESUME"
    tank = Tank()
    fish, run = in_retry(tank)
    tank.crash(fish)
    other = tank.fish()
    other.far.answers["execute task2"] = [Continue(after=LONG)]
    tank.advance(14_000)
    assert ("execute", "task2", 1) in other.far.calls
    assert "Woken" in timers(other, tank, run)
    tank.advance(10 * 60_000)
    assert tank.steps(run)["task1"] == "SUCCEEDED"


@case("flow-resume-terminal")
def resume_terminal(_given: Any, then: Then) -> None:
    """A run that has ended is not loaded, and what comes for it is dealt with without it."""
    assert then.take("effect")
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [PlatformError(message="away")]
    text = flow(work("a", more=", retry_policy: {platform_retry_limit: 0}"))
    run = tank.settle().start(text)
    tank.settle()
    assert tank.row(run).phase is Phase.ENDED
    tank.crash(fish)
    other = tank.fish()
    tank.advance(20_000)
    assert run not in {**tank.group_of(other, run).entries, **tank.group_of(other, run).parked}


@case("flow-prepare-failed")
def prepare_failed(_given: Any, then: Then) -> None:
    """A run that can not begin fails, and no step of it starts. Ours is refused before it is made, unless its
    caller wants to see it.
    """
    assert (then.take("flow"), then.take("monitor"), then.take("final_call")) == ("FAILED", "CANCELED", 1)
    tank = Tank()
    fish = tank.fish()
    tank.settle()
    given = "  params: {n: {value: 1, type: LONG}, x: {expression: 'return 1 / n;', type: LONG}}\n  steps:"
    tank.start(flow(work("a")).replace("  steps:", given))
    tank.advance(5_000)
    fish.runtime.calls.clear()
    zero = {"n": ParamDefinition(type=ParamType.LONG, value=0)}
    run = tank.start_again("flow", run_params=zero, persist_failed_run=True)
    tank.settle()
    assert tank.status(run) == "FAILED"
    assert fish.runtime.calls == []


@case("flow-task-update-running")
def update_running(_given: Any, then: Then) -> None:
    """Work that goes on is looked at when it said so. A run has no refresh: nothing is polled for all."""
    assert then.take("scheduled") == [["FLOW_REFRESH"], ["FLOW_REFRESH", "TaskWakeUp(task1)"]]
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [Continue(after=3_000_000)]
    run = tank.settle().start(flow(work("a")))
    tank.settle()
    assert timers(fish, tank, run)[0] == "Woken"
    tank.advance(2_999_000)
    assert [verb for verb, _, _ in fish.runtime.calls] == ["start"]
    tank.advance(2_000)
    assert [verb for verb, _, _ in fish.runtime.calls] == ["start", "execute"]


@case("flow-task-update-failed")
def update_failed(_given: Any, then: Then) -> None:
    """A failed attempt with tries left waits out its back-off; the rest of the run goes on at once."""
    assert then.take("scheduled") == ["FlowTaskRetry(task1)"]
    assert then.take("decide_now") is True
    tank = Tank()
    fish, run = in_retry(tank)
    assert "Woken" in timers(fish, tank, run)


@case("flow-wakeup-one")
def wake_one(_given: Any, then: Then) -> None:
    """A step that waits for its retry begins when its time has come, and the timer is gone with it."""
    assert then.take("effect")
    tank = Tank()
    fish, run = in_retry(tank)
    tank.advance(10 * 60_000)
    assert tank.steps(run)["task1"] == "SUCCEEDED"
    assert [verb for verb, step, _ in fish.runtime.calls if step == "task1"] == ["start", "start"]


@case("flow-wakeup-all")
def wake_all(_given: Any, then: Then) -> None:
    """What is at work is asked how it goes when its time has come, beside the retry of another step."""
    assert (then.take("task1"), then.take("task2")) == (["TASK_START", "TASK_PING"], ["TASK_PING"])
    tank = Tank()
    fish, run = in_retry(tank)
    tank.advance(LONG + 1_000)
    assert ("execute", "task2", 1) in fish.far.calls
    assert tank.status(run) == "SUCCEEDED"


@case("flow-timeout")
def flow_timeout(_given: Any, then: Then) -> None:
    """A run that is out of time ends TIMED_OUT; a step that waits for its retry is not started any more."""
    assert then.take("flow_status") == "TIMED_OUT"
    assert then.take("task1") == ["TASK_START", "TASK_STOP"]
    assert then.take("rescheduled") == "FLOW_TIMEOUT"  # ours ends what is at work, and waits for its answer
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start task1"] = [PlatformError(message="away")]
    text = flow(work("task1")).replace("  steps:", "  timeout: 20 seconds\n  steps:")
    run = tank.settle().start(text)
    tank.advance(30_000)
    assert tank.status(run) == "TIMED_OUT"
    assert [verb for verb, _, _ in fish.runtime.calls] == ["start"]


# ------------------------------------------------------------------------------------------------------ ids
@case("group-id-derivation")
def group_ids(given: Any, then: Then) -> None:
    """Ours is another hash, over all groups of the database; like theirs it never changes for a run."""
    assert then.rest() == {"by_group_info": [0, 5], "by_key": [0, 2]}
    assert given["identity"] == "[sample-dag-test-1][12][2]"
    run = RunKey("sample-dag-test-1", 12, 2)
    assert group_of_run(run) == group_of_run(RunKey(*run)) == 54
    spread = {group_of_run(run._replace(instance_id=number)) for number in range(2_000)}
    assert spread == set(range(GROUPS))


@case("id-keys")
def id_keys(given: Any, then: Then) -> None:
    for number, expected in zip(given["numbers"], then.take("hashKey"), strict=True):
        assert expected is None or hash_key(number) == expected
    assert [range_key(number) for number in given["numbers"]] == then.take("rangeKey")
    for text, expected in then.take("inline_prefix").items():
        kind, number = text.split()
        assert inline_prefix(Loop[kind], int(number)) == expected


@case("uuid-from-name")
def uuid_from_name(given: Any, then: Then) -> None:
    assert [name_uuid(name) for name in given["names"]] == then.take("uuids")


# ------------------------------------------------------------------------------------------------- messages
@case("queue-worker-outcomes")
def worker_outcomes(given: Any, then: Then) -> None:
    """A message goes with its effect. One that fails stays, and is tried later; after five tries it is set
    aside. There is no ownership of a single message that could run out: a group has one owner.
    """
    assert len(then.take("effect")) == len(given["variants"])
    tank = Tank()
    broken = [0]

    async def interfere(call: str, moment: Moment) -> None:
        if call == "runs" and moment is Moment.BEFORE and broken[0]:
            broken[0] -= 1
            raise ValueError("runtime error")

    tank.fish(interfered(tank.store, interfere))
    run = tank.settle().start(flow(work("a")))
    tank.advance(5_000)
    group, status = tank.row(run).group, tank.row(run).record.status

    def waiting() -> int:
        return len(tank.do(tank.store.fetch(A, [group])).messages)

    for ref, failures in (("done", 0), ("retried", 2)):
        broken[0] = failures
        tank.do(tank.store.send(Letter(ref=ref, to_group=group, body=Log(run=run, status=status, at=1))))
        tank.advance(2_500)
        if failures:
            assert tank.do(tank.store.parked_messages(Cut())).elements == ()
            tank.advance(20_000)
        assert waiting() == 0
    gone = Letter(ref="gone", to_group=group, body=Log(run=RunKey("flow", 99, 1), status=status, at=1))
    tank.do(tank.store.send(gone))
    tank.advance(5_000)
    assert waiting() == 0  # about a run that is not there: removed
    broken[0] = 100
    tank.do(tank.store.send(Letter(ref="poison", to_group=group, body=Log(run=run, status=status, at=1))))
    tank.advance(200_000)
    assert len(tank.do(tank.store.parked_messages(Cut())).elements) == 1


@case("queue-scan-message")
def scan(_given: Any, then: Then) -> None:
    """A node fetches for all its groups in one query, and plans the next fetch; hints only make it sooner."""
    assert then.take("effect")
    tank = Tank()
    fish = tank.fish()
    tank.settle()
    run = tank.start(flow(work("a")))
    group = tank.row(run).group
    tank.advance(20_000)
    fetches: list[FetchMail] = []

    def watch(ask: Ask) -> bool:
        if isinstance(ask, FetchMail):
            fetches.append(ask)
        return False

    fish.held = watch
    tank.advance(20_000)
    assert 9 <= len(fetches) <= 11  # every two seconds, when nothing happens
    assert all(len(ask.groups) == GROUPS for ask in fetches)
    tank.do(tank.store.send(Letter(ref="x", to_group=group, body=Log(at=1))))  # nobody is hinted
    tank.advance(3_000)
    assert tank.do(tank.store.fetch(A, [group])).messages == ()


@case("start-event-dequeue-limit")
def dequeue_limit(given: Any, then: Then) -> None:
    """One transaction admits fifty at most, so that the lock is short; then the queue is looked at again."""
    assert then.take("runs_started") == given["dequeued"]
    assert given["dequeued"][-1] == MOST_ADMITTED
    assert then.take("result")[0] == "done"
    tank = Tank()
    text = flow(work("a")).replace("rule: PARALLEL", "rule: PARALLEL, workflow_concurrency: 1")
    first = tank.start(text)
    runs = [tank.start_again("flow") for _ in range(70)]
    assert [tank.row(run).phase for run in (first, runs[0])] == [Phase.ADMITTED, Phase.QUEUED]
    tank.start(text.replace("workflow_concurrency: 1", "workflow_concurrency: 1000"))  # it is looked at then
    finished(dequeue(tank.store, "flow"))
    assert all(tank.row(run).phase is Phase.ADMITTED for run in runs)


@case("start-event-errors")
def start_errors(_given: Any, then: Then) -> None:
    """A look at a queue that fails is repeated by a sweep; a workflow that is gone has no queue."""
    assert then.take("effect") == ["retry", "dropped", "retry"]
    tank = Tank()
    failing = [True]

    async def interfere(call: str, moment: Moment) -> None:
        if call == "with_queue" and moment is Moment.BEFORE and failing[0]:
            raise Unavailable("away")

    fish = tank.fish(interfered(tank.store, interfere))
    tank.settle().start(flow(work("a"), strategy="SEQUENTIAL"))
    second = tank.start_again("flow")
    tank.settle()
    assert tank.row(second).phase is Phase.QUEUED
    tank.advance(20_000)
    assert tank.status(second) == "SUCCEEDED"
    failing[0] = False
    assert finished(fish.performer.answer(LookAtQueues(workflow_ids=("no-such",)))) is None


@case("update-event-step")
def step_update(_given: Any, then: Then) -> None:
    """The commit that ends an attempt gives its permits back, and only that one; the change log tells."""
    assert then.take("release_tag_permits") == [0, 1]
    assert then.take("delete_step_action") == [0, 1]
    assert then.take("unregister_step_concurrency") == [0, 1]
    assert then.take("next_event") == "NOTIFICATION"
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(flow(work("a", more=", tags: [{name: scarce, permit: 1}]")))
    tank.advance(3_000)
    assert tank.steps(run) == {"a": "RUNNING"}
    assert len(tank.do(tank.store.permits(HoldersOf("scarce", Cut()))).elements) == 1
    fish.report(run, "a", Done())
    tank.settle()
    assert tank.do(tank.store.permits(HoldersOf("scarce", Cut()))).elements == ()
    rows = tank.do(tank.store.read_log({tank.row(run).group: 0}))
    told = [event for row in rows for event in row.events if getattr(event, "step_id", None) == "a"]
    assert told[-1].status_change_records[-1].new_status.value == "SUCCEEDED"


@case("update-event-workflow")
def workflow_update(_given: Any, then: Then) -> None:
    """The end of a run, and nothing before it, lets the next one in; and wakes the step that waits for it."""
    assert then.take("enqueue_START_WORKFLOW") == [0, 1]
    assert then.take("delete_actions") == [0, 1]
    assert then.take("next_event") == "NOTIFICATION"
    assert then.take("with_parent")
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers["start a"] = [GOING_ON]
    tank.settle()
    child = flow(work("a"), name="child", strategy="SEQUENTIAL")
    first = tank.start(child)
    parent = tank.start(
        "properties: {owner: ann}\nworkflow:\n  id: parent\n  steps:\n"
        "    - subworkflow: {id: sub, workflow_id: child}\n"
    )
    tank.settle()
    second = RunKey("child", 2, 1)
    assert tank.row(second).phase is Phase.QUEUED
    fish.report(first, "a", Done())
    tank.settle()
    assert tank.row(second).phase is Phase.LIVE
    fish.report(second, "a", Done())
    tank.advance(5_000)
    assert tank.status(parent) == "SUCCEEDED"
