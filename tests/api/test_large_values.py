"""Values of ten megabytes go through where the settings allow them; else the refusal names the setting."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from tests.api.databases import database_url
from tests.api.serving import Served, noop, served

from stretto.api.settings import ServerSettings
from stretto.config import Config
from stretto.params import ParamLimits

MB: Final = 1024 * 1024
TEN: Final = 10_000_000
FUNCTION: Final = "tests.api.large_results:large"


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgresql", "mariadb"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that takes more than it does by default."""
    url = database_url(request, tmp_path_factory.mktemp("database"))
    settings = ServerSettings(stop_within=1_000, body=16 * MB)
    with served(Config(params=ParamLimits(size=16 * MB), server=settings), settings, url) as made:
        yield made


def returning(size: int) -> dict[str, Any]:
    """A step whose function returns a text of so many characters."""
    params = {
        "entrypoint": {"type": "STRING", "value": FUNCTION},
        "size": {"type": "LONG", "value": size},
        "result": {"type": "STRING", "value": ""},
    }
    retry = {"error_retry_limit": 0}
    return {"step": {"id": "make", "type": "Python", "params": params, "retry_policy": retry}}


def result_of(server: Served, workflow_id: str) -> Any:
    found = server.get(f"/workflows/{workflow_id}/instances/1/steps/make")
    return found["params"]["result"]["evaluated_result"]


def test_a_start_parameter_of_ten_megabytes(server: Served) -> None:
    server.push("given", noop("a"))
    text = "x" * TEN
    server.start("given", run_params={"text": {"type": "STRING", "value": text}})
    found = server.ended("given")
    assert found["params"]["text"]["evaluated_result"] == text


def test_an_array_of_ten_megabytes(server: Served) -> None:
    server.push("texts", noop("a"))
    texts = ["x" * 10_000] * 1_000
    server.start("texts", run_params={"texts": {"type": "STRING_ARRAY", "value": texts}})
    assert server.ended("texts")["params"]["texts"]["evaluated_result"] == texts


def test_a_result_of_ten_megabytes(server: Served) -> None:
    server.push("made", returning(TEN))
    server.start("made")
    server.ended("made")
    assert result_of(server, "made") == "y" * TEN


def test_a_result_beyond_the_setting(server: Served) -> None:
    server.push("beyond", returning(16 * MB - 100))
    server.start("beyond")
    server.ended("beyond", status="FAILED")
    step = server.get("/workflows/beyond/instances/1/steps/make")
    assert "setting `params.size`" in msgspec.json.encode(step).decode()


@pytest.fixture(scope="module")
def strict() -> Iterator[Served]:
    with served(Config(params=ParamLimits(size=1 * MB))) as made:
        yield made


def test_the_setting_holds_for_results(strict: Served) -> None:
    """It is above the smallest limit here, and far below the default one."""
    strict.push("large", returning(1_500_000))
    strict.push("small", returning(900_000))
    for name in ("large", "small"):
        strict.start(name)
    strict.ended("small")
    assert result_of(strict, "small") == "y" * 900_000
    strict.ended("large", status="FAILED")
    step = msgspec.json.encode(strict.get("/workflows/large/instances/1/steps/make")).decode()
    assert "is too large, with 1,500,002 bytes" in step
    assert "over the limit of [1048576] (setting `params.size`)" in step


def test_a_request_that_the_server_takes_is_not_refused_as_a_text(strict: Served) -> None:
    """6 MB: under `server.body`, and over `limits.text`, which is for definitions."""
    strict.push("w")
    path = "/workflows/w/versions/latest/actions/start"
    params = {"p": {"type": "STRING", "value": "x" * 6_000_000}}
    body = {"initiator": {"type": "manual"}, "run_params": params}
    assert "setting `params.size`" in strict.post(path, body, status=400)["message"]
    assert "server.body" in str(strict.post(path, {**body, "more": "x" * 3_000_000}, status=413))


def test_a_definition_beyond_its_limit_names_the_setting(strict: Served) -> None:
    workflow = {"id": "long", "steps": [noop("a")], "description": "x" * 5_000_000}
    body = {"properties": {"owner": "ann"}, "workflow": workflow}
    assert "`limits.text`" in str(strict.post("/workflows", body, status=400))
    assert "`limits.text`" in str(strict.post("/definitions/check", {"text": "#" * 5_000_000}))
