"""`stretto sel`."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stretto.cli import sel_prompt
from stretto.cli.main import cli
from stretto.cli.sel_cases import MAX_ENTRIES

BOMB = "a = new Map(); for (i = 0; i < 60; i += 1) { b = new Map(); b.put('x', a); b.put('y', a); a = b; }"


def sel(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["sel", *arguments], input=stdin, catch_exceptions=False)


def answers(*cases: Any) -> list[Any]:
    lines = "\n".join(case if isinstance(case, str) else json.dumps(case) for case in cases)
    return [json.loads(line) for line in sel("--jsonl", stdin=lines).stdout.splitlines()]


# ------------------------------------------------------------------------------------------- expressions
@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["1 + 2"], "3"),
        (["-p", "x=41", "x + 1"], "42"),
        (["-p", "x=a=b", "x"], "a=b"),
        (["-p", "xs=[1,2]", "-p", 'm={"k": true}', "'' + xs.length + m['k']"], "2true"),
        (["--json", "new int[]{1}"], None),
        (["--json", "1.5"], '{"type": "DOUBLE", "value": 1.5}'),
        (["'\\ud83d'"], "\\ud83d"),
        (["m = new Map(); m.put('a', 1); m"], "{a=1}"),
    ],
)
def test_row_59_a_result_is_printed(arguments: list[str], output: str | None) -> None:
    result = sel(*arguments)
    assert result.stdout.strip() == (output or "")
    assert result.exit_code == (0 if output else 2)


def test_the_clock_of_the_machine_is_there() -> None:
    assert int(sel("System.currentTimeMillis()").stdout) > 1_600_000_000_000


def test_a_script_can_come_from_standard_input() -> None:
    assert sel(stdin="x = 3;\nx * 2").stdout == "6\n"
    assert sel(stdin="int x = 1;").stdout == ""


def test_a_bad_expression_is_marked() -> None:
    result = sel("1 +\n\tfoo.bar")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert (
        result.stderr
        == "error: line 2, column 6: NULL has no field bar (unsupported)\n  \tfoo.bar;\n  \t    ^\n"
    )


def test_an_error_without_a_place_and_a_throw() -> None:
    assert sel("1" * 10_000).stderr.startswith("error: The expression is 10001 characters long")
    thrown = sel("throw 'no'")
    assert (thrown.exit_code, thrown.stdout) == (2, "ERROR: no\n")


def test_results_that_are_too_long_are_refused() -> None:
    result = sel(f"{BOMB} a")
    assert result.exit_code == 1
    assert "longer than" in result.stderr


def test_a_parameter_needs_a_name() -> None:
    result = sel("-p", "x", "1")
    assert result.exit_code == 2
    assert "is not NAME=VALUE" in result.stderr


# ------------------------------------------------------------------------------------------------- cases
def test_cases_are_answered_in_order() -> None:
    assert answers(
        {"id": "a", "script": "x + 1;", "bindings": {"x": {"type": "INT", "value": 41}}},
        {"id": "b", "script": "1 +"},
        {"id": "c", "level": "maestro", "script": "x", "bindings": {"x": [1, 2]}},
        {"id": "d", "level": "validate", "script": "b + a;"},
        {"id": "e", "script": "System.currentTimeMillis();", "clock_millis": 5},
        {"id": "f", "script": "new int[9];", "limits": {"array": 5}},
    ) == [
        {"id": "a", "type": "LONG", "value": 42},
        {
            "id": "b",
            "error": {
                "kind": "parse",
                "message": "The script ends too early; is a ';' missing?",
                "line": 1,
                "column": 3,
            },
        },
        {"id": "c", "type": "LONG_ARRAY", "value": [1, 2]},
        {"id": "d", "type": "REFS", "value": ["a", "b"], "symbols": {"a": True, "b": True}},
        {"id": "e", "type": "LONG", "value": 5},
        {
            "id": "f",
            "error": {
                "kind": "illegal_argument",
                "message": "An array of 9 is over the limit of 5",
                "line": 1,
                "column": 1,
                "limit": "array",
            },
        },
    ]


def test_a_host_is_played_by_a_table() -> None:
    table = {
        "getFromStep": [
            {"args": ["a", "b"], "returns": {"type": "LONG", "value": 1}},
            {"args": ["c", "d"], "throws": "no such step"},
        ]
    }
    got = answers(
        {"script": "params.getFromStep('a', 'b');", "extension": table},
        {"script": "params.getFromStep('c', 'd');", "extension": table},
        {"script": "params.getFromStep('e', 'f');", "extension": table},
    )
    assert got[0]["value"] == 1
    assert [line["error"]["kind"] for line in got[1:]] == ["maestro_internal", "unsupported"]


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        "[1]",
        "[" * 100_000,
        {"id": 1},
        {"script": 5},
        {"script": "1;", "level": "nope"},
        {"script": "1;", "limits": {"nope": 1}},
        {"script": "1;", "limits": 5},
        {"script": "1;", "bindings": 5},
        {"script": "x;", "bindings": {"x": {"type": "LONG", "value": "abc"}}},
        {"script": "params.f();", "extension": {"f": [{}]}},
    ],
)
def test_a_line_that_is_no_case_gets_an_error(line: Any) -> None:
    bad, good = answers(line, {"id": "next", "script": "1;"})
    assert bad["error"]["message"]
    assert good == {"id": "next", "type": "LONG", "value": 1}


def test_a_result_that_can_not_be_written_keeps_its_type() -> None:
    null, large = answers({"script": "m = new Map(); m.put('a', null); m;"}, {"script": f"{BOMB} a;"})
    assert (null["type"], null["error"]["kind"]) == ("MAP", "unsupported")
    assert (large["type"], large["error"]["limit"]) == ("MAP", "memory")
    assert str(MAX_ENTRIES) in large["error"]["message"]


def test_cases_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"script": "1;"}\n\n\xff\xfe\n')
    result = sel("--jsonl", str(path))
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["value"], second["error"]["kind"]) == (1, "case")
    missing = sel("--jsonl", str(tmp_path / "nope"))
    assert missing.exit_code == 2
    assert "No such file" in missing.stderr


def test_help_has_examples() -> None:
    text = sel("--help").stdout
    assert "Examples:" in text
    for example in re.findall(r'stretto sel ("[^"]+")', text):
        assert sel(json.loads(example)).exit_code == 0


# ------------------------------------------------------------------------------------------------ prompt
class Typed:
    """Lines somebody types, and then the end of the input."""

    def __init__(self, *lines: str) -> None:
        self._lines = iter(lines)

    def __call__(self, _: str) -> str:
        try:
            return next(self._lines)
        except StopIteration:
            raise EOFError from None


def test_the_prompt_keeps_names(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        sel_prompt, "reader", lambda _: Typed("x = 5", "", "x + y", "int z = x", "z.foo", "z")
    )
    sel_prompt.prompt({"y": 1})
    shown = capsys.readouterr().out.splitlines()[1:]
    assert shown[:3] == ["5", "6", ""]
    assert shown[3:6] == ["error: line 1, column 3: LONG has no field foo (unsupported)", "  z.foo;", "    ^"]
    assert shown[6] == "5"


def test_ctrl_c_gives_up_the_line_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = Typed("1 + 1")
    interrupts = [KeyboardInterrupt]

    def read(prompt: str) -> str:
        if interrupts:
            raise interrupts.pop()
        return typed(prompt)

    monkeypatch.setattr(sel_prompt, "reader", lambda _: read)
    sel_prompt.prompt({})
    assert "2" in capsys.readouterr().out.splitlines()


def test_the_prompt_completes_names_and_members() -> None:
    session = sel_prompt.Session({"extract__rows": 1})
    assert list(session.words("1 + ext")) == ["extract__rows"]
    assert "DateTimeZone" in list(session.words("new Date"))
    assert list(session.words("x.plusD")) == ["plusDays"]
    assert "while" in list(session.words(""))


def test_without_a_terminal_lines_are_read_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    session = sel_prompt.Session({})
    assert sel_prompt.reader(session) is input
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    assert sel_prompt.reader(session) is input


def test_on_a_terminal_the_prompt_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, Any]] = []
    monkeypatch.setattr(sel_prompt, "prompt", started.append)
    monkeypatch.setattr("stretto.cli.sel._is_terminal", lambda: True)
    assert sel("-p", "x=1").exit_code == 0
    assert started == [{"x": 1}]
