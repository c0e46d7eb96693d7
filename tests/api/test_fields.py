"""Reads of runs and steps with some of their fields."""

import pytest
from tests.api.serving import LOOP, Served, noop

RUN_IDS = {"workflow_id", "workflow_instance_id", "workflow_run_id", "status"}
STEP_IDS = {"workflow_id", "workflow_instance_id", "workflow_run_id", "step_id", "step_attempt_id"}
ONE = "/workflows/some/instances/1"
RUNS = (
    ONE,
    f"{ONE}/runs/1",
    f"{ONE}/runs/1?aggregated=true",
    f"{ONE}/runs?first=5",
    "/workflows/some/instances?first=5",
)
STEPS = (f"{ONE}/steps/each", f"{ONE}/runs/1/steps/each/attempts/1", f"{ONE}/steps", f"{ONE}/runs/1/steps")


@pytest.fixture(scope="module", autouse=True)
def world(server: Served) -> None:
    server.push("some", noop("a"), LOOP)
    server.start("some")
    server.ended("some")


def ask(server: Served, path: str, fields: str) -> list[dict[str, object]]:
    """The records of an answer, whatever holds them."""
    found = server.get(f"{path}{'&' if '?' in path else '?'}fields={fields}")
    if isinstance(found, list):
        return found
    records: list[dict[str, object]] = found.get("elements", [found])
    return records


@pytest.mark.parametrize("path", RUNS)
def test_some_fields_of_a_run(server: Served, path: str) -> None:
    whole = server.get(path)
    whole = whole["elements"][0] if "elements" in whole else whole
    for names in ({"initiator", "timeline"}, {"runtime_dag"}, {"runtime_overview", "run_config"}, set()):
        (found,) = ask(server, path, ",".join(names))
        assert set(found) == RUN_IDS | (names & whole.keys())
        assert found == {name: whole[name] for name in found}


@pytest.mark.parametrize("path", STEPS)
def test_some_fields_of_a_step(server: Served, path: str) -> None:
    for names in ({"runtime_state"}, {"artifacts", "params"}):
        found = ask(server, path, ", ".join(names))[-1]
        assert set(found) == STEP_IDS | names
    assert ask(server, path, "workflow_id,")[-1].keys() == STEP_IDS


@pytest.mark.parametrize("path", [*RUNS, *STEPS])
def test_a_field_that_is_not_there(server: Served, path: str) -> None:
    answer = server.get(f"{path}{'&' if '?' in path else '?'}fields=params,initiatr", 400)
    assert "Invalid field [initiatr]" in answer["message"]
    assert "the fields are " in answer["message"]
    assert "timeline" in answer["message"]


def test_the_nearest_field_is_named(server: Served) -> None:
    assert "did you mean `timeline`?" in server.get(f"{ONE}?fields=timelin", 400)["message"]
    assert "did you mean" not in server.get(f"{ONE}?fields=qqqq", 400)["message"]


def test_the_head_of_a_first_run_needs_no_steps(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(_rows: object, _wanted: object) -> object:
        raise AssertionError("no step is asked for")

    monkeypatch.setattr("stretto.store.memory.run_snapshots._Rows.steps", nobody)
    assert server.get(f"{ONE}?fields=initiator")["status"] == "SUCCEEDED"
    server.get(f"{ONE}?fields=runtime_overview", 500)
