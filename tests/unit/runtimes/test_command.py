"""What is made of the parameters of a Shell step."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for
from tests.unit.runtimes.contexts import parameters

from stretto.model.param import Parameter, ParamType
from stretto.runtimes.command import SCHEMA, ExitCodes, Unusable, Verdict, command_of


def made(environ: dict[str, str] | None = None, **params: Any) -> Any:
    return command_of(parameters(params), environ or {})


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"command": "echo a | wc"}, ("/bin/sh", "-c", "echo a | wc")),
        ({"command": "x", "shell": "bash"}, ("bash", "-c", "x")),
        ({"command": ["echo", "a b"]}, ("echo", "a b")),
        ({"script": "a\nb\n"}, ("/bin/sh", "-e", "-c", "a\nb\n")),
        ({"script": "a", "shell": "bash"}, ("bash", "-e", "-o", "pipefail", "-c", "a")),
        ({"script": "a", "shell": "/opt/zsh"}, ("/opt/zsh", "-e", "-c", "a")),
        ({"command": ""}, ("/bin/sh", "-c", "")),
    ],
)
def test_words_where_there_is_no_bash(params: dict[str, Any], words: tuple[str, ...], tmp_path: Path) -> None:
    assert made({"PATH": str(tmp_path)}, **params).words == words


def test_bash_is_the_usual_shell(tmp_path: Path) -> None:
    bash = tmp_path / "bash"
    bash.touch(mode=0o700)
    path = f"/no/such/folder:{tmp_path}"
    assert made({"PATH": path}, command="x").words == (str(bash), "-c", "x")
    assert made({"PATH": path}, script="x").words == (str(bash), "-e", "-o", "pipefail", "-c", "x")
    assert made({"PATH": "/"}, command="x", env={"PATH": path}).words[0] == str(bash)


def test_gaps_that_a_loop_left_in_a_list_are_empty_words() -> None:
    param = Parameter(type=ParamType.STRING_ARRAY, evaluated_result=("echo", None))
    assert made(command=param).words == ("echo", "")


def test_variables_of_the_process_and_of_the_step() -> None:
    environ = {"PATH": "/bin", "A": "old", "STRETTO_DATABASE_URL": "postgresql://u:secret@h/n"}
    env = made(environ, command="x", env={"A": "new"}).env
    assert env == {"PATH": "/bin", "A": "new"}


def test_numbers_and_flags_in_variables_are_texts() -> None:
    env = made(command="x", env={"N": 4, "D": Decimal("0.5"), "B": True, "T": "t"}).env
    assert env == {"N": "4", "D": "0.5", "B": "true", "T": "t"}


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(command="x").cwd == Path.cwd()
    assert made(command="x", cwd=str(tmp_path)).cwd == tmp_path
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    assert made(command="x", cwd="inner").cwd == tmp_path / "inner"


def test_a_folder_that_was_removed_below_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(Unusable, match="the folder that this process works in is gone"):
        made(command="x")


def test_the_input() -> None:
    assert made(command="x").stdin is None
    assert made(command="x", stdin="").stdin == ""


def test_exit_codes() -> None:
    assert made(command="x").exit_codes == ExitCodes()
    assert made(command="x", exit_codes={"75": "platform"}).exit_codes.meaning(75) is Verdict.PLATFORM
    mixed = Parameter(type=ParamType.MAP, evaluated_result={"75": "fatal"})
    assert made(command="x", exit_codes=mixed).exit_codes.meaning(75) is Verdict.FATAL


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, r"needs one of `command` .* and `script` .*; this one has none"),
        ({"command": "a", "script": "b"}, "this one has command and script"),
        ({"command": ()}, "an empty list"),
        ({"command": 4}, "`command` of a Shell step is a text, not a LONG"),
        ({"script": ["a"]}, "`script` of a Shell step is a text, not a STRING_ARRAY"),
        ({"command": "a", "shell": 1}, "`shell` of a Shell step is a text"),
        ({"command": "a", "cwd": "/no/such/folder"}, "the folder `/no/such/folder` is not there"),
        ({"command": "a", "env": "A=b"}, "`env` of a Shell step is a map of texts, not a STRING"),
        ({"command": "a", "env": {"A": ["b"]}}, "the variable `A` in `env` is neither"),
        ({"command": "a", "env": {"A=": "b"}}, "`A=` in `env` can not be the name"),
        ({"command": "a", "env": {"": "b"}}, "`` in `env` can not be the name"),
        ({"command": "a", "stdin": 4}, "`stdin` of a Shell step is a text, not a LONG"),
        ({"command": "a", "exit_codes": "75"}, "`exit_codes` of a Shell step is a map, not a STRING"),
        ({"command": "a", "exit_codes": {"x": "user"}}, "`x` in `exit_codes` is not an exit code"),
        ({"command": "a", "exit_codes": {"75": 3}}, "`75: 3` in `exit_codes`: a code means one of"),
    ],
)
def test_what_no_command_can_be_made_of(params: dict[str, Any], message: str) -> None:
    with pytest.raises(Unusable, match=message):
        made(**params)


def test_the_schema_names_every_parameter() -> None:
    names = {"command", "script", "shell", "env", "cwd", "stdin", "exit_codes"}
    assert set(SCHEMA["properties"]) == names


@pytest.mark.parametrize(
    ("codes", "is_good"),
    [
        ({"75": "platform", "64-78": "fatal", "SIGTERM": "user", " 3 ": "success"}, True),
        ({"75": "retry"}, False),
        ({"x": "user"}, False),
        ({"1-": "user"}, False),
    ],
)
def test_the_schema_knows_exit_codes(codes: dict[str, str], is_good: bool) -> None:
    assert validator_for(dict(SCHEMA)).is_valid({"command": "x", "exit_codes": codes}) is is_good
