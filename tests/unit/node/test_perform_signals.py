"""Signals and breakpoints of steps, and the messages that concern no run."""

from typing import Any

import msgspec
import pytest
from tests.unit.node.bench import ANN, NODE, Bench

from stretto.actions.activate import activate
from stretto.actions.deactivate import deactivate
from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.event import InstanceStatusChanged, WorkflowActivated
from stretto.model.request import BreakpointRequest
from stretto.model.run_config import RunPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam, SignalOutputDefinition
from stretto.model.signal_instance import SignalDependencies, SignalDependency, SignalDependencyStatus
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.trigger import SignalOperator, SignalParamValue, SignalTrigger, SignalTriggerEntry
from stretto.model.wire import encode
from stretto.model.workflow import Semantics
from stretto.node import asks
from stretto.node.perform.breakpoints import Breakpoints
from stretto.node.perform.messages import MessageHandler
from stretto.node.perform.runs import Definitions
from stretto.ports import messages as post
from stretto.ports.commit import Decided
from stretto.ports.places import group_of_signal
from stretto.ports.retention import Aged
from stretto.ports.run_snapshot import read_newest_run
from stretto.ports.signals import NewSignal, read_signal
from stretto.ports.workflows import read_workflow
from stretto.testing.shapes import ITEMS, computed, foreach, noop, number, step, text, while_, workflow

EQUAL = SignalOperator.EQUALS_TO


def announce(bench: Bench, name: str, number: int, **params: Any) -> None:
    bench.do(bench.store.announce(NewSignal(name=name, instance_id=str(number), params=params)))


def waiting_for(name: str, **wanted: int) -> SignalDependencyDefinition:
    matches = {key: SignalMatchParam(param=number(value), operator=EQUAL) for key, value in wanted.items()}
    return SignalDependencyDefinition(name=name, match_params=matches or None)


# ------------------------------------------------------------------------------------------------- looking
def test_a_step_finds_signals_that_are_there_and_hears_of_those_to_come() -> None:
    bench = Bench()
    announce(bench, "s", 1, p=1)
    announce(bench, "s", 2, p=2)
    announce(bench, "s", 3, p=2)
    dependencies = (waiting_for("s", p=2), waiting_for("t"))
    bench.publish(workflow(step("a", signal_dependencies=dependencies)))
    run = bench.start()
    bench.run(run)
    signals = bench.attempt(run, "a").signals
    assert signals is not None
    assert [(each.status.value, each.signal_id) for each in signals.dependencies] == [
        ("MATCHED", 2),
        ("PENDING", None),
    ]
    announce(bench, "t", 1)
    bench.settle()
    assert bench.row(run).record.status.value == "SUCCEEDED"


def test_what_is_matched_already_is_not_looked_for() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")))
    run = bench.start()
    bench.holding = (todo.StartWork,)
    bench.launch(run)
    announce(bench, "s", 1)
    done, skipped = SignalDependencyStatus.MATCHED, SignalDependencyStatus.SKIPPED
    wanted = SignalDependencies(
        dependencies=[
            SignalDependency(name="s", status=done, signal_id=1),
            SignalDependency(name="s", status=skipped),
            SignalDependency(name="s"),
        ]
    )
    attempt = AttemptKey(run, "a", 1)
    events = bench.carry(run, todo.WatchSignals(attempt=attempt, dependencies=wanted))
    assert events == (happened.SignalCame(attempt=attempt, index=2, signal_id=1),)


# -------------------------------------------------------------------------------------------------- saying
def source(run: RunKey) -> dict[str, Any]:
    return {
        "workflow_id": run.workflow_id,
        "workflow_instance_id": run.instance_id,
        "workflow_run_id": run.run_id,
        "step_id": "a",
        "step_attempt_id": 1,
        "step_instance_id": 3,
    }


def test_a_step_announces_its_signals_once() -> None:
    """The effect is repeated, as after a crash: the signal stays the attempt's own."""
    bench = Bench()
    output = SignalOutputDefinition(name="s", params={"p": number(3)}, payload={"note": "hi"})
    bench.publish(workflow(step("a", signal_outputs=(output,))))
    bench.holding = (todo.AnnounceSignals,)
    run = bench.start()
    bench.run(run)
    (effect,) = bench.held
    assert isinstance(effect, todo.AnnounceSignals)
    bench.hints.groups.clear()
    for _ in range(2):
        (event,) = bench.carry(run, effect)
        assert isinstance(event, happened.SignalsAnnounced)
        ((told,), signal) = event.outputs, bench.do(read_signal(bench.store, "s"))
        assert signal is not None
        assert (told.signal_id, told.announce_time) == (1, signal.create_time)
        assert (told.name, told.params, told.payload) == ("s", {"p": 3}, {"note": "hi"})
        assert (signal.seq_id, signal.params, signal.payload) == (1, {"p": 3}, {"signal_source": source(run)})
    assert bench.hints.groups == [group_of_signal("s")] * 2
    bench.events += [(run, event) for event in bench.carry(run, effect)]
    bench.settle()
    assert bench.row(run).record.status.value == "SUCCEEDED"


def announced_by(bench: Bench, run: RunKey) -> list[tuple[int | None, bool]]:
    """The number of each signal of step a, and whether it has a time."""
    outputs = bench.attempt(run, "a").signal_outputs
    assert outputs is not None
    assert outputs.info is not None
    return [(each.signal_id, each.announce_time is not None) for each in outputs.outputs]


def test_the_same_name_and_parameters_are_a_duplicate_whatever_the_payload() -> None:
    bench = Bench()
    outputs = [
        SignalOutputDefinition(name="s", params={"p": computed("p")}, payload={"n": {"of": n}})
        for n in (1, 2)
    ]
    bench.publish(workflow(step("a", signal_outputs=tuple(outputs)), params={"p": number(3)}))
    runs: list[RunKey] = []
    for given in (3, 3, 4):
        runs.append(bench.start(run_params={"p": number(given)}))
        assert bench.run(runs[-1]) == "SUCCEEDED"
    first, second, third = runs
    assert announced_by(bench, first) == [(1, True), (-1, False)]
    assert announced_by(bench, second) == [(-1, False), (-1, False)]
    assert announced_by(bench, third) == [(2, True), (-1, False)]
    kept = [bench.do(read_signal(bench.store, "s", seq)) for seq in (1, 2, 3)]
    assert [each and each.params for each in kept] == [{"p": 3}, {"p": 4}, None]


def test_a_text_and_a_number_are_two_signals() -> None:
    bench = Bench()
    outputs = (
        SignalOutputDefinition(name="s", params={"p": number(3)}),
        SignalOutputDefinition(name="s", params={"p": text("3")}),
        SignalOutputDefinition(name="s"),
    )
    bench.publish(workflow(step("a", signal_outputs=outputs)))
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    assert announced_by(bench, run) == [(1, True), (2, True), (3, True)]


def test_a_restarted_step_does_not_announce_again() -> None:
    bench = Bench()
    output = SignalOutputDefinition(name="s", params={"p": number(3)})
    bench.publish(workflow(step("a", signal_outputs=(output,))))
    first = bench.start()
    assert bench.run(first) == "SUCCEEDED"
    again = bench.restart(first, RunPolicy.RESTART_FROM_BEGINNING)
    assert bench.run(again) == "SUCCEEDED"
    assert announced_by(bench, again) == [(-1, False)]
    signal = bench.do(read_signal(bench.store, "s"))
    assert signal is not None
    assert (signal.seq_id, signal.payload) == (1, {"signal_source": source(first)})


@pytest.mark.parametrize("semantics", [None, Semantics.STRETTO])
def test_what_a_signal_carries(semantics: Semantics | None) -> None:
    """Maestro keeps the payload with the step only; both keep its values, not its definitions."""
    bench = Bench()
    payload = {
        "sum": {"type": "LONG", "expression": "p + n"},
        "ratio": {"type": "DOUBLE", "value": 2.5},
        "words": {"type": "STRING_ARRAY", "value": ["a", "${p}"]},
        "map": {"type": "MAP", "value": {"in": {"type": "LONG", "value": 1}}},
        "plain": {"type": "just a word"},
        "list": [1, None],
    }
    output = SignalOutputDefinition(name="s", params={"n": number(1)}, payload=payload)
    a = step("a", params={"p": number(3)}, signal_outputs=(output,))
    bench.publish(workflow(a, semantics=semantics))
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    values = {
        "sum": 4,
        "ratio": 2.5,
        "words": ["a", "3"],
        "map": {"in": 1},
        "plain": {"type": "just a word"},
        "list": [1, None],
    }
    outputs = bench.attempt(run, "a").signal_outputs
    assert outputs is not None
    assert encode(outputs)["outputs"][0]["payload"] == values
    signal = bench.do(read_signal(bench.store, "s"))
    assert signal is not None
    assert signal.payload == {**({} if semantics is None else values), "signal_source": source(run)}


def test_a_name_that_an_expression_got_wrong_fails_the_step_and_announces_nothing() -> None:
    bench = Bench()
    outputs = (SignalOutputDefinition(name="s"), SignalOutputDefinition(name="${name}"))
    bench.publish(workflow(step("a", signal_outputs=outputs, params={"name": text("  ")})))
    run = bench.start()
    assert bench.run(run) == "FAILED"
    assert bench.attempt(run, "a").reason == (
        "its signals are not announced: [  ] can not be a signal's name"
    )
    assert bench.do(read_signal(bench.store, "s")) is None


# ------------------------------------------------------------------------------------------------- fan-out
def test_a_signal_is_fanned_out_page_by_page() -> None:
    bench = Bench()
    bench.publish(workflow(step("a", signal_dependencies=(waiting_for("s", p=1),))))
    bench.publish(workflow(step("a", signal_dependencies=(waiting_for("s", p=2),)), id="other"))
    runs = [bench.start() for _ in range(3)]
    other = bench.start("other")
    bench.run(*runs, other)
    announce(bench, "s", 1, p=1)
    (message,) = bench.messages()
    small = MessageHandler(bench.store, bench.hints, Definitions(bench.store), page=2)
    lease = bench.leases[group_of_signal("s")]
    told: list[AttemptKey] = []
    pages = 0
    while True:
        decided = bench.do(small.handle(message))
        assert decided is not None
        bodies = [letter.body for letter in decided.sent]
        told += [body.event.attempt for body in bodies if isinstance(body, post.Signalled)]
        pages += 1
        bench.commit(lease, decided)
        if decided.consumed:
            break
        (message,) = (each for each in bench.messages() if isinstance(each.body, post.FanOut))
    assert pages == 3  # two that are full, and one that finds nothing
    assert sorted(told) == [AttemptKey(run, "a", 1) for run in runs]
    bench.settle()
    assert [bench.row(run).record.status.value for run in runs] == ["SUCCEEDED"] * 3
    assert bench.row(other).record.status.value == "IN_PROGRESS"


def test_a_signal_that_is_forgotten_is_told_to_nobody() -> None:
    bench = Bench()
    announce(bench, "s", 1)
    (message,) = bench.messages()
    bench.clock._now += 1_000
    bench.do(bench.store.prune(Aged.SIGNALS, bench.clock.now()))
    decided = bench.ask(asks.Deal(lease=bench.leases[0], message=message))
    assert decided == Decided(consumed=(message.id,))


# ------------------------------------------------------------------------------------------------ triggers
def triggered(condition: str | None = None) -> Any:
    entry = SignalTriggerEntry(match_params={"p": SignalParamValue(value=1, operator=EQUAL)})
    trigger = SignalTrigger(definitions={"s": entry, "t": SignalTriggerEntry()}, condition=condition)
    return workflow(noop("a"), signal_triggers=[trigger])


def test_a_trigger_that_has_all_its_signals_starts_a_run() -> None:
    bench = Bench()
    bench.publish(triggered())
    announce(bench, "s", 1, p=2)
    announce(bench, "s", 2, p=1)
    bench.settle()
    assert bench.do(read_newest_run(bench.store, "w", 1)) is None
    announce(bench, "t", 1)
    bench.settle()
    assert bench.row(RunKey("w", 1, 1)).record.status.value == "SUCCEEDED"
    assert bench.messages() == []
    assert bench.do(read_newest_run(bench.store, "w", 2)) is None


@pytest.mark.parametrize("gone", [False, True])
def test_a_fire_that_starts_nothing_is_consumed(gone: bool) -> None:
    bench = Bench()
    bench.publish(triggered(None if gone else "1 > 2"))
    announce(bench, "s", 2, p=1)
    announce(bench, "t", 1)
    for message in bench.messages():
        bench._receive(message)
    (fire,) = bench.messages()
    assert isinstance(fire.body, post.Fire)
    if gone:
        bench.do(deactivate(bench.store, ANN, "w"))
    decided = bench.ask(asks.Deal(lease=bench.leases[fire.to_group or 0], message=fire))
    assert decided == Decided(consumed=(fire.id,))
    assert bench.do(read_newest_run(bench.store, "w", 1)) is None


# ----------------------------------------------------------------------------------------------------- log
def test_a_run_that_stays_queued_or_ends_there_is_an_event() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")), rule="FIRST_ONLY")
    bench.holding = (todo.StartWork,)
    first = bench.start()
    bench.launch(first)
    for message in bench.messages():  # of the publication
        bench._receive(message)
    dropped = bench.start()
    (message,) = bench.messages()
    decided = bench.ask(asks.Deal(lease=bench.lease_of(dropped), message=message))
    record = bench.row(dropped).record
    (event,) = decided.events
    assert event == InstanceStatusChanged(
        workflow_id="w",
        workflow_instance_id=2,
        workflow_run_id=1,
        workflow_uuid=record.uuid,
        correlation_id=record.correlation_id,
        depth=0,
        workflow_name="w",
        sync_time=bench.clock.now(),
        old_status=InstanceStatus.CREATED,
        new_status=InstanceStatus.STOPPED,
        event_time=bench.clock.now(),
    )
    assert decided.consumed == (message.id,)
    bench.commit(bench.lease_of(dropped), decided)
    rows = bench.do(bench.store.read_log({bench.row(dropped).group: 0}))
    assert [each for row in rows for each in row.events] == [event]


def test_events_travel_as_they_are() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    bench.settle()
    bench.publish(workflow(noop("b")))
    bench.settle()
    bench.do(activate(bench.store, ANN, "w", "1"))
    (message,) = bench.messages()
    decided = bench.ask(asks.Deal(lease=bench.leases[0], message=message))
    (event,) = decided.events
    assert isinstance(event, WorkflowActivated)


@pytest.mark.parametrize(("status", "events"), [(RunStatus.IN_PROGRESS, 0), (RunStatus.CREATED, 1)])
def test_a_run_that_goes_on_was_only_to_be_looked_at(status: RunStatus, events: int) -> None:
    bench = Bench()
    body = post.Log(run=RunKey("gone", 1, 1), status=status, at=5)
    message = post.Message(id=7, ref="x", body=body, to_group=0)
    decided = bench.ask(asks.Deal(lease=bench.leases[0], message=message))
    assert decided.consumed == (7,)
    assert len(decided.events) == events
    assert all(event.workflow_uuid is None for event in decided.events)


def test_a_message_that_concerns_a_run_is_not_dealt_with_here() -> None:
    bench = Bench()
    body = post.Ask(attempt=AttemptKey(RunKey("w", 1, 1), "a", 1), launch=1)
    with pytest.raises(TypeError, match="ASK concerns a run"):
        bench.ask(asks.Deal(lease=bench.leases[0], message=post.Message(id=7, ref="x", body=body)))


# ----------------------------------------------------------------------------------------- where it stops
def at(step_id: str, **more: Any) -> BreakpointRequest:
    return BreakpointRequest(workflow_id="w", step_id=step_id, **more)


def test_a_breakpoint_holds_a_step_also_inside_a_loop() -> None:
    bench = Bench()
    steps = (
        step("a"),
        foreach("l", ITEMS, step("x"), concurrency=5),
        while_("m", "n < 1", {"n": number(0)}, step("y")),
        noop("free"),
    )
    bench.publish(workflow(*steps))
    for name in "axy":
        bench.do(set_breakpoint(bench.store, ANN, at(name)))
    run = bench.start()
    bench.run(run)
    assert bench.statuses(run) == {"a": "PAUSED", "l": "RUNNING", "m": "RUNNING", "free": "SUCCEEDED"}
    live = [each for each in bench.flows[run].tree.live.values() if each.parent is not None]
    assert len(live) == 6
    assert all(each.counts.get("PAUSED") == 1 for each in live)  # type: ignore[call-overload]


def test_a_breakpoint_that_is_gone_holds_nobody() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")))
    bench.do(set_breakpoint(bench.store, ANN, at("a")))
    bench.holding = (todo.LookForBreakpoint,)
    run = bench.start()
    bench.run(run)
    (effect,) = bench.held
    assert bench.carry(run, effect) == ()
    bench.do(delete_breakpoint(bench.store, ANN, "w", "a"))
    attempt = AttemptKey(run, "a", 1)
    assert bench.carry(run, effect) == (happened.BreakpointGone(attempt=attempt),)


def test_one_for_another_attempt_holds_nobody_and_none_is_left_of_a_workflow_that_is_gone() -> None:
    bench = Bench()
    bench.publish(workflow(step("a")))
    bench.do(bench.store.set_breakpoint(StepBreakpoint(workflow_id="w", step_id="a", step_attempt_id=2)))
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"  # it paused, looked, and went on
    bench.do(bench.store.set_breakpoint(StepBreakpoint(workflow_id="w", step_id="a")))
    effect = todo.LookForBreakpoint(attempt=AttemptKey(run, "a", 1))
    record, lease = bench.row(run).record, bench.lease_of(run)
    ask = asks.CheckBreakpoint(lease=lease, root=run, effect=effect, run=record)
    assert bench.ask(ask) == ()
    assert bench.ask(msgspec.structs.replace(ask, root=RunKey("gone", 1, 1))) != ()


def test_runs_in_memory_learn_of_a_breakpoint_with_the_next_mail() -> None:
    bench = Bench()
    bench.publish(workflow(step("a", "b"), step("b")))
    nothing: frozenset[Any] = frozenset()
    look = asks.FetchMail(node=NODE, groups=nothing, known=nothing, launching=nothing, awake=True)
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    bench.do(set_breakpoint(bench.store, ANN, at("b")))
    known = bench.flows[run].tree.breakpoints
    assert not known
    bench.ask(look)
    assert known == {"b"}
    bench.carry_out(run, bench.held.pop())
    bench.settle()
    assert bench.statuses(run) == {"a": "SUCCEEDED", "b": "PAUSED"}
    bench.do(delete_breakpoint(bench.store, ANN, "w", "b"))
    bench.ask(look)
    assert known == set()


def test_all_breakpoints_are_read_in_pages() -> None:
    bench = Bench()
    bench.publish(workflow(step("a"), foreach("l", ITEMS, step("x"))))
    bench.publish(workflow(step("a"), id="v"))
    breakpoints = Breakpoints(bench.store, page=2)
    row = bench.do(read_workflow(bench.store, "w"))
    assert row is not None
    steps = bench.do(breakpoints.of([row]))["w"]
    for name in "ax":
        bench.do(set_breakpoint(bench.store, ANN, at(name)))
    bench.do(bench.store.set_breakpoint(StepBreakpoint(workflow_id="w", step_id="a", workflow_run_id=3)))
    bench.do(bench.store.set_breakpoint(StepBreakpoint(workflow_id="v", step_id="a")))
    bench.do(breakpoints.refresh())
    assert steps == {"a", "x"}
