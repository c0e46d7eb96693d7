"""Every call against a real server: what is asked for is done, and what comes back is a record."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any

import pytest
from tests.api.serving import LOOP, Served, noop, shell, sleep

from stretto.client import RunName
from stretto.model.approval import ApprovalState
from stretto.model.errors import Conflict, InvalidRequest, NotFound, StrettoError, TimedOut, WrongState
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.properties import PropertiesUpdate
from stretto.model.response import StartStatus
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.workflow import Definition

FAILING = shell("bad", "exit 3")
NAMES = iter(range(1_000_000))


def fresh(prefix: str = "wf") -> str:
    """A name that no other test has, as both drivers meet the same server."""
    return f"{prefix}{next(NAMES)}"


# ---------------------------------------------------------------------------------------------- workflows
def test_push_and_read(client: Any) -> None:
    name = fresh()
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "steps": [noop("a")]}}
    first = client.push(body)
    assert first.metadata.workflow_version_id == 1
    again = client.push(Definition(workflow=first.workflow))
    assert again.metadata.workflow_version_id == 2
    assert client.version(name).metadata.workflow_version_id == 2
    assert client.version(name, 1).workflow == first.workflow
    page = client.versions(name, first=1)
    assert page.total_count == 2
    assert page.elements[0].metadata.workflow_version_id == 2
    older = client.versions(name, first=1, cursor=page.page_info.end_cursor)
    assert older.elements[0].metadata.workflow_version_id == 1
    assert client.overview(name).latest_version_id == 2
    assert [each.workflow_id for each in client.workflows(prefix=name).elements] == [name]


def test_push_yaml(client: Any) -> None:
    name = fresh()
    text = (
        f"properties: {{owner: ann}}\nworkflow:\n  id: {name}\n  steps: [{{step: {{id: a, type: NoOp}}}}]\n"
    )
    assert client.push_yaml(text).metadata.workflow_version_id == 1
    assert client.push_yaml(text.encode(), if_latest=1).metadata.workflow_version_id == 2
    with pytest.raises(Conflict):
        client.push_yaml(text, if_latest=1)
    with pytest.raises(Conflict):
        client.push({"workflow": {"id": name, "steps": [noop("a")]}}, if_latest=0)


def test_properties(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    assert client.set_properties(name, PropertiesUpdate(description="nightly")).description == "nightly"
    assert client.properties(name).description == "nightly"


def test_activate_deactivate_delete(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    assert client.deactivate(name).workflow_id == name
    assert client.activate(name).workflow_version_id == 1
    assert client.delete_workflow(name, reason="old") is None
    with pytest.raises(NotFound):
        client.version(name)


# ------------------------------------------------------------------------------------------------- starting
def test_the_same_request_never_starts_two(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    request_id = fresh("request")
    first = client.start(name, request_id=request_id)
    second = client.start(name, 1, request_id=request_id)
    assert (first.status, second.status) == (StartStatus.CREATED, StartStatus.DUPLICATED)
    assert second.workflow_instance_id == first.workflow_instance_id
    assert client.start(name).workflow_instance_id != first.workflow_instance_id


def test_a_request_id_used_with_other_parameters_is_a_conflict(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    request_id = fresh("request")
    given = {"rates": [0.1, 1], "days": {"b": "2", "a": "1"}}
    first = client.start(name, params=given, request_id=request_id)
    again = client.start(name, params=given | {"days": {"a": "1", "b": "2"}}, request_id=request_id)
    assert again.workflow_instance_id == first.workflow_instance_id
    with pytest.raises(Conflict, match="with other parameters: days, more"):
        client.start(name, params=given | {"days": {"a": "1"}, "more": True}, request_id=request_id)


def test_plain_values_are_parameters(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    given = {
        "text": "costs $5",
        "count": 3,
        "rate": 0.1,
        "flag": True,
        "days": [1, 2],
        "rates": (1, 0.5),
        "none": [],
        "words": {"a": "x"},
        "mixed": {"a": "x", "b": 2, "c": {"d": [True]}},
        "computed": ParamDefinition(type=ParamType.LONG, expression="1 + 1;"),
    }
    run = client.wait(client.start(name, params=given, tags=("nightly",)))
    found = {key: param.evaluated_result for key, param in run.params.items() if key in given}
    assert found == {
        "text": "costs $5",
        "count": 3,
        "rate": Decimal("0.1"),
        "flag": True,
        "days": (1, 2),
        "rates": (Decimal(1), Decimal("0.5")),
        "none": (),
        "words": {"a": "x"},
        "mixed": {"a": "x", "b": 2, "c": {"d": [True]}},
        "computed": 2,
    }


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "NoneType can not be sent"),
        ([1, "a"], "elements of one kind"),
        ([[1]], "elements of one kind"),
        ({"a": object()}, r"\[p.a\].*object can not be sent"),
    ],
)
def test_values_that_are_no_parameters(client: Any, value: Any, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        client.start("any", params={"p": value})


# ----------------------------------------------------------------------------------------------------- runs
def test_wait_and_read(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name, noop("a", "b"), sleep("b", 1))
    started = client.start(name)
    run = client.wait(started)
    assert (run.status, run.workflow_id) == (InstanceStatus.SUCCEEDED, name)
    assert client.wait(f"{name}/1").timeline == run.timeline  # one that has ended
    names: list[RunName] = [f"{name}/1", f"{name}/1/1", (name, 1), (name, 1, 1), started, run]
    assert {client.run(each).workflow_uuid for each in names} == {run.workflow_uuid}
    assert client.run(started, enriched=False).workflow_uuid == run.workflow_uuid
    assert {each.step_id for each in client.steps(started)} == {"a", "b"}
    assert client.step(started, "a").runtime_state.status is StepStatus.SUCCEEDED
    assert client.step(started, "a", 1).step_attempt_id == 1
    assert [each.step_attempt_id for each in client.attempts(started, "a")] == [1]
    page = client.runs(workflow=name, status=[RunStatus.SUCCEEDED, "failed"], roots=True, since=0)
    assert [each.workflow_instance_id for each in page.elements] == [1]
    assert page.elements[0].counts == {StepStatus.SUCCEEDED: 2}
    assert not client.runs(workflow=name, status=["failed"]).elements
    assert client.runs(workflow=name, status="succeeded") == client.runs(workflow=name)
    assert not client.runs(workflow=name, status=RunStatus.FAILED).elements


def test_waiting_has_an_end(
    client: Any, server: Served, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    name = fresh()
    server.push(name, sleep("s"))
    started = client.start(name)
    with at_most(5), pytest.raises(TimedOut, match=f"run {name}/1/1 has not ended within 0.5 s"):
        client.wait(started, within=0.5)
    with pytest.raises(TimedOut, match=f"run {name}/1 has"):
        client.wait(f"{name}/1", within=0)
    client.stop(started)
    assert client.wait(started, within=30).status is InstanceStatus.STOPPED


def test_stop_kill_pause_resume(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"))
    server.start(name)
    server.step_is(name, "s", "RUNNING")
    with pytest.raises(InvalidRequest, match="Cannot resume run"):
        client.resume(f"{name}/1")
    client.pause(f"{name}/1")
    server.until(f"/workflows/{name}/instances/1", lambda found: found["status"] == "PAUSED")
    client.resume(f"{name}/1")
    assert "wrong table" in client.stop(f"{name}/1", reason="wrong table").info
    assert client.wait(f"{name}/1").status is InstanceStatus.STOPPED
    assert client.stop(f"{name}/1/1").completed
    server.start(name)
    client.kill((name, 2))
    assert client.wait((name, 2)).status is InstanceStatus.FAILED
    assert "FAILED" in client.why((name, 2)).sentence


def test_parameters_of_steps(client: Any, server: Served) -> None:
    name = fresh()
    reader = noop("a")
    reader["step"]["params"] = {"seen": {"expression": "n * 10", "type": "LONG"}}
    workflow = {"id": name, "params": {"n": {"value": 1, "type": "LONG"}}, "steps": [reader]}
    client.push({"properties": {"owner": "ann"}, "workflow": workflow})

    def seen() -> Any:
        server.ended(name)
        return client.step((name, 1), "a").params["seen"].evaluated_result

    client.start(name, step_params={"a": {"n": 2}})
    assert seen() == 20
    client.restart((name, 1), policy=RunPolicy.RESTART_FROM_BEGINNING, step_params={"a": {"n": 3}})
    server.until(f"/workflows/{name}/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")
    assert seen() == 30
    client.restart_step((name, 1), "a", run_params={"n": 4})
    server.until(f"/workflows/{name}/instances/1/runs/3", lambda run: run["status"] == "SUCCEEDED")
    assert seen() == 40  # the newest request wins over what the start gave to the step


def test_restart_and_unblock(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name, FAILING, run_strategy="STRICT_SEQUENTIAL")
    first = client.wait(client.start(name))
    assert first.status is InstanceStatus.FAILED
    again = client.restart(first, policy=RunPolicy.RESTART_FROM_BEGINNING, params={"extra": 1})
    assert again.workflow_run_id == 2
    assert client.wait(again).params["extra"].evaluated_result == 1
    assert client.unblock(first.workflow_id + "/1").completed
    with pytest.raises(InvalidRequest, match="policy"):
        client.restart(again, policy=RunPolicy.START_FRESH_NEW_RUN)


# ---------------------------------------------------------------------------------------------------- steps
def test_actions_on_steps(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"), sleep("k"), sleep("x"))
    server.start(name)
    for each in "skx":
        server.step_is(name, each, "RUNNING")
    assert client.why_step(f"{name}/1", "s").status is StepStatus.RUNNING
    assert [each.step_id for each in client.why(f"{name}/1").steps] == ["s", "k", "x"]
    assert client.skip(f"{name}/1", "s").step_runtime_state.status is StepStatus.SKIPPED
    client.stop_step(f"{name}/1", "x")
    client.kill_step(f"{name}/1", "k")
    assert client.wait(f"{name}/1").status is not InstanceStatus.SUCCEEDED
    assert client.step(f"{name}/1", "k").runtime_state.status is StepStatus.FATALLY_FAILED
    restarted = client.restart_step(f"{name}/1", "x", params={"sleep_seconds": 0})
    assert (restarted.workflow_run_id, restarted.step_id) == (2, "x")


def test_what_people_are_asked(client: Any, server: Served) -> None:
    name = fresh()
    rounds = {"rounds": {"type": "LONG", "value": 1}}
    server.push(name, {"step": {"id": "ask", "type": "Wait", "params": rounds}})
    for number in (1, 2):
        server.start(name)
        server.step_is(name, "ask", "RUNNING", number)
    page = client.approvals(workflow=name, first=1)
    (line,) = page.elements
    (other,) = client.approvals(workflow=name, cursor=page.page_info.end_cursor).elements
    assert {line.state, other.state} == {ApprovalState.OPEN}
    client.answer(line.ref, "ask", values={"rounds": 3}, note="well done")
    assert client.wait(line.ref).status is InstanceStatus.SUCCEEDED
    client.answer(f"{name}/{other.ref.workflow_instance_id}/1", "ask", approved=False)
    assert client.wait(other.ref).status is InstanceStatus.FAILED
    told = {each.state: each.answer for each in client.approvals(workflow=name, done=True).elements}
    assert told[ApprovalState.APPROVED].values["rounds"].evaluated_result == 3
    assert told[ApprovalState.APPROVED].note == "well done"
    assert told[ApprovalState.REJECTED].note is None
    assert client.approvals(assignee="nobody", workflow=name).elements == ()


def test_paths_into_loops(client: Any, server: Served) -> None:
    name = fresh()
    server.push(name, LOOP)
    run = client.wait(client.start(name))
    found = client.resolve(run, "each[2].inner")
    assert found.step_id == "inner"
    assert client.step(found, "inner").runtime_state.status is StepStatus.SUCCEEDED


# --------------------------------------------------------------------------------------------------- others
def test_signals(client: Any) -> None:
    name = f"db/{fresh('signal')}"
    assert client.signal(name) is None
    request_id = fresh("request")
    made = client.announce(name, {"day": 20261116}, payload={"rows": 7}, request_id=request_id)
    with pytest.raises(Conflict, match="announced before"):
        client.announce(name, request_id=request_id)
    found = client.signal(name)
    assert (found.seq_id, found.params, found.payload) == (made.seq_id, {"day": 20261116}, {"rows": 7})
    assert client.signal(name, made.seq_id) == found
    assert client.announce(f"{name}2").seq_id == 1


def test_health(client: Any) -> None:
    found = client.health()
    assert found.is_up
    assert found.reason is None


# ------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda client: client.start("absent"), NotFound, "Cannot find workflow"),
        (lambda client: client.run("absent/1"), NotFound, "absent"),
        (lambda client: client.run("absent"), InvalidRequest, "`absent` names no run"),
        (lambda client: client.start(""), InvalidRequest, "a name is empty"),
        (lambda client: client.start("etl", ""), InvalidRequest, "a name is empty"),
        (lambda client: client.start("etl", request_id=""), InvalidRequest, "the request id is empty"),
        (lambda client: client.runs(status=["wrong"]), InvalidRequest, r"Invalid status \[wrong\] \(one of"),
        (lambda client: client.push({"workflow": {}}), InvalidRequest, "id"),
        (lambda client: client.follow("what:ever").__next__(), InvalidRequest, r"Invalid topic"),
        (lambda client: list(client.follow_run("absent/1")), NotFound, "absent"),
    ],
)
def test_refusals_are_the_errors_of_the_server(
    client: Any, call: Any, kind: type[StrettoError], said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        call(client)
    assert caught.value.status == kind.status


def test_all_problems_of_a_definition_are_told(client: Any) -> None:
    name = fresh()
    steps = [noop("a", "x"), noop("b", "y")]
    with pytest.raises(InvalidRequest) as caught:
        client.push({"workflow": {"id": name, "steps": steps}})
    assert len(caught.value.details) >= 2


def test_who_is_nobody_can_change_nothing(server: Served) -> None:
    from stretto.client import Client  # noqa: PLC0415 - the others are given theirs

    with Client(server.url) as nobody, pytest.raises(InvalidRequest, match="user name"):
        nobody.deactivate("any")


def test_wrong_states_are_requests_that_make_no_sense() -> None:
    assert issubclass(WrongState, InvalidRequest)
