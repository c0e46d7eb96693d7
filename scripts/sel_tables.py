"""The tables of the expression language's grammar, as the package carries them."""

import json
from collections import deque
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec
from lark import Lark, Token
from lark.grammar import Rule as LarkRule
from lark.lexer import Lexer, PatternStr
from lark.parsers.lalr_analysis import Shift

from stretto.sel.syntax.tables import PARTS, Rule, Tables

GRAMMAR: Final = Path(__file__).parents[1] / "src/stretto/sel/grammar.lark"
START: Final = "script"


def sel_tables() -> str:
    """As JSON, a line for each word, rule and state: so a change of the grammar can be read as one."""
    lines = []
    for name, value in msgspec.to_builtins(made_tables()).items():
        if isinstance(value, dict):
            inner = [f"{json.dumps(key)}: {json.dumps(each)}" for key, each in value.items()]
            lines.append(f'"{name}": {{\n' + ",\n".join(inner) + "\n}")
        elif isinstance(value, list):
            lines.append(f'"{name}": [\n' + ",\n".join(map(json.dumps, value)) + "\n]")
        else:
            lines.append(f'"{name}": {value}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def made_tables() -> Tables:
    """What Lark makes of the grammar, numbered by how it is reached: Lark's own numbers vary."""
    lark = Lark(GRAMMAR.read_text("utf-8"), parser="lalr", lexer=_NoLexer, start=START)
    table: Any = lark.parser.parser._parse_table  # noqa: SLF001 - its standalone parsers are made of it, too
    rules = sorted(lark.rules, key=lambda rule: (rule.origin.name, rule.order))
    numbers = {rule: number for number, rule in enumerate(rules)}
    places = {table.start_states[START]: 0}
    states: list[dict[str, int]] = []
    waiting, fresh = deque(places), count(1)
    while waiting:
        row = {}
        for symbol, (action, argument) in sorted(table.states[waiting.popleft()].items()):
            if action is not Shift:
                row[str(symbol)] = ~numbers[argument]
                continue
            if argument not in places:
                places[argument] = next(fresh)
                waiting.append(argument)
            row[str(symbol)] = places[argument]
        states.append(row)
    return Tables(
        start=0,
        end=places[table.end_states[START]],
        words={t.pattern.value: str(t.name) for t in lark.terminals if isinstance(t.pattern, PatternStr)},
        rules=[_rule(rule) for rule in rules],
        states=states,
    )


class _NoLexer(Lexer):
    """Keeps Lark from making one of its own: `stretto.sel.syntax.lexer` is ours."""

    def __init__(self, _conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        raise NotImplementedError


def _rule(rule: LarkRule) -> Rule:
    """Lark leaves words out that have no name in the grammar, and takes in the parts of its own rules."""
    parts = iter(enumerate(rule.expansion))
    absent = rule.options.empty_indices or [False] * len(rule.expansion)
    picks: list[int | None] = []
    for gone in absent:
        if gone:
            picks.append(None)
            continue
        place, symbol = next(parts)
        if rule.options.keep_all_tokens or not getattr(symbol, "filter_out", False):
            picks.append(~place if symbol.name.startswith("__") and not symbol.is_term else place)
    return Rule(str(rule.origin.name), len(rule.expansion), _make(rule, picks), tuple(picks))


def _make(rule: LarkRule, picks: list[int | None]) -> str | None:
    if rule.origin.name.startswith("__"):
        return PARTS
    if rule.alias is None and rule.options.expand1:
        (_only,) = picks  # a rule that is handed on has one value
        return None
    return str(rule.alias or rule.origin.name)
