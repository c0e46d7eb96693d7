"""Python code on a server: `--app` brings it, every surface uses it, and a push of other code is refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance.command import Ended
from tests.acceptance.processes import PATIENCE, Running, until
from tests.acceptance.serving import Serving

FLOWS = """
from stretto import StepContext, step, workflow


@step
def extract(day: str) -> int:
    return len(day)


@step(isolation="process")
def double(rows: int) -> int:
    return rows * 2


@step
def part(number: int) -> int:
    return number


@step
def spread(ctx: StepContext, count: int) -> int:
    for number in range(count):
        ctx.add(part, {"number": number})
    return count


@workflow
def week(day: str = "monday") -> int:
    return spread(double(extract(day)))
"""
TASKS = """
from pathlib import Path


def count_rows(text: str) -> dict:
    return {"rows": len(text)}


def told(ctx, status):
    Path("told.txt").write_text(f"{ctx.step_id} {status}")
"""
YAML = """
workflows:
  jobs: [{job_id: count, func_key: count_rows}]
  definitions:
    - workflow_id: counting
      tasks:
        - task_id: only
          job_id: count
          params: {text: hello}
          callbacks: [{state: success, func_key: told}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flows.py").write_text(FLOWS)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "tasks.py").write_text(TASKS)
    (tmp_path / "counting.yaml").write_text(YAML)
    return tmp_path


def stretto(*arguments: str, folder: Path) -> Ended:
    with Running(*arguments, folder=folder) as running:
        return Ended(*running.ended())


def ended(server: Serving, workflow_id: str) -> Any:
    """A run of a workflow, once it has ended."""
    number = server.start(workflow_id)["workflow_instance_id"]
    path = f"/api/v3/workflows/{workflow_id}/instances/{number}/runs/1"

    def result() -> Any:
        run = server.get(path)
        return run if run["status"] in {"SUCCEEDED", "FAILED"} else None

    return until(result, path)


@pytest.fixture
def server(folder: Path) -> Iterator[Serving]:
    with Serving("--app", "flows.py", "--app", "code", folder=folder) as made:
        yield made


def test_workflows_in_python_run_where_their_code_is(server: Serving, folder: Path) -> None:
    pushed = stretto("push", "flows.py:week", "--server", server.url, folder=folder)
    assert pushed.code == 0, pushed
    assert ended(server, "week")["status"] == "SUCCEEDED"
    restarted = stretto("restart", "week/1", "--all", "--follow", "--server", server.url, folder=folder)
    assert restarted.code == 0, restarted


def test_yaml_calls_functions_and_handlers_of_the_code(server: Serving, folder: Path) -> None:
    pushed = stretto("push", "counting.yaml", "--server", server.url, folder=folder)
    assert pushed.code == 0, pushed
    assert ended(server, "counting")["status"] == "SUCCEEDED"
    assert (folder / "told.txt").read_text() == "only success"


def test_the_surface_of_the_task_engine_uses_the_code(server: Serving, folder: Path) -> None:
    answer = httpx.post(f"{server.url}/api/v1/workflows", json={"content": YAML}, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    assert ended(server, "counting")["status"] == "SUCCEEDED"
    assert (folder / "told.txt").exists()


def test_a_module_in_a_package_brings_its_code(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text("")
    (folder / "flows.py").rename(folder / "shop" / "flows.py")
    for app in ("shop.flows", "shop"):  # a module, and the package with all that is in it
        with Serving("--app", app, folder=folder, database=f"sqlite:///{app}.db") as server:
            pushed = stretto("push", "shop/flows.py:week", "--server", server.url, folder=folder)
            assert pushed.code == 0, pushed
            assert ended(server, "week")["status"] == "SUCCEEDED"


def test_a_module_that_is_installed_brings_its_code(folder: Path) -> None:
    """One that the interpreter finds, which is not in the folder of the server."""
    yaml = YAML.replace("count_rows", "textwrap:dedent")
    (folder / "dedenting.yaml").write_text(yaml.replace("counting", "dedenting"))
    with Serving("--app", "textwrap", "--app", "code", folder=folder) as server:
        pushed = stretto("push", "dedenting.yaml", "--server", server.url, folder=folder)
        assert pushed.code == 0, pushed
        assert ended(server, "dedenting")["status"] == "SUCCEEDED"


def test_what_load_publishes_brings_its_code_along(folder: Path) -> None:
    with Serving("--load", "flows.py:week", folder=folder) as server:
        assert ended(server, "week")["status"] == "SUCCEEDED"


def test_what_nobody_can_run_is_refused_unless_it_is_allowed(folder: Path) -> None:
    with Serving(folder=folder) as server:
        for file in ("flows.py:week", "counting.yaml"):
            refused = stretto("push", file, "--server", server.url, folder=folder)
            assert refused.code != 0
            assert "which no running process knows" in refused.err
            assert "stretto serve --app MODULE" in refused.err
        refusal = httpx.post(f"{server.url}/api/v1/workflows", json={"content": YAML}, timeout=PATIENCE)
        assert refusal.status_code == 400
        assert "count_rows" in refusal.text
        allowed = stretto(
            "push", "counting.yaml", "--allow-unknown-functions", "--server", server.url, folder=folder
        )
        assert allowed.code == 0, allowed
        number = server.start("counting")["workflow_instance_id"]
        path = f"/api/v3/workflows/counting/instances/{number}/runs/1/why"
        until(lambda: "no running process knows" in str(server.get(path)))


def test_yaml_runs_with_the_code_beside_it_or_with_that_of_app(folder: Path) -> None:
    refused = stretto("run", "counting.yaml", folder=folder)
    assert refused.code == 2
    assert "calls the function `count_rows`, which no running process knows" in refused.err
    assert "--app" in refused.err
    assert stretto("run", "counting.yaml", "--app", "code/tasks.py", folder=folder).code == 0
    (folder / "counting.py").write_text(TASKS)
    ran = stretto("run", "counting.yaml", folder=folder)
    assert ran.code == 0, ran
    assert (folder / "told.txt").read_text() == "only success"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "No module named 'nothing'"),
        ("nothing.py", "there is no such file"),
        ("flows:week", "neither a module nor a file nor a folder"),
        ("empty", "there is no Python file in this folder"),
        ("broken.py", "`broken.py:1`: SyntaxError"),
    ],
)
def test_a_mistake_in_app_ends_the_command(folder: Path, name: str, said: str) -> None:
    (folder / "empty").mkdir()
    (folder / "broken.py").write_text("def broken(:\n")
    for arguments in (("serve", "--port", "0"), ("run", "counting.yaml")):
        done = stretto(*arguments, "--app", name, folder=folder)
        assert done.code == 2
        assert said in done.err
        assert "--app" in done.err
        assert "Traceback" not in done.err


def test_an_api_server_takes_no_code(folder: Path) -> None:
    done = stretto("serve", "--role", "api", "--app", "flows.py", folder=folder)
    assert (done.code, "add the role engine" in done.err) == (2, True)
