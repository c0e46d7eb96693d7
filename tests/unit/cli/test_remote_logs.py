"""`stretto logs` with a server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.api.serving import LOOP, Served, noop, served, shell
from tests.unit.cli.running.files import stretto as called

from stretto.client import Client


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    each = {**LOOP["foreach"], "steps": [shell("inner", "echo number $i")]}
    with served() as made:
        made.push(
            "talk",
            shell("count", "seq 1 2500", "warn"),
            shell("warn", "echo old >&2", "each"),
            {"foreach": each},
            noop("mute"),
        )
        made.start("talk")
        made.ended("talk")
        yield made


@pytest.fixture
def stretto(server: Served) -> Callable[..., Result]:
    return lambda *arguments: called("logs", *arguments, "--server", server.url)


def test_a_step_and_a_run(stretto: Any) -> None:
    assert stretto("talk/1:count").stdout.split() == [str(number) for number in range(1, 2_501)]
    assert stretto("talk/1:count", "--tail", "2").stdout == "2499\n2500\n"
    assert stretto("talk/1:count", "--find", "999").stdout == "999\n1999\n"
    assert stretto("talk/1:warn/1", "--stream", "stderr").stdout == "old\n"
    assert stretto("talk/1", "--tail", "1").stdout == "warn  | old\n"
    assert stretto("talk/1:each[2].inner").stdout == "number 8\n"
    made = json.loads(stretto("talk/1/1:warn", "--json").stdout)
    assert (made["run"], made["step"], made["line"], made["text"]) == ("talk/1/1", "warn", 1, "old")


def test_following(stretto: Any) -> None:
    assert stretto("-f", "talk/1:count", "--tail", "1").stdout == "2500\n"
    assert stretto("--follow", "talk/1", "--find", "old").stdout == "warn  | old\n"


def test_nothing_was_printed(stretto: Any, server: Served) -> None:
    quiet = stretto("talk/1:mute")
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    assert quiet.stderr == f"talk/1:mute has printed nothing, as far as is kept at {server.url}\n"
    said = stretto("talk/1", "--stream", "log", "--find", "x", "-f").stderr
    assert said == f"talk/1 has printed nothing on log with `x` in it, as far as is kept at {server.url}\n"
    assert stretto("talk/1:mute", "--tail", "0").stderr == ""
    loop = stretto("talk/1:each").stderr.splitlines()
    assert loop[1].startswith("    hint: `each` runs other steps; name one of them: talk/1:each[1].STEP"), (
        loop
    )


def test_what_another_machine_keeps_is_named(
    stretto: Any, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.push("quiet", shell("mute", "true"))
    server.start("quiet")
    server.ended("quiet")
    monkeypatch.setattr(server.desk.logs, "host", "another.example")
    for options in ((), ("-f",)):
        said = stretto("quiet/1:mute", *options).stderr
        assert said.startswith("mute ran on ")
        assert said.endswith(": the output is kept there\n")


def test_what_is_refused(stretto: Any, server: Served, tmp_path: Path) -> None:
    for address in ("talk/9", "talk/1:nope", "talk/1:count/7"):
        result = stretto(address)
        assert (result.exit_code, result.stdout) == (2, "")
    result = stretto("talk/1:count", "--tail", "5000")
    assert result.exit_code == 2
    assert "tail" in result.stderr
    assert "2000" in result.stderr
    both = called("logs", "talk/1", "--server", server.url, "--db", f"sqlite:///{tmp_path}/x.db")
    assert both.exit_code == 2


def test_an_interrupt_ends_it_quietly(stretto: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: Any, **_options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "follow_logs", interrupted)
    assert stretto("-f", "talk/1").exit_code == 130
