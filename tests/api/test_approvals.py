"""What steps ask people: the list over all workflows, answers, and who hears of it."""

from typing import Any

import pytest
from tests.api.following import follow, messages
from tests.api.serving import Served

from stretto.actions.reading.topics import ApprovalsTopic, topics_in
from stretto.model.event import StepStatusChanged, WorkflowDeleted


def asking(step_id: str = "ask", **more: Any) -> dict[str, Any]:
    return {"step": {"id": step_id, "type": "Wait", "transition": {}, **more}}


def text(value: str) -> dict[str, Any]:
    return {"type": "STRING", "value": value}


def opened(server: Served, workflow: str, *steps: dict[str, Any]) -> dict[str, Any]:
    """A run that asks, and the line of it."""
    server.push(workflow, *(steps or (asking(),)))
    server.start(workflow)
    return server.until(f"/approvals?workflow={workflow}", lambda page: page["elements"])["elements"][0]  # type: ignore[no-any-return]


def callback(line: dict[str, Any]) -> str:
    ref = line["ref"]
    return (
        f"/workflows/{ref['workflow_id']}/instances/{ref['workflow_instance_id']}/runs/{ref['workflow_run_id']}"
        f"/steps/{ref['step_id']}/attempts/{ref['step_attempt_id']}/callback"
    )


def done(server: Served, workflow: str) -> dict[str, Any]:
    page = server.until(f"/approvals?workflow={workflow}&state=done", lambda page: page["elements"])
    return page["elements"][0]  # type: ignore[no-any-return]


def test_a_question_with_its_form_and_its_answer(server: Served) -> None:
    params = {
        "prompt": text("Ship ${name}?"),
        "name": text("2.1"),
        "assignees": {"type": "STRING_ARRAY", "value": ["ann", "role:admin"]},
        "rounds": {"type": "LONG", "expression": "1 + 1"},
        "fixed": {"type": "LONG", "value": 1, "mode": "CONSTANT"},
    }
    line = opened(server, "shipping", asking("go", params=params, timeout="1 hour"))
    assert (line["prompt"], line["state"], line["workflow_id"]) == ("Ship 2.1?", "open", "shipping")
    assert line["assignees"] == ["ann", "role:admin"]
    assert line["due"] == line["create_time"] + 3_600_000
    assert "answer" not in line
    assert list(line["form"]["properties"]) == ["name", "rounds"]
    assert line["form"]["properties"]["rounds"]["default"] == {"type": "LONG", "value": 2}
    why = server.get("/workflows/shipping/instances/1/steps/go/why")
    (blocker,) = why["blockers"]
    assert (blocker["kind"], blocker["actions"]) == ("approval", ["callback"])
    assert blocker["detail"] == "it waits for an answer of ann, role:admin: Ship 2.1?"
    outputs = {"rounds": {"type": "LONG", "value": 7}}
    server.post(callback(line), {"outputs": outputs, "message": "well done"})
    closed = done(server, "shipping")
    assert closed["state"] == "approved"
    assert "form" not in closed
    answer = closed["answer"]
    assert (answer["user"], answer["note"]) == ("ann", "well done")
    assert answer["time"] >= line["create_time"]
    assert answer["values"]["rounds"]["evaluated_result"] == 7
    assert list(answer["values"]) == ["rounds"]
    assert server.get("/approvals?workflow=shipping")["elements"] == []


def test_the_description_is_what_is_asked_where_nothing_else_is(server: Served) -> None:
    line = opened(server, "described", asking(description="Look at it."))
    assert line["prompt"] == "Look at it."
    assert "form" not in line
    plain = opened(server, "plain")
    assert "prompt" not in plain
    assert "form" not in plain
    assert plain["assignees"] == []
    why = server.get("/workflows/plain/instances/1/steps/ask/why")
    assert why["sentence"] == "it waits for an answer"


def test_a_refusal_and_other_ends(server: Served) -> None:
    refused = opened(server, "refused")
    server.post(f"{callback(refused)}?reason=not today", {"approved": False})
    assert done(server, "refused")["answer"]["note"] == "not today"
    assert done(server, "refused")["state"] == "rejected"
    opened(server, "stopped")
    server.put("/workflows/stopped/instances/1/actions/stop")
    assert done(server, "stopped")["state"] == "withdrawn"
    opened(server, "late", asking(timeout="1 second"))
    assert done(server, "late")["state"] == "expired"
    assert server.get("/approvals?workflow=late")["elements"] == []


def test_an_answer_that_the_step_could_not_take_is_refused(server: Served) -> None:
    line = opened(server, "careful", asking(params={"rounds": {"type": "LONG", "value": 1}}))
    wrong = server.post(callback(line), {"outputs": {"rouns": {"type": "LONG", "value": 1}}}, 400)
    assert "[rouns]: the step does not declare it" in wrong["message"]
    server.post(callback(line), {"outputs": {"rounds": text("many")}}, 400)
    told = server.post(f"{callback(line)}?dry_run=true", {})
    assert (told["action"], told["dry_run"], told["step"]) == ("CALLBACK", True, line["ref"])
    assert server.get("/approvals?workflow=careful")["elements"] == [line]
    accepted = server.post(f"{callback(line)}?request_id=once", {})
    assert done(server, "careful")["state"] == "approved"
    assert server.post(f"{callback(line)}?request_id=once", {}) == accepted
    assert server.post(callback(line), {"request_id": "once"}) == accepted
    server.post(f"{callback(line)}?request_id=another", {}, 400)


def test_by_assignee_and_page_by_page(server: Served) -> None:
    for_bob = {"assignees": {"type": "STRING_ARRAY", "value": ["bob", " bob ", ""]}}
    server.push("shared", asking(params=for_bob))
    for _ in range(3):
        server.start("shared")
    server.until("/approvals?assignee=bob", lambda page: len(page["elements"]) == 3)
    assert server.get("/approvals?assignee=bob&workflow=other")["elements"] == []
    first = server.get("/approvals?assignee=bob&first=2")
    assert first["page_info"]["has_next_page"]
    assert first["elements"][0]["assignees"] == ["bob"]
    rest = server.get(f"/approvals?assignee=bob&first=2&cursor={first['page_info']['end_cursor']}")
    assert len(rest["elements"]) == 1
    assert not rest["page_info"]["has_next_page"]
    back = server.get(f"/approvals?assignee=bob&last=2&cursor={rest['page_info']['start_cursor']}")
    assert back["elements"] == first["elements"]


def test_inside_a_loop(server: Served) -> None:
    loop = {
        "foreach": {
            "id": "each",
            "params": {
                "loop_params": {"type": "MAP", "value": {"i": {"type": "LONG_ARRAY", "value": [1, 2]}}}
            },
            "steps": [asking("inner", params={"prompt": text("Number ${i}?")})],
        }
    }
    server.push("looping", loop)
    server.start("looping")
    page = server.until("/approvals?workflow=looping", lambda page: len(page["elements"]) == 2)
    assert {each["prompt"] for each in page["elements"]} == {"Number 1?", "Number 2?"}
    assert {each["workflow_id"] for each in page["elements"]} == {"looping"}
    for each in page["elements"]:
        server.post(callback(each), {})
    server.ended("looping")


def test_too_many_people_are_not_asked(server: Served) -> None:
    crowd = {"assignees": {"type": "STRING_ARRAY", "value": [f"user{number}" for number in range(101)]}}
    server.push("crowded", asking(params=crowd))
    server.start("crowded")
    server.ended("crowded", 1, "FAILED")
    (line,) = server.get("/workflows/crowded/instances/1/runs/1/steps/ask/attempts")
    assert line["reason"] == "[assignees] names 101 people, the limit is 100"
    server.push("named", asking(params={"assignees": {"type": "STRING_ARRAY", "value": ["x" * 300]}}))
    server.start("named")
    server.ended("named", 1, "FAILED")
    (line,) = server.get("/workflows/named/instances/1/runs/1/steps/ask/attempts")
    assert "has a name of 300 characters" in line["reason"]


@pytest.mark.parametrize("query", ["state=some", "first=0", "cursor=none", "last=1", "first=x"])
def test_wrong_questions_are_refused(server: Served, query: str) -> None:
    server.get(f"/approvals?{query}", 400)


# ----------------------------------------------------------------------------------------------------- live
def moved(**fields: Any) -> StepStatusChanged:
    return StepStatusChanged(
        workflow_id="w", workflow_instance_id=1, workflow_run_id=1, step_id="s", step_attempt_id=1, **fields
    )


def test_what_the_topic_holds() -> None:
    (topic,) = topics_in(["approvals"])
    assert isinstance(topic, ApprovalsTopic)
    assert topic.holds(moved(asks=True))
    assert not topic.holds(moved())
    assert not topic.holds(WorkflowDeleted(workflow_id="w", event_time=1))


def test_a_message_when_one_opens_and_when_it_closes(server: Served) -> None:
    server.push("heard", asking())
    with follow(server, "approvals", level="view") as response:
        stream = messages(response)
        assert next(stream).name == "hello"
        server.start("heard")
        heard = next(each for each in stream if each.data and each.data.get("ref", "").startswith("heard"))
        assert (heard.name, heard.data["state"], heard.data["ref"]) == ("approval", "open", "heard/1/1:ask/1")
        server.post(callback(server.get("/approvals?workflow=heard")["elements"][0]), {})
        heard = next(each for each in stream if each.data and each.data.get("ref", "").startswith("heard"))
        assert (heard.name, heard.data["state"]) == ("approval", "done")


def test_an_answer_before_the_step_asks_is_kept(server: Served) -> None:
    line = opened(server, "early", asking("gate", transition={"successors": {"ask": "true"}}), asking())
    ask = callback(line).replace("/steps/gate/", "/steps/ask/")
    accepted = server.post(ask, {"request_id": "r", "message": "go on"})
    assert server.post(ask, {"request_id": "r"}) == accepted
    run = "/workflows/early/instances/1/runs/1"
    server.until(run, lambda found: "approved step [ask] before it asks" in str(found["timeline"]))
    refused = server.post(ask, {"approved": False}, 400)
    assert "is answered already, user [ann] has approved it" in refused["message"]
    server.post(ask.replace("attempts/1", "attempts/2"), {}, 404)
    server.post(callback(line), {})
    server.ended("early", 1, "SUCCEEDED")
    assert done(server, "early")["answer"]["note"] == "go on"
