"""Everything at a glance, over HTTP."""

import pytest
from tests.api.serving import Served, served, shell, sleep


def test_all_at_a_glance() -> None:
    with served() as server:
        empty = server.get("/overview")
        assert (empty["failing"], empty["running"]) == ([], {"value": 0, "exact": True})
        assert len(empty["ended"]["buckets"]) == 48
        server.push("fails", shell("load", "echo disk full >&2; exit 1"))
        server.push("sleeps", sleep("s"))
        server.push("done")
        for instance in (1, 2):
            server.start("fails")
            server.ended("fails", instance, "FAILED")
        server.start("done")
        server.ended("done")
        server.start("sleeps")
        server.step_is("sleeps", "s", "RUNNING")
        found = server.until("/overview?window=1h", lambda each: each["waits"] == {"TIME": 1})
        (failing,) = found["failing"]
        assert failing["workflow_id"] == "fails"
        assert failing["streak"] == {"value": 2, "exact": True}
        assert failing["run"]["workflow_instance_id"] == 2
        assert failing["first_error"]["step_id"] == "load"
        assert found["failing_count"] == {"value": 1, "exact": True}
        assert found["running"] == {"value": 1, "exact": True}
        assert found["queued"]["value"] == 0
        counted = {code: sum(each.get(code, 0) for each in found["ended"]["buckets"]) for code in "sF"}
        assert counted == {"s": 1, "F": 2}
        assert (found["duration"]["sample"], found["start_delay"]["sample"]) == (1, 1)
        assert found["nodes"] == {"alive": 1, "leaving": 0, "silent": 0, "dead": 0}
        assert found["database_latency"] >= 0
        assert found["version"]


@pytest.mark.parametrize("window", ["", "soon", "1s", "99d", "-1h"])
def test_windows_that_are_none(server: Served, window: str) -> None:
    assert "Invalid window" in server.get("/overview", 400, params={"window": window})["message"]
