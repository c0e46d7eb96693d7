"""Step types of other packages, installed as a user installs them, with the real command."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from scripts.doc_examples import BLOCK, TITLE, steady
from tests.acceptance.processes import Running, until
from tests.unit.runtimes.packages import install

EXAMPLE = Path(__file__).parents[2] / "examples" / "http-runtime"
BACKOFF = "{type: FIXED_BACKOFF, error_retry_backoff_in_secs: 1, platform_retry_backoff_in_secs: 1}"
POLICY = f"{{error_retry_limit: 0, platform_retry_limit: 0, timeout_retry_limit: 0, backoff: {BACKOFF}}}"
FLOW = """
workflow:
  id: asking
  steps:
    - step:
        id: ask
        type: Http
        retry_policy: %s
        params:
          http: {type: MAP, value: {url: {type: STRING, value: "%s"}, timeout: {type: LONG, value: 30}}}
          response_headers: {type: STRING_MAP, value: {}}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built and installed into a folder of its own."""
    return installed_into(tmp_path_factory.mktemp("site"), EXAMPLE)


def installed_into(folder: Path, package: Path) -> Path:
    """As `pip install PACKAGE` does it, without a network."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    subprocess.run([*command, *offline, str(package)], check=True, timeout=120)  # noqa: S603 - ours
    return folder


@pytest.fixture
def folder(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("STRETTO_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(site))
    return tmp_path


@pytest.fixture
def server() -> Iterator[Any]:
    spec = spec_from_file_location("server", EXAMPLE / "tests" / "server.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.serving() as server:
        yield server


def stretto(folder: Path, *arguments: str) -> tuple[int, str, str]:
    with Running(*arguments, folder=folder) as command:
        return command.ended()


def run(folder: Path, url: str, budget: str = "error") -> tuple[int, dict[str, Any]]:
    """The exit code, and the step, which may be tried once more after one kind of errors."""
    policy = POLICY.replace(f"{budget}_retry_limit: 0", f"{budget}_retry_limit: 1")
    (folder / "flow.yaml").write_text(FLOW % (policy, url))
    code, out, err = stretto(folder, "run", "flow.yaml", "--json")
    assert err == ""
    [step] = json.loads(out)["steps"]
    return code, step


# -------------------------------------------------------------------------------------------- the example
def test_the_tests_of_the_example(site: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:stretto"]
    done = subprocess.run(  # noqa: S603 - ours
        command, cwd=EXAMPLE, env=environ, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout[-3_000:]


def test_it_is_listed(folder: Path) -> None:
    code, out, _ = stretto(folder, "runtimes", "list")
    assert code == 0
    [line] = [line for line in out.splitlines() if line.startswith("Http")]
    assert line.split() == ["Http", "http-runtime", "1.0.0", "usable"]
    code, out, _ = stretto(folder, "runtimes", "show", "Http")
    assert (code, "  made by http_runtime:HttpRuntime\n" in out) == (0, True)


def test_what_is_wrong_is_told_before_anything_runs(folder: Path) -> None:
    (folder / "flow.yaml").write_text((FLOW % (POLICY, "x")).replace("timeout:", "timeoot:"))
    code, _, err = stretto(folder, "run", "flow.yaml")
    assert code == 2
    assert "`http.timeoot` of step `ask`, of type Http, is not known" in err
    assert "did you mean `timeout`?" in err


def test_an_answer_becomes_outputs(folder: Path, server: Any) -> None:
    code, step = run(folder, f"{server.url}/orders?day=1")
    assert (code, step["status"]) == (0, "SUCCEEDED")
    code, out, _ = stretto(folder, "show", "asking/1:ask", "--json")
    params = json.loads(out)["step"]["params"]
    assert params["status_code"]["evaluated_result"] == 200
    assert params["response_body"]["evaluated_result"] == "GET /orders?day=1 "
    assert params["response_headers"]["evaluated_result"]["x-mark"] == "here"
    [(_, _, headers, _)] = server.asked
    assert headers["idempotency-key"] == "[asking][1][1][ask][1]"


def test_an_error_is_tried_again_within_the_budget_of_the_user(folder: Path, server: Any) -> None:
    code, step = run(folder, f"{server.url}/status/500")
    assert (code, step["step_attempt_id"]) == (1, 2)
    assert "was answered 500 Internal Server Error: you asked for 500" in step["reason"]
    keys = [headers["idempotency-key"] for _, _, headers, _ in server.asked]
    assert len(set(keys)) == len(keys) == 2


def test_nobody_listens_which_is_an_error_of_the_platform(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        code, step = run(folder, f"http://127.0.0.1:{free.getsockname()[1]}", "platform")
    assert (code, step["step_attempt_id"]) == (1, 2)
    assert "was not answered: ConnectionRefusedError" in step["reason"]


def test_an_interrupt_cuts_the_connection(folder: Path, server: Any) -> None:
    (folder / "flow.yaml").write_text(FLOW % (POLICY, f"{server.url}/slow"))
    with Running("run", "flow.yaml", folder=folder) as command:
        until(lambda: bool(server.asked), "the request")
        command.send(signal.SIGINT)
        command.until_it_says("Ctrl-C ends it now")  # the request may end by itself while the step has time
        assert not server.gone.is_set()
        command.send(signal.SIGINT)
        code, out, _ = command.ended()
    assert code == 128 + signal.SIGINT
    assert "stretto run flow.yaml --resume" in out
    assert server.gone.wait(10)


def test_a_timeout_of_the_step_cuts_the_connection(folder: Path, server: Any) -> None:
    late = "type: Http\n        timeout: 1s"
    text = (FLOW % (POLICY, f"{server.url}/slow")).replace("type: Http", late)
    (folder / "flow.yaml").write_text(text)
    code, out, _ = stretto(folder, "run", "flow.yaml", "--json")
    [step] = json.loads(out)["steps"]
    assert (code, step["status"]) == (1, "TIMED_OUT")
    assert server.gone.wait(10)


# -------------------------------------------------------------------------------- the page that explains it
def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package is built and installed; then its commands print what the page says."""
    page = (EXAMPLE.parents[1] / "docs" / "how-to" / "write-a-runtime.md").read_text(encoding="utf-8")
    folder = tmp_path / "page"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    for block in BLOCK.finditer(page):
        title = TITLE.search(block["options"])
        if title is not None:
            (folder / title[1]).write_text(block["body"], encoding="utf-8")
    installed_into(tmp_path / "site", folder)
    shown = [block["body"] for block in BLOCK.finditer(page) if block["kind"] == "shell"]
    assert len(shown) == 3
    for body in shown:
        command, _, expected = body.partition("\n")
        prompt, *words = shlex.split(command)
        assert prompt == "$"
        _, out, err = stretto(folder, *words[1:])
        assert steady(out + err) == expected


# ------------------------------------------------------------------------------------- written here
POLLED = """
from pathlib import Path
from stretto.ports.runtime import Continue, Done, Injected, Stopped

class Polled:
    outside = False

    def params(self, step):
        return Injected()

    async def start(self, ctx):
        return Continue(after=1)

    async def execute(self, ctx):
        with Path("calls.txt").open("a") as file:
            file.write(f"{ctx.launch.attempt.step_id}\\n")
        calls = len(Path("calls.txt").read_text().split())
        return Done() if calls == 4 else Continue(after=1)

    async def terminate(self, ctx):
        return Stopped()
"""


def test_a_runtime_is_polled_until_it_is_done(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers Continue three times, and Done the fourth: `execute` is called four times."""
    install(tmp_path / "own", "polling", {"Polled": "polled:Polled"}, {"polled": POLLED})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    (folder / "flow.yaml").write_text("workflow: {id: w, steps: [{step: {id: a, type: Polled}}]}")
    code, out, err = stretto(folder, "run", "flow.yaml", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["steps"][0]["status"] == "SUCCEEDED"
    assert (folder / "calls.txt").read_text().split() == ["a"] * 4


PROGRAM = """
import asyncio
from stretto import Engine
from stretto.definition import parse

async def main():
    flow = parse("workflow: {id: w, steps: [{step: {id: a, type: Polled}}]}")
    async with Engine("memory:") as engine:
        run = await engine.submit(flow)
        print((await run.wait()).status)

asyncio.run(main())
"""


def test_an_engine_in_a_program_knows_it_too(folder: Path, tmp_path: Path) -> None:
    install(tmp_path / "own", "polling", {"Polled": "polled:Polled"}, {"polled": POLLED})
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "own")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("SUCCEEDED\n", "")
    assert (folder / "calls.txt").read_text().split() == ["a"] * 4


def test_a_broken_package_harms_only_those_who_use_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "own", "broken", {"Broken": "broken:Runtime"}, {"broken": "import nothing_like_it"})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    params = "{command: {type: STRING, value: 'true'}}"
    text = f"workflow: {{id: w, steps: [{{step: {{id: a, type: %s, params: {params}}}}}]}}"
    (folder / "good.yaml").write_text(text % "Shell")
    (folder / "bad.yaml").write_text(text % "Broken")
    assert stretto(folder, "run", "good.yaml")[0] == 0
    code, _, err = stretto(folder, "run", "bad.yaml")
    assert code == 2
    assert (
        "the runtime of Broken steps, broken 1.0 (broken:Runtime), can not be used: ModuleNotFoundError"
        in err
    )
