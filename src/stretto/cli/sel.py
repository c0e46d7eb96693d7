"""`stretto sel`: an expression, a file of cases, or a prompt."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from stretto.cli.sel_cases import answer_line
from stretto.sel import VOID, Environment, SelError, Thrown, Value, compile_expression, sanitize
from stretto.sel.text import text_of
from stretto.sel.wire import to_wire

STDIN = "-"
MAX_SHOWN = 1_000_000  # characters of a result: maps inside maps can be much larger written than held


@click.command(name="sel")
@click.argument("expression", required=False)
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter; JSON, else text. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the result as JSON, with its type.")
@click.option(
    "--jsonl",
    "cases",
    is_flag=False,
    flag_value=STDIN,
    metavar="[FILE]",
    help="Read one case per line from a file or standard input, and write one answer per line.",
)
def command(expression: str | None, *, params: tuple[str, ...], as_json: bool, cases: str | None) -> None:
    """Evaluate an expression of parameters. The last `;` may be left out.

    Without an expression, read a script from standard input, or start a prompt on a terminal. A bad
    expression ends with exit code 2, and a mark under the place where it went wrong.

    \b
    Examples:
      stretto sel "1 + 2"
      stretto sel -p ts=0 "new DateTime(ts).plusDays(7).toString('yyyy-MM-dd')"
      stretto sel --json -p 'xs=[1, 2, 3]' "xs[1] + xs.length"
      echo '{"id": "a", "script": "x + 1;", "bindings": {"x": 41}}' | stretto sel --jsonl
      stretto sel < script.sel
    """
    bindings = dict(map(parse_param, params))
    if cases is not None:
        _answer_cases(cases)
    elif expression is None and _is_terminal():
        from stretto.cli.sel_prompt import prompt  # noqa: PLC0415 - the prompt is wanted only here

        prompt(bindings)
    else:
        _print_result(_whole_input() if expression is None else expression, bindings, as_json=as_json)


def parse_param(text: str) -> tuple[str, Any]:
    """`name=value`, where the value is JSON if it can be read as JSON, else the text itself."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--param")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def environment() -> Environment:
    """The environment of the command line: the clock of this machine, and chance from it."""
    return Environment(now_millis=time.time_ns() // 1_000_000, seed=time.time_ns())


def _is_terminal() -> bool:
    return sys.stdin.isatty()


# ------------------------------------------------------------------------------------------- expressions
def _print_result(text: str, bindings: dict[str, Any], *, as_json: bool) -> None:
    script = sanitize(text)
    try:
        result = compile_expression(script).evaluate(bindings, environment())
        shown = json.dumps(to_wire(result, _spend())) if as_json else shown_result(result)
    except SelError as error:
        click.echo(explained(script, error), err=True)
        sys.exit(2)
    if shown:
        click.echo(shown)
    if type(result) is Thrown:
        sys.exit(2)


def shown_result(result: Value) -> str:
    """A result for people; nothing for no result. Half a character is shown as its escape."""
    text = "" if result is VOID else text_of(result, _spend())
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _spend() -> Any:
    left = MAX_SHOWN

    def spend(length: int) -> None:
        nonlocal left
        left -= length
        if left < 0:
            raise click.ClickException(f"the result is longer than {MAX_SHOWN} characters")

    return spend


def explained(script: str, error: SelError) -> str:
    """An error for people: what, where, and the line with a mark under the place."""
    lines = [f"error: {error} ({error.kind})"]
    if error.line:
        text = script.split("\n")[error.line - 1]
        # Tabs stay tabs, so that the mark is under its place in any terminal.
        indent = "".join("\t" if character == "\t" else " " for character in text[: error.column - 1])
        lines += (f"  {text}", f"  {indent}^")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------- cases
def _answer_cases(name: str) -> None:
    around = environment()
    with _opened(name) as lines:
        for line in lines:
            if line.strip():
                click.echo(answer_line(line, around))


def _whole_input() -> str:
    with _opened(STDIN) as lines:
        return str(lines.read())


@contextmanager
def _opened(name: str) -> Iterator[IO[Any]]:
    """A file or standard input as text, whatever bytes it has."""
    try:
        with click.open_file(name, encoding="utf-8", errors="replace") as lines:
            yield lines
    except OSError as error:
        raise click.BadParameter(f"{name}: {error.strerror or error}", param_hint="--jsonl") from None
