"""What is made of the parameters of a Shell step."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtimes.contexts import parameters

from stretto.model.param import Parameter, ParamType
from stretto.runtimes.command import SCHEMA, Unusable, command_of


def made(environ: dict[str, str] | None = None, **params: Any) -> Any:
    return command_of(parameters(params), environ or {})


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"command": "echo a | wc"}, ("/bin/sh", "-c", "echo a | wc")),
        ({"command": "x", "shell": "bash"}, ("bash", "-c", "x")),
        ({"command": ["echo", "a b"]}, ("echo", "a b")),
        ({"script": "a\nb\n"}, ("/bin/sh", "-e", "-c", "a\nb\n")),
        ({"script": "a", "shell": "bash"}, ("bash", "-e", "-c", "a")),
        ({"command": ""}, ("/bin/sh", "-c", "")),
    ],
)
def test_words(params: dict[str, Any], words: tuple[str, ...]) -> None:
    assert made(**params).words == words


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


def test_the_folder(tmp_path: Path) -> None:
    assert made(command="x").cwd is None
    assert made(command="x", cwd=str(tmp_path)).cwd == tmp_path


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
    ],
)
def test_what_no_command_can_be_made_of(params: dict[str, Any], message: str) -> None:
    with pytest.raises(Unusable, match=message):
        made(**params)


def test_the_schema_names_every_parameter() -> None:
    assert set(SCHEMA["properties"]) == {"command", "script", "shell", "env", "cwd"}
