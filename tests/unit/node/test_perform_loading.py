"""Runs in memory again: as they were committed, with what is around them."""

import msgspec
import pytest
from tests.unit.node.bench import ANN, NODE, Bench

from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.engine import effects as todo
from stretto.engine.flow import Flow
from stretto.engine.records import RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.errors import NotFound
from stretto.model.request import BreakpointRequest
from stretto.model.run_config import RunPolicy
from stretto.node import answers, asks
from stretto.node.perform.runs import Definitions, Known
from stretto.node.settings import NodeSettings
from stretto.ports.commit import Decided
from stretto.ports.rows import NodeId
from stretto.ports.workflows import WorkflowRow, read_workflow
from stretto.testing.shapes import (
    ITEMS,
    computed,
    foreach,
    noop,
    number,
    numbers,
    step,
    tag,
    while_,
    workflow,
)

OTHER = NodeId("node-2")


def image(flow: Flow) -> dict[str, object]:
    """All that is committed of a flow, and what follows from it."""
    return {
        str(key): (
            live.run,
            live.attempts,
            live.loops,
            [step.id for step in live.plan.steps],
            live.waiting,
            live.satisfied,
            live.held,
            live.active,
            {status: count for status, count in live.counts.items() if count},
        )
        for key, live in sorted(flow.tree.live.items())
    }


def same(bench: Bench, run: RunKey) -> answers.LoadedRun:
    """Loading gives what is in memory."""
    (loaded,) = bench.load(run)
    assert image(loaded.flow) == image(bench.flows[run])
    return loaded


# -------------------------------------------------------------------------------------------------- groups
def test_a_group_at_a_glance() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")))
    bench.holding = (todo.StartWork,)
    admitted, live = bench.start(), bench.start()
    bench.launch(live)
    leases = (bench.lease_of(admitted), bench.lease_of(live))
    assert bench.ask(asks.LoadGroups(leases=leases)) == [
        answers.LoadedGroup(admitted=(admitted,), live=(), seq=0, falls=0),
        answers.LoadedGroup(admitted=(), live=((live, None),), seq=0),
    ]


def test_how_often_owners_died_is_read_once_for_all_groups() -> None:
    bench = Bench()
    reads: list[int] = []
    groups = bench.store.groups

    async def counted():
        reads.append(1)
        return await groups()

    bench.swap("groups", counted)
    loaded = bench.ask(asks.LoadGroups(leases=tuple(bench.leases[group] for group in range(3))))
    assert [each.falls for each in loaded] == [0, 0, 0]
    assert len(reads) == 1
    (mine,) = [each for each in bench.do(bench.store.nodes()) if each.node == NODE]
    bench.ask(asks.Bury(node=NODE, beats=mine.beats, expired=False))
    bench.ask(asks.Join(node=OTHER))
    (lease,) = bench.ask(asks.Claim(node=OTHER, most=1, held=frozenset())).taken
    reads.clear()
    for _ in range(2):
        assert [each.falls for each in bench.ask(asks.LoadGroups(leases=(lease,)))] == [1]
    assert len(reads) == 1


# ---------------------------------------------------------------------------------------------------- runs
def test_a_run_that_was_admitted_is_as_new() -> None:
    bench = Bench()
    bench.publish(workflow(step("a", "b"), noop("b")))
    run = bench.start()
    (loaded,) = bench.load(run)
    assert loaded.flow.run == loaded.row.record == bench.row(run).record
    assert loaded.flow.attempts == [None, None]
    assert not loaded.runs_on
    assert not loaded.granted
    tree = loaded.flow.tree
    assert tree.generation == bench.lease_of(run).generation
    assert tree.live == {run: loaded.flow}


def test_the_settings_are_the_nodes_with_the_workflows_concurrency() -> None:
    bench = Bench(NodeSettings(engine=EngineSettings(depth=3)))
    bench.publish(workflow(noop("a")), step_concurrency=4)
    (loaded,) = bench.load(bench.start())
    assert loaded.flow.tree.settings == EngineSettings(depth=3, step_concurrency=4)
    row = bench.do(read_workflow(bench.store, "w"))
    assert row is not None
    assert loaded.flow.tree.internal_id == row.internal_id


def test_runs_that_have_ended_or_wait_in_a_queue_are_left_out() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")), rule="SEQUENTIAL")
    first, queued = bench.start(), bench.start()
    assert bench.run(first) == "SUCCEEDED"
    assert bench.row(queued).record.status.value == "SUCCEEDED"  # it was admitted after the first
    bench.holding = (todo.StartWork,)
    going, queued = bench.start(), bench.start()
    bench.launch(going)
    unknown = RunKey("w", 99, 1)
    assert [each.row.key for each in bench.load(going, first, queued, unknown)] == [going]


def test_work_that_goes_on_knows_where() -> None:
    bench = Bench()
    bench.publish(workflow(step("a"), step("b"), noop("c")))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    a, b = sorted(each.attempt for each in bench.held if isinstance(each, todo.StartWork))
    loaded = same(bench, run)
    assert loaded.runs_on == {a: NODE, b: NODE}
    bench.carry_out(run, bench.held[0])
    bench.settle()
    assert same(bench, run).runs_on.keys() == {b}  # the other has ended


def test_work_outside_runs_on_no_node() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    (effect,) = bench.held
    assert isinstance(effect, todo.StartWork)
    flow = bench.flows[run]
    record = flow.attempt(effect.attempt)
    assert record is not None
    bench.commit(bench.lease_of(run), Decided(root=run, records=(record,), runs_on={effect.attempt: None}))
    assert same(bench, run).runs_on == {}


def test_who_holds_all_permits_is_named() -> None:
    bench = Bench()
    bench.publish(workflow(step("a", tags=(tag("t", 1),)), step("b", tags=(tag("t", 1),))))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    loaded = same(bench, run)
    (lucky,) = loaded.granted
    assert lucky.step_id == "a"


def test_a_loop_with_what_is_alive_in_it() -> None:
    bench = Bench()
    inner = foreach("m", {"j": numbers(1, 2, 3)}, step("y"), concurrency=2)
    bench.publish(workflow(foreach("l", ITEMS, step("x"), inner, concurrency=2), step("a")))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    loaded = same(bench, run)
    for _ in range(6):
        bench.carry_out(run, bench.held.pop(0))
        bench.settle()
        loaded = same(bench, run)
    assert len(loaded.flow.tree.live) > 3
    assert any(
        sum(loop.ended.values()) for live in loaded.flow.tree.live.values() for loop in live.loops.values()
    )


def test_ended_iterations_are_counted_from_their_rows() -> None:
    bench = Bench()
    bench.publish(workflow(foreach("l", ITEMS, step("x"), concurrency=1)))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    bench.carry_out(run, bench.held.pop(0))
    bench.settle()
    (loop,) = bench.flows[run].loops.values()
    loop.ended = {}  # a cache that is wrong
    bench.commit(bench.lease_of(run), Decided(root=run, records=(loop,)))
    (loaded,) = bench.load(run)
    (loop,) = loaded.flow.loops.values()
    assert sum(loop.ended.values()) == 1


# --------------------------------------------------------------------------------------------- definitions
def test_a_definition_is_read_once_and_shared() -> None:
    bench = Bench()
    bench.publish(workflow(foreach("l", ITEMS, step("x"))))
    one, other = bench.start(), bench.start()
    (first,) = bench.load(one)
    (second,) = bench.load(other)
    assert first.flow.plan is second.flow.plan
    assert first.flow.tree.workflow is second.flow.tree.workflow
    bench.publish(workflow(noop("z")))
    (third,) = bench.load(bench.start())
    assert [each.id for each in third.flow.plan.steps] == ["z"]


def test_a_workflow_that_was_published_anew_is_another_one() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    run = bench.start()
    bench.run(run)
    bench.do(delete_workflow(bench.store, ANN, "w"))
    while bench.do(bench.store.purge("w")):
        pass
    bench.publish(workflow(noop("z")))
    (loaded,) = bench.load(bench.start())
    assert [each.id for each in loaded.flow.plan.steps] == ["z"]


def test_no_more_definitions_are_kept_than_may_be() -> None:
    bench = Bench()
    for name in "abc":
        bench.publish(workflow(noop("x"), id=name))
    known = Definitions(bench.store, most=2)
    first = bench.do(known.find("a", 1))
    assert bench.do(known.find("b", 1)) is not first
    assert bench.do(known.find("a", 1)) is first
    bench.do(known.find("c", 1))  # `b` was not asked for the longest
    assert bench.do(known.find("a", 1)) is first
    assert len(known._known) == 2


def test_a_version_that_two_read_at_once_is_shared_all_the_same() -> None:
    bench = Bench()
    bench.publish(workflow(noop("x")))
    known = Definitions(bench.store)
    version = bench.store.version
    found: list[Known | None] = []

    async def slow(workflow_id: str, version_id: int):
        if not found:
            found.append(None)
            found.append(await known.find("w", 1))  # somebody else is faster
        return await version(workflow_id, version_id)

    bench.swap("version", slow)
    assert bench.do(known.find("w", 1)) is found[1]


def test_a_version_that_is_not_there_is_named() -> None:
    bench = Bench()
    bench.publish(workflow(noop("x")))
    with pytest.raises(NotFound, match=r"workflow version \[w\]\[7\]"):
        bench.do(Definitions(bench.store).find("w", 7))


def test_runs_of_a_workflow_that_is_gone_are_gone_too() -> None:
    bench = Bench()
    bench.publish(workflow(noop("x")))
    run = bench.start()

    async def gone(_workflow_ids: object) -> dict[str, WorkflowRow]:
        return {}

    bench.swap("workflow_rows", gone)
    assert bench.load(run) == ()


# ----------------------------------------------------------------------------------------- where it stops
def test_steps_that_may_have_a_breakpoint_also_inside_loops() -> None:
    bench = Bench()
    steps = (
        step("a"),
        step("b"),
        foreach("l", ITEMS, step("x")),
        while_("m", "n < 1", {"n": number(0)}, step("y")),
    )
    bench.publish(workflow(*steps))
    (loaded,) = bench.load(bench.start())
    assert loaded.flow.tree.breakpoints == set()
    for name in "axy":
        bench.do(set_breakpoint(bench.store, ANN, BreakpointRequest(workflow_id="w", step_id=name)))
    (again,) = bench.load(bench.start())
    assert again.flow.tree.breakpoints == {"a", "x", "y"}
    assert loaded.flow.tree.breakpoints == {"a", "x", "y"}  # runs in memory share what is known


# ------------------------------------------------------------------------------------------------ restarts
CHAIN = (step("a", "b", params={"p": number(1)}), step("b", "c"), step("c"), step("z"))


def test_a_restarted_run_has_the_same_plan_at_every_load() -> None:
    bench = Bench()
    bench.publish(workflow(*CHAIN))
    bench.worker.failing = {"b"}
    first = bench.start()
    assert bench.run(first) == "FAILED"
    bench.worker.failing = set()
    second = bench.restart(first)
    (loaded,) = bench.load(second)
    assert [each.id for each in loaded.flow.plan.steps] == ["b", "c"]
    assert loaded.flow.earlier is not None
    assert loaded.flow.earlier.steps.keys() == {"a", "z"}
    bench.holding = (todo.StartWork,)
    bench.launch(second)
    for _ in "bc":
        same(bench, second)
        bench.carry_out(second, bench.held.pop(0))
        bench.settle()
    assert bench.statuses(second) == {"b": "SUCCEEDED", "c": "SUCCEEDED"}


def test_a_restart_from_the_beginning_shares_the_plan_and_knows_the_run_before() -> None:
    """If it fails, it also undoes what that run has left."""
    bench = Bench()
    bench.publish(workflow(*CHAIN))
    first = bench.start()
    bench.run(first)
    second = bench.restart(first, RunPolicy.RESTART_FROM_BEGINNING)
    (loaded,) = bench.load(second)
    (fresh,) = bench.load(bench.start())
    assert loaded.flow.plan is fresh.flow.plan
    assert loaded.flow.earlier is not None
    assert bench.run(second) == "SUCCEEDED"


def test_a_restart_whose_past_is_gone_covers_everything() -> None:
    bench = Bench()
    bench.publish(workflow(*CHAIN))
    run = bench.start()
    row = bench.row(run)
    odd = msgspec.structs.replace(row.record, policy=RunPolicy.RESTART_FROM_INCOMPLETE)

    load_flows = bench.store.load_flows

    async def changed(runs):
        (rows,) = await load_flows(runs)
        return [msgspec.structs.replace(rows, run=msgspec.structs.replace(rows.run, record=odd))]

    bench.swap("load_flows", changed)
    (loaded,) = bench.load(run)
    assert len(loaded.flow.plan.steps) == 4


def test_three_runs_of_an_instance_tell_one_story() -> None:
    bench = Bench()
    read = computed("return params.getFromStep('a', 'p');")
    bench.publish(
        workflow(step("a", "b", params={"p": number(1)}), step("b", "c"), step("c", params={"q": read}))
    )
    bench.worker.failing = {"b", "c"}
    run = bench.start()
    bench.run(run)
    bench.worker.failing = {"c"}
    run = bench.restart(run)
    bench.run(run)
    bench.worker.failing = set()
    run = bench.restart(run)
    assert bench.run(run) == "SUCCEEDED"
    assert run.run_id == 3
    assert bench.value(run, "c", "q") == 1
    assert bench.worker.started == ["a", "b", "b", "c", "c"]
