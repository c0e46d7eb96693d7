"""Starting runs."""

import asyncio
from typing import Any

import pytest
from tests.unit.actions.world import ANN, NOOP, WORK, World, flow

from stretto.actions.announce import announce
from stretto.actions.deactivate import deactivate
from stretto.actions.parts.admission import Candidate, decide_admission
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.changing import change_properties
from stretto.actions.parts.repeat import repeated
from stretto.actions.parts.trigger_rows import trigger_id
from stretto.actions.start import start
from stretto.actions.update_properties import update_properties
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Conflict, InvalidRequest, NotFound, Unprocessable
from stretto.model.initiator import (
    Ancestor,
    Initiator,
    ManualInitiator,
    SignalInitiator,
    SubworkflowInitiator,
    TimeInitiator,
)
from stretto.model.param import ParamDefinition, Parameter, ParamSource, ParamType
from stretto.model.properties import Properties, PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.request import SignalRequest, StartRequest
from stretto.model.response import StartStatus
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark
from stretto.model.tag import Tag
from stretto.params import ParamError
from stretto.ports.admission import RequestKey, WorkflowSnapshot
from stretto.ports.failures import Fenced, OutcomeUnknown, Stale
from stretto.ports.rows import Lease
from stretto.ports.run_snapshot import read_newest_run
from stretto.strategies import Accepted, Start

DAY = "  params: {day: {value: '20240101', type: STRING}}\n"
TRIGGERS = (
    "  time_triggers: [{type: CRON, cron: '0 * * * *'}]\n  signal_triggers: [{definitions: {go: {}}}]\n"
)


def made(text: str = "") -> World:
    world = World()
    world.publish(text or flow(NOOP))
    return world


def text_param(value: str) -> ParamDefinition:
    return ParamDefinition(type=ParamType.STRING, value=value)


def begin(world: World, initiator: Initiator, version: str = "active", **more: Any) -> Any:
    request = StartRequest(initiator=initiator, **more)
    return world.do(start(world.store, ANN, "flow", version, request))


def test_a_run_is_made_and_admitted() -> None:
    world = made(flow(NOOP, more=DAY))
    answer = world.start(params={"day": text_param("20240102")})
    assert (answer.workflow_instance_id, answer.workflow_run_id, answer.status) == (1, 1, StartStatus.CREATED)
    record = world.row().record
    assert record.params["day"].evaluated_result == "20240102"
    assert record.initiator == ManualInitiator(user=ANN.user)
    assert record.correlation_id == "flow:1:1"
    assert record.owner == "ann"
    assert "ann" in str(record.timeline)
    assert world.settle().status() == "SUCCEEDED"


@pytest.mark.parametrize(("version", "number"), [("1", 1), ("latest", 2), ("Default", 2), ("ACTIVE", 2)])
def test_versions_are_chosen(version: str, number: int) -> None:
    world = made()
    world.publish(flow(NOOP))
    assert world.start(version=version).workflow_version_id == number


@pytest.mark.parametrize(
    ("workflow_id", "version", "error"),
    [
        ("other", "latest", NotFound),
        ("flow", "9", NotFound),
        ("flow", "0", InvalidRequest),
        ("flow", "newest", InvalidRequest),
    ],
)
def test_what_is_not_there_can_not_be_started(workflow_id: str, version: str, error: type[Exception]) -> None:
    world = made()
    with pytest.raises(error, match=rf"\[{workflow_id}\]"):
        world.start(workflow_id, version)


def test_a_request_starts_once() -> None:
    world = made()
    first = world.start(request_id="r1")
    again = world.start(request_id="r1")
    assert again.status is StartStatus.DUPLICATED
    assert again.workflow_instance_id == first.workflow_instance_id
    assert world.start(request_id="r2").workflow_instance_id == 2


def test_a_request_whose_outcome_was_unknown_is_no_duplicate_of_itself() -> None:
    world = made()
    transact = world.store.transact
    failures = [OutcomeUnknown("no answer")]

    async def shaky(*args: Any) -> Any:
        done = await transact(*args)
        if failures:
            raise failures.pop()
        return done

    world.swap("transact", shaky)
    answer = world.start()
    assert (answer.status, answer.workflow_instance_id) == (StartStatus.CREATED, 1)
    assert world.do(read_newest_run(world.store, "flow", 2)) is None


def test_a_race_that_is_always_lost_is_told() -> None:
    tries = []

    async def lost() -> None:
        tries.append(1)
        raise Stale("moved on")

    with pytest.raises(Stale):
        World().do(repeated(lost, most=3))
    assert len(tries) == 3


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"day": ParamDefinition(type=ParamType.MAP, value={})}, "day"),
        ({"maestro": text_param("x")}, "maestro"),
        ({"x": ParamDefinition(type=ParamType.LONG, expression="return y;")}, "y"),
        ({"x": ParamDefinition(type=ParamType.STRING, value="x", source=ParamSource.SYSTEM)}, "source"),
    ],
)
def test_bad_params_are_refused(params: dict[str, ParamDefinition], said: str) -> None:
    world = made(flow(NOOP, more=DAY))
    with pytest.raises(ParamError, match=said):
        world.start(params=params)
    assert world.do(read_newest_run(world.store, "flow", 1)) is None


def test_a_parameter_without_a_default_must_be_given() -> None:
    world = made(flow(NOOP) + "requires: {day: {type: STRING}, table: {type: STRING}}\n")
    given = {"day": text_param("monday")}
    with pytest.raises(InvalidRequest, match=r"Workflow \[flow\] needs \[table\]$"):
        begin(world, ManualInitiator(), run_params=given)
    with pytest.raises(InvalidRequest, match=r"needs \[day\] and \[table\]$"):
        begin(world, ManualInitiator())
    answer = begin(world, ManualInitiator(), run_params={**given, "table": text_param("sales")})
    assert answer.status is StartStatus.CREATED


def test_a_run_that_can_not_be_evaluated_is_kept_if_asked() -> None:
    world = made(flow(NOOP, strategy="STRICT_SEQUENTIAL"))
    bad = {"x": ParamDefinition(type=ParamType.LONG, expression="return y;")}
    answer = world.start(params=bad, persist_failed_run=True)
    assert answer.status is StartStatus.CREATED
    row = world.row()
    assert (row.record.status, row.failure) == ("FAILED", FailureMark.STANDING)
    assert "can not be evaluated" in str(row.record.timeline)
    world.start()
    assert world.row(instance_id=2).phase == "QUEUED"


def test_parameters_of_steps_must_name_steps() -> None:
    world = made()
    with pytest.raises(InvalidRequest, match=r"inputs \[job1\] vs dag \[a\]"):
        world.start(step_run_params={"job1": {}})
    with pytest.raises(ParamError):
        world.start(step_run_params={"a": {"util": text_param("x")}})
    world.start(step_run_params={"a": {"x": text_param("y")}})
    assert list(world.row().record.step_run_params) == ["a"]


def test_strategies_are_obeyed() -> None:
    world = made(flow(WORK, strategy="FIRST_ONLY"))
    world.start()
    dropped = world.start()
    assert dropped.status is StartStatus.STOPPED
    record = world.row(instance_id=2).record
    assert (record.status, record.start_time, record.end_time) == (
        "STOPPED",
        record.create_time,
        record.create_time,
    )


def test_the_newest_replaces_the_others() -> None:
    world = World(runtime=lambda _effect: None)
    world.publish(flow(WORK, strategy="LAST_ONLY"))
    world.start()
    world.settle()
    world.start()
    world.start()
    assert [world.status(instance_id=each) for each in (1, 2, 3)] == ["IN_PROGRESS", "STOPPED", "CREATED"]
    world.settle()
    assert [world.status(instance_id=each) for each in (1, 2, 3)] == ["STOPPED", "STOPPED", "IN_PROGRESS"]


def test_a_queue_goes_on_when_a_run_has_ended() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    for _ in range(3):
        world.start()
    assert [world.row(instance_id=each).phase for each in (1, 2, 3)] == ["ADMITTED", "QUEUED", "QUEUED"]
    world.settle()
    assert {world.status(instance_id=each) for each in (1, 2, 3)} == {"SUCCEEDED"}


def test_tags_of_workflow_and_request_meet() -> None:
    world = made(flow(NOOP, more="  tags: [blue, daily]\n"))
    world.start(runtime_tags=(Tag(name="adhoc"), Tag(name="blue", attributes={"x": 1})))
    tags = {tag.name: tag.attributes for tag in world.row().record.tags}
    assert tags == {"blue": {"x": 1}, "daily": {}, "adhoc": {}}


# -------------------------------------------------------------------------------------------------- triggers
def triggers(world: World) -> tuple[TimeInitiator, SignalInitiator]:
    version = world.do(world.store.version("flow", 1))
    assert version is not None
    workflow = version.workflow
    time = TimeInitiator(
        trigger_uuid=trigger_id("flow", (workflow.time_triggers or ())[0]), timezone="Europe/Berlin"
    )
    signal = SignalInitiator(
        trigger_uuid=trigger_id("flow", (workflow.signal_triggers or ())[0]),
        signal_id_map={"go": 1, "lost": 9},
    )
    return time, signal


@pytest.mark.parametrize("which", [0, 1])
def test_triggers_start_only_what_is_active_and_theirs(which: int) -> None:
    world = made(flow(NOOP, more=TRIGGERS))
    initiator: Any = triggers(world)[which]
    assert begin(world, initiator).status is StartStatus.CREATED
    stranger = type(initiator)(trigger_uuid="other")
    with pytest.raises(Conflict, match="Invalid trigger initiator due to mismatch trigger uuid"):
        begin(world, stranger)
    update = PropertiesUpdate(time_trigger_disabled=True, signal_trigger_disabled=True)
    world.do(update_properties(world.store, ANN, "flow", update))
    with pytest.raises(Unprocessable, match=r"Trigger type \[\w+\] is disabled for the workflow \[flow\]"):
        begin(world, initiator)
    world.do(deactivate(world.store, ANN, "flow"))
    with pytest.raises(InvalidRequest, match="Triggered workflow definition for workflow"):
        begin(world, initiator, "latest")


def test_a_triggered_run_reads_its_signals() -> None:
    more = (
        TRIGGERS
        + "  params: {day: {expression: \"return params.getFromSignal('go', 'day');\", type: STRING}}\n"
    )
    world = made(flow(NOOP, more=more))
    world.do(announce(world.store, ANN, SignalRequest(name="go", params={"day": "20240102"})))
    _time, signal = triggers(world)
    params = {"p": Parameter(type=ParamType.LONG, value=1, evaluated_result=1)}
    begin(world, SignalInitiator(trigger_uuid=signal.trigger_uuid, signal_id_map={"go": 1}, params=params))
    assert world.row().record.params["day"].evaluated_result == "20240102"
    with pytest.raises(ParamError, match="lost"):
        begin(
            world,
            signal,
            run_params={
                "x": ParamDefinition(
                    type=ParamType.STRING, expression="return params.getFromSignal('lost', 'x');"
                )
            },
        )


# ------------------------------------------------------------------------------------------------- as a step
def ancestor() -> Ancestor:
    return Ancestor(workflow_id="p", instance_id=1, run_id=1, step_id="s", step_attempt_id=1)


def test_nobody_starts_as_a_step_but_a_step() -> None:
    world = made()
    with pytest.raises(InvalidRequest, match="SUBWORKFLOW"):
        begin(world, SubworkflowInitiator(ancestors=(ancestor(),)))


@pytest.mark.parametrize("waits", [True, False])
def test_a_step_starts_a_child(waits: bool) -> None:
    world = made()
    attempt = AttemptKey(RunKey("p", 1, 1), "s", 1)
    sender = Sender(attempt=attempt, lease=world.leases[5], correlation_id="p:1:1", waits=waits)
    request = StartRequest(initiator=SubworkflowInitiator(ancestors=(ancestor(),)), request_id="child")
    world.do(start(world.store, ANN, "flow", "active", request, sender=sender))
    row = world.row()
    assert (row.parent is not None) is waits
    assert row.record.correlation_id == "p:1:1"
    assert [tag.name for tag in row.record.tags] == ["maestro_subworkflow"]
    old = Sender(attempt=attempt, lease=Lease(5, 0), correlation_id="p:1:1")
    late = StartRequest(initiator=request.initiator, request_id="late")
    with pytest.raises(Fenced, match="5"):
        world.do(start(world.store, ANN, "flow", "active", late, sender=old))


def test_only_leases_are_named_in_a_fence() -> None:
    snapshot = WorkflowSnapshot(
        workflow_id="flow",
        now=1,
        strategy=RunStrategy(rule=RunStrategyRule.PARALLEL),
        next_instance_id=1,
        counts=RunCounts(0, 0, 0),
        fenced=frozenset({RequestKey("a", Lease(3, 1))}),
    )
    candidates = [
        Candidate(request=Start("a"), record=lambda _key, _now: None, lease=Lease(3, 1)),  # type: ignore[arg-type, return-value]
        Candidate(request=Start("b"), record=lambda _key, _now: None),  # type: ignore[arg-type, return-value]
    ]
    fenced, accepted = decide_admission(snapshot, candidates).answer.answers
    assert isinstance(fenced, Fenced)
    assert fenced.groups == {3}
    assert isinstance(accepted, Accepted)


def test_a_workflow_without_an_owner_can_be_started() -> None:
    world = made()
    world.do(change_properties(world.store, ANN, "flow", "log", lambda _found, _before: Properties()))
    world.start()
    assert world.row().record.owner is None


def test_of_many_at_once_with_one_request_id_one_starts() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    same = StartRequest(initiator=ManualInitiator(), request_id="r")

    async def race() -> list[StartStatus]:
        starts = (start(world.store, ANN, "flow", "active", same) for _ in range(10))
        return [each.status for each in await asyncio.gather(*starts)]

    statuses = world.do(race())
    assert (statuses.count(StartStatus.CREATED), statuses.count(StartStatus.DUPLICATED)) == (1, 9)
