"""Workflows and runs over all of them: filters, orders, counts."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.api.serving import Served, noop, sleep

from stretto.model.status_codes import RUN_CODES

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "find-runs.md"


def names(found: Any) -> list[str]:
    return [each["workflow_id"] for each in found["elements"]]


def test_runs_by_what_started_them(server: Served) -> None:
    params = {
        "subworkflow_id": {"value": "below", "type": "STRING"},
        "subworkflow_version": {"value": "latest", "type": "STRING"},
    }
    server.push("below", noop("l"))
    server.push("above", {"subworkflow": {"id": "sub", "transition": {}, "params": params}})
    server.start("above")
    server.ended("above")
    for parent in ("above/1", "above/1/1", "above/1/1:sub", "above/1/1:sub/1"):
        (line,) = server.get("/instances", params={"parent": parent})["elements"]
        assert line["workflow_id"] == "below"
        assert line["root"] == {
            "workflow_id": "above",
            "workflow_instance_id": 1,
            "workflow_run_id": 1,
        }
        assert line["parent"]["step_id"] == "sub"
    assert names(server.get("/instances?workflow=below&initiator=subworkflow")) == ["below"]
    assert names(server.get("/instances?workflow=below&initiator=MANUAL")) == []
    assert names(server.get("/instances?workflow=above&version=1")) == ["above"]
    assert names(server.get("/instances?workflow=above&version=2")) == []
    assert "below" not in names(server.get("/instances?roots=true&since=1&initiator=MANUAL"))


def test_runs_in_order_and_counted(server: Served) -> None:
    server.push("counted")
    for instance in (1, 2, 3):
        server.start("counted")
        server.ended("counted", instance)
    page = server.get("/instances?workflow=counted&sort=create_time&first=2&include=count")
    assert [each["workflow_instance_id"] for each in page["elements"]] == [1, 2]
    assert page["count"] == {"value": 3, "exact": True}
    cursor = page["page_info"]["end_cursor"]
    rest = server.get(f"/instances?workflow=counted&sort=create_time&first=2&cursor={cursor}")
    assert [each["workflow_instance_id"] for each in rest["elements"]] == [3]
    assert "count" not in rest
    assert "count" not in server.get("/workflows/counted/instances?first=5")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("sort=duration", "no other order has one"),
        ("sort=", "Invalid sort"),
        ("initiator=manuel", "MANUAL"),
        ("initiator=MANUAL", "no index of initiators alone"),
        ("version=1", "name the workflow"),
        ("parent=nonsense", "Invalid parent"),
        ("parent=above", "Invalid parent"),
        ("include=counts", "did you mean"),
        ("cursor=x", "Invalid cursor"),
        ("first=201", "1 to 200"),
    ],
)
def test_runs_that_nobody_can_ask_for(server: Served, query: str, words: str) -> None:
    assert words in server.get(f"/instances?{query}", 400)["message"]


@pytest.mark.parametrize("query", ["version=x", "version=-1", "since=soon", "roots=perhaps", "first=x"])
def test_runs_asked_for_with_what_is_no_number(server: Served, query: str) -> None:
    assert server.get(f"/instances?{query}", 400)["title"] == "Bad Request"


def test_the_parent_must_be_there(server: Served) -> None:
    assert "nowhere" in server.get("/instances?parent=nowhere/1/1", 404)["message"]


def test_workflows_with_what_their_rows_carry(server: Served) -> None:
    server.push("rich-held", sleep("s"))
    server.push("rich-done", noop("a"))
    server.start("rich-held")
    server.step_is("rich-held", "s", "RUNNING")
    server.start("rich-done")
    server.ended("rich-done")
    rows = server.get("/workflows?q=RICH&include=recent,counts,p50,next")["elements"]
    done, held = rows
    assert (done["workflow_id"], held["workflow_id"]) == ("rich-done", "rich-held")
    assert (done["active"], done["triggers"]) == (True, {"time": 0, "signal": 0})
    assert (done["counts"], held["counts"]) == ({"s": 1}, {"r": 1})
    assert done["p50"] == done["recent"][0][4]
    assert held["recent"][0][:3] == [1, 1, "r"]
    assert held["recent"][0][4] is None
    assert names(server.get("/workflows?q=rich&has=in_progress")) == ["rich-held"]
    assert names(server.get("/workflows?q=rich&has=SUCCEEDED")) == ["rich-done"]
    assert names(server.get("/workflows?q=rich&has=SUCCEEDED&since=99999999999999")) == []
    assert names(server.get("/workflows?q=done+rich&active=true&owner=ann")) == ["rich-done"]
    assert names(server.get("/workflows?q=rich&active=false")) == []
    server.put("/workflows/rich-held/actions/kill", 202)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("has=BROKEN", "Invalid has"),
        ("has=FAILED,STOPPED", "Invalid has [FAILED,STOPPED]"),
        ("q=a+b+c+d+e+f", "6 words"),
        ("include=next_fire", "include"),
    ],
)
def test_workflows_that_nobody_can_ask_for(server: Served, query: str, words: str) -> None:
    assert words in server.get(f"/workflows?{query}", 400)["message"]


def test_active_is_a_flag(server: Served) -> None:
    assert server.get("/workflows?active=perhaps", 400)["title"] == "Bad Request"


def test_when_runs_were_created(server: Served) -> None:
    server.push("spread")
    server.start("spread")
    server.ended("spread")
    found = server.get("/instances/histogram?workflow=spread&initiator=manual&version=1&roots=true")
    assert (len(found["buckets"]), found["buckets"][-1]) == (48, {"s": 1})
    assert "complete_since" not in found
    few = server.get("/instances/histogram?buckets=2&until=1000&owner=ann&tag=x&status=FAILED")
    assert (few["since"], few["width"], few["buckets"]) == (0, 500, [{}, {}])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("buckets=0", "1 to 500"),
        ("buckets=501", "1 to 500"),
        ("since=5&until=5", "before it begins"),
        ("since=99999999999999", "before it begins"),
        ("version=3", "name the workflow"),
        ("initiator=x", "Invalid initiator"),
        ("status=x", "Invalid status"),
    ],
)
def test_histograms_that_nobody_can_ask_for(server: Served, query: str, words: str) -> None:
    assert words in server.get(f"/instances/histogram?{query}", 400)["message"]


def test_search(server: Served) -> None:
    server.push("sought-one")
    made = server.start("sought-one", request_id="sought-request")
    server.ended("sought-one")
    server.post("/signals", {"name": "sought/signal"})
    server.post("/tag-permits", {"tag": "sought/tag", "max_allowed": 3})
    all_of_it = server.get("/search?q=sought")
    assert [each["workflow_id"] for each in all_of_it["workflows"]] == ["sought-one"]
    assert (all_of_it["tags"], all_of_it["signals"]) == (["sought/tag"], ["sought/signal"])
    for text in ("sought-one/1", "sought-one/1/1", made["workflow_uuid"], "sought-one:1:1"):
        (run,) = server.get("/search", params={"q": text})["runs"]
        assert (run["workflow_id"], run["workflow_instance_id"]) == ("sought-one", 1)
    assert names(server.get("/instances?uuid=sought-request")) == ["sought-one"]
    assert server.get("/search?q=", 400)["status"] == "BAD_REQUEST"
    assert server.get("/search", 400)["title"] == "Bad Request"


def test_what_the_page_about_finding_runs_says(server: Served) -> None:
    text = PAGE.read_text(encoding="utf-8")
    paths = re.findall(r"^GET /api/v3(\S+)$", text, re.MULTILINE)
    assert len(paths) == 8
    for path in paths:
        server.get(path, 404 if "12" in path and "q=" not in path else 200)  # a run that is not here
    letters = dict(re.findall(r"`(\w)` \| ([A-Z_]+)", text))
    assert letters == {code: status.value for status, code in RUN_CODES.items()}
