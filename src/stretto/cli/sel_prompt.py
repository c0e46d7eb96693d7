"""The prompt of `stretto sel`: a line is evaluated, and what it assigns is there for the next."""

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from stretto.cli.sel import environment, explained, shown_result
from stretto.sel import Expression, SelError, compile_expression, sanitize
from stretto.sel.runtime.access import METHODS, STATIC, VARIADIC
from stretto.sel.values import PRESETS

WELCOME = "SEL. A line is an expression or statements; Ctrl-D ends. Names you assign stay."
KEYWORDS = (
    "break",
    "continue",
    "else",
    "false",
    "for",
    "if",
    "new",
    "null",
    "return",
    "throw",
    "true",
    "while",
)
IDENTIFIER = re.compile(r"[$\w]*$")


def prompt(bindings: dict[str, Any]) -> None:
    """Read lines and answer them until the input ends."""
    session = Session(bindings)
    click.echo(WELCOME)
    read = reader(session)
    while True:
        try:
            line = read("sel> ")
        except KeyboardInterrupt:  # Ctrl-C gives up the line, as at other prompts
            continue
        except EOFError:
            click.echo()
            return
        if line.strip():
            click.echo(session.answer(line))


class Session:
    """The names a prompt knows so far."""

    def __init__(self, bindings: dict[str, Any]) -> None:
        self.bindings = bindings

    def answer(self, line: str) -> str:
        """What to show for a line: its result, or its error with a mark."""
        script = sanitize(line)
        around = environment()
        try:
            expression = compile_expression(script)
            result = expression.evaluate(self.bindings, around)
            self._remember(expression, script)
            return shown_result(result)
        except SelError as error:
            return explained(script, error)

    def _remember(self, expression: Expression, script: str) -> None:
        """Evaluations keep nothing, so a name's new value is asked for by evaluating the line again."""
        around = environment()
        for name in [name for name, is_read in expression.names.symbols.items() if not is_read]:
            value = compile_expression(f"{script} return {name};").evaluate(self.bindings, around)
            self.bindings[name] = value

    def words(self, before: str) -> Iterator[str]:
        """What may follow a text: members after a dot, else names."""
        stem = stem_of(before)
        known = MEMBERS if before.removesuffix(stem).endswith(".") else self.names()
        return (word for word in known if word.startswith(stem) and word != stem)

    def names(self) -> list[str]:
        """Names that a script can begin with here."""
        return sorted({*self.bindings, *PRESETS, *KEYWORDS})


def stem_of(before: str) -> str:
    """The part of a word that is already there."""
    match = IDENTIFIER.search(before)
    return match.group() if match else ""


MEMBERS = sorted(
    {
        key.partition("/")[0]
        for tables in (METHODS, STATIC, VARIADIC)
        for table in tables.values()
        for key in table
    }
    | {"length", "UTC"}
)


def reader(session: Session) -> Callable[[str], str]:
    """A function that reads a line: with completion and history if prompt_toolkit is installed."""
    if not sys.stdin.isatty():
        return input
    try:
        from prompt_toolkit import PromptSession  # noqa: PLC0415 - an optional extra
        from prompt_toolkit.completion import CompleteEvent, Completer, Completion  # noqa: PLC0415
        from prompt_toolkit.document import Document  # noqa: PLC0415
    except ImportError:
        return input

    class Words(Completer):
        """Completes by the session's names."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            """The completions of the word before the cursor."""
            before = document.text_before_cursor
            return (Completion(word, start_position=-len(stem_of(before))) for word in session.words(before))

    terminal: PromptSession[str] = PromptSession(completer=Words(), complete_while_typing=False)
    return terminal.prompt
