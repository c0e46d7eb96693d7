"""Output signals read what their step and run have; a trigger that can not be evaluated says so."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.serving import LOOP, Served, noop, served

LONG = "LONG"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


def announcing(signal: str, expression: str, name: str = "v", **params: int) -> dict[str, Any]:
    step = noop("only")
    step["step"]["signal_outputs"] = [
        {"name": signal, "params": {name: {"type": LONG, "expression": expression}}}
    ]
    if params:
        step["step"]["params"] = {name: {"type": LONG, "value": value} for name, value in params.items()}
    return step


@pytest.mark.parametrize("semantics", ["default", "STRETTO"])
@pytest.mark.parametrize(
    ("case", "step", "value"),
    [
        ("own", announcing("own", "rows", "rows", rows=7), {"rows": 7}),
        ("id", announcing("id", "workflow_instance_id"), {"v": 1}),
        ("run", announcing("run", "return batch + 1;"), {"v": 6}),
        ("both", announcing("both", "return rows + batch;", "batch", rows=7), {"batch": 12}),
    ],
)
def test_a_signal_carries_values(
    server: Served, case: str, step: dict[str, Any], value: dict[str, int], semantics: str
) -> None:
    name = f"carrying-{case}-{semantics}".lower()
    (signal,) = step["step"]["signal_outputs"]
    step = {"step": {**step["step"], "signal_outputs": [{**signal, "name": name}]}}
    more = {} if semantics == "default" else {"semantics": semantics}
    text = {"id": name, "params": {"batch": {"type": LONG, "value": 5}}, "steps": [step], **more}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": text})
    server.start(name)
    server.ended(name)
    assert server.get(f"/signals/{name}/instances/latest")["params"] == value


def test_a_signal_of_an_iteration_carries_its_value(server: Served) -> None:
    inner = announcing("carrying-loop", "i", "i")
    inner["step"]["id"] = "inner"
    server.push("carrying-loop", {"foreach": {**LOOP["foreach"], "steps": [inner]}})
    server.start("carrying-loop")
    server.ended("carrying-loop")
    found = [server.get(f"/signals/carrying-loop/instances/{number}") for number in (1, 2, 3)]
    assert sorted(each["params"]["i"] for each in found) == [7, 8, 9]


def test_a_condition_of_a_step_without_parameters_reads_the_run(server: Served) -> None:
    first = noop("first")
    first["step"]["transition"] = {"successors": {"second": "workflow_instance_id == 1"}}
    server.push("reading-run", first, noop("second"))
    server.start("reading-run")
    server.ended("reading-run")
    server.step_is("reading-run", "second", "SUCCEEDED")


@pytest.mark.parametrize(
    ("case", "trigger"),
    [
        ("condition", {"condition": "nobody > 1"}),
        ("division", {"condition": "1 / 0 > 0"}),
        ("param", {"params": {"p": {"type": LONG, "expression": "nobody + 1"}}, "condition": "p > 0"}),
    ],
)
def test_a_trigger_that_can_not_be_evaluated_says_so(
    server: Served, case: str, trigger: dict[str, Any]
) -> None:
    name = f"troubled-{case}"
    text = {"id": name, "signal_triggers": [{"definitions": {name: {}}, **trigger}], "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": text})
    server.post("/signals", {"name": name})
    told = server.until(
        f"/workflows/{name}/timeline", lambda found: "started no run" in str(found["timeline_events"])
    )
    assert name in str(told["timeline_events"])
    assert "1 of them in trouble" in server.get(f"/workflows/{name}/why")["sentence"]


def test_a_dedup_expression_that_can_not_be_evaluated_is_told_and_starts_a_run(server: Served) -> None:
    trigger = {"definitions": {"troubled-dedup": {}}, "dedup_expr": "nobody"}
    text = {"id": "troubled-dedup", "signal_triggers": [trigger], "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": text})
    server.post("/signals", {"name": "troubled-dedup"})
    server.ended("troubled-dedup")
    told = server.get("/workflows/troubled-dedup/timeline")["timeline_events"]
    assert "could not evaluate its dedup_expr, and went on without" in str(told)
