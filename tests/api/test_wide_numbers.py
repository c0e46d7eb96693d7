"""Whole numbers of more than 64 bits, `NaN` and the infinities over HTTP, on each database."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.api.databases import database_url
from tests.api.serving import YAML, Served, noop, served

from stretto.client import Client
from stretto.definition import parse
from stretto.flow import sleep, when, workflow
from stretto.model.errors import InvalidRequest

BIG = 2**70
WORDS = {math.inf: "Infinity", -math.inf: "-Infinity"}


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgresql", "mariadb"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(url=database_url(request, tmp_path_factory.mktemp("database"))) as made:
        yield made


@workflow(owner="ann", run_strategy="PARALLEL")
def squared(n: int, ns: list[int], xs: list[float], most: int = BIG, x: float = math.nan) -> int:
    nap = sleep(0)
    with when(xs[0] == 0.5):
        sleep(0, id="half").after(nap)
    with when(n > most - 1):
        sleep(0, id="large").after(nap)
    with when(x == x):  # noqa: PLR0124 - which nan does not
        sleep(0, id="number").after(nap)
    return n * n + ns[0]


@workflow(owner="ann", run_strategy="PARALLEL")
def opposite(x: float, xs: list[float]) -> float:  # noqa: ARG001
    sleep(0)
    return -x


def strict(text: str) -> Any:
    """JSON as RFC 8259 has it: without NaN and infinities."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"bare {word} in {text}")

    return json.loads(text, parse_constant=refuse)


def read(server: Served, path: str) -> Any:
    response = server.client.get(f"/api/v3{path}")
    assert response.status_code == 200, response.text
    return strict(response.text)


def test_a_definition_a_run_and_its_result(server: Served) -> None:
    assert parse(squared.to_yaml()) == squared.definition
    response = server.client.post("/api/v3/workflows/yaml", content=squared.to_yaml(), headers=YAML)
    assert response.status_code == 200, response.text
    stored = read(server, "/workflows/squared/versions/latest")["workflow"]["params"]
    assert stored["most"]["value"] == BIG
    assert stored["x"]["value"] == "NaN"
    given = {"n": BIG, "ns": [BIG, 1, -BIG], "xs": [math.nan, 0.5, -math.inf]}
    with Client(server.url, user="ann") as client:
        started = client.start("squared", params=given)
        run = client.wait(started)
        assert run.status == "SUCCEEDED"
        assert run.params is not None
        assert run.params["n"].evaluated_result == BIG
        assert run.params["ns"].evaluated_result == (BIG, 1, -BIG)
        nan, half, infinite = run.params["xs"].evaluated_result
        assert (nan.is_nan(), half, infinite) == (True, Decimal("0.5"), Decimal("-Infinity"))
        assert run.params["x"].evaluated_result.is_nan()
        assert squared.returns is not None
        found = client.step(started, squared.returns.step).params[squared.returns.param]
        assert found.evaluated_result == BIG * BIG + BIG
        statuses = {each.step_id: str(each.runtime_state.status) for each in client.steps(started)}
        assert (statuses["large"], statuses["number"]) == ("SUCCEEDED", "UNSATISFIED")
        assert statuses["half"] == "UNSATISFIED"
    instance = f"/workflows/squared/instances/{started.workflow_instance_id}"
    assert read(server, instance)["params"]["xs"]["evaluated_result"] == ["NaN", 0.5, "-Infinity"]
    read(server, f"{instance}/runs/1/steps")
    read(server, f"{instance}/why")


@pytest.mark.parametrize("x", [math.inf, -math.inf])
def test_infinities(server: Served, x: float) -> None:
    response = server.client.post("/api/v3/workflows/yaml", content=opposite.to_yaml(), headers=YAML)
    assert response.status_code == 200, response.text
    with Client(server.url, user="ann") as client:
        started = client.start("opposite", params={"x": x, "xs": [x]})
        client.wait(started)
    assert opposite.returns is not None
    path = f"/workflows/opposite/instances/{started.workflow_instance_id}/steps/{opposite.returns.step}"
    param = read(server, path)["params"][opposite.returns.param]
    assert param["evaluated_result"] == WORDS[-x]


# ------------------------------------------------------------------------------------ definitions of Maestro
@pytest.mark.parametrize(
    "param",
    [
        {"type": "LONG", "value": BIG},
        {"type": "DOUBLE", "value": "NaN"},
        {"type": "LONG_ARRAY", "value": [1, BIG]},
        {"type": "DOUBLE_ARRAY", "value": ["Infinity"]},
        {"type": "MAP", "value": {"inner": {"type": "LONG", "value": -BIG}}},
    ],
)
def test_maestro_has_no_such_literals(server: Served, param: dict[str, Any]) -> None:
    workflow = {"id": "narrow", "params": {"p": param}, "steps": [noop("a")]}
    body = {"properties": {"owner": "ann"}, "workflow": workflow}
    response = server.client.post("/api/v3/workflows", json=body)
    assert response.status_code == 400
    assert "does not fit into 64 bits" in response.text or "is not finite" in response.text


@pytest.mark.parametrize(("kind", "value"), [("LONG", BIG), ("DOUBLE", math.inf)])
def test_maestro_takes_no_such_parameters(server: Served, kind: str, value: Any) -> None:
    workflow = {"id": "maestro", "params": {"p": {"type": kind, "value": 1}}, "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    with Client(server.url, user="ann") as client, pytest.raises(InvalidRequest, match=r"Param \[p\] is"):
        client.start("maestro", params={"p": value})
