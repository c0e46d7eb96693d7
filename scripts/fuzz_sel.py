"""Fuzz SEL: random scripts from its grammar, and mutations of them and of known ones.

    python scripts/fuzz_sel.py --executions 10000000 --minutes 60

An execution is one evaluation of a script, or one refusal to compile it. Allowed endings are a value and a
`SelError` whose place lies inside the text; anything else is a crash, and printed with its seed. Also
reported: the slowest execution in seconds of the processor, and how they ended.
"""

import argparse
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from stretto.sel import (
    Environment,
    Limits,
    LongArray,
    Missing,
    SelError,
    StringArray,
    Type,
    compile_expression,
)
from stretto.sel.runtime.access import METHODS, STATIC, VARIADIC
from stretto.sel.values import CLASSES, PRESETS

LIMITS: Final = Limits(loop=60, array=500, visit=20_000, memory=500_000, string=100_000)
PRIMITIVES: Final = frozenset({"int", "long", "float", "double", "boolean"})
OBJECTS: Final = tuple(CLASSES.keys() - PRIMITIVES)
NAMES: Final = ("a", "b", "c", "xs", "m", "d", "s", "nothing", "__class__", *(PRESETS.keys() - PRIMITIVES))
RECEIVERS: Final[dict[Type, tuple[str, ...]]] = {  # an expression of each type, to call what it really has
    Type.STRING: ("s", "'a,b,,c'", "String", "'é😀'"),
    Type.LONG: ("a", "(7)", "Long"),
    Type.DOUBLE: ("b", "(2.5)", "Double"),
    Type.MAP: ("m", "new Map()"),
    Type.DATETIME: (
        "new DateTime(d)",
        "new DateTime('2019-03-10', DateTimeZone.forID('US/Pacific'))",
        "DateTime",
    ),
    Type.DATETIME_ZONE: ("DateTimeZone", "DateTimeZone.forID('Europe/Berlin')"),
    Type.DATETIME_FORMATTER: (
        "DateTimeFormat.forPattern('yyyyMMdd')",
        "DateTimeFormat.forPattern('EEE w xxxx')",
    ),
    Type.DATETIME_PROPERTY: ("new DateTime(d).dayOfWeek()", "new DateTime(d).weekyear()"),
    Type.DATETIME_DAYS: ("Days", "Days.daysBetween(new DateTime(0), new DateTime(d))"),
    Type.UUID: ("UUID.randomUUID()",),
    Type.MATH: ("Math",),
    Type.PRESET_UTIL_FUNCTION: ("Util",),
    Type.PRESET_MISC_FUNC_FIELDS: ("System",),
}
MEMBERS: Final = sorted(
    {
        key.partition("/")[0]
        for table in (METHODS, STATIC, VARIADIC)
        for methods in table.values()
        for key in methods
    }
    | {"length", "UTC", "SUNDAY", "__class__", "__globals__", "getFromStep", "nope"}
)
TEXTS: Final = (
    "",
    "a",
    "a,b,,c",
    "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
    "yyyyMMdd",
    "EEE MMM d ZZZ",
    "2019-03-10T02:30:00",
    "20190310",
    "-2019-W05-2",
    "America/Los_Angeles",
    "Asia/Calcutta",
    "+05:30",
    "%s %05d %.3f %x",
    "{0.__class__}",
    "(a|b)*c",
    "[a-z]+(?=x)",
    "$1",
    "1 day and 2 hours",
    "é😀",
    "\\ud83d",
    "12",
    "1e400",
)
NUMBERS: Final = (
    "0",
    "1",
    "2",
    "7",
    "13",
    "400",
    "9223372036854775807",
    "4294967296",
    "0x7f",
    "017",
    "1e10",
    "2.5",
    ".5f",
)
FRAGMENTS: Final = (
    *";(){}[].,?:=+-*/%!<>&|'\"\\",
    "new ",
    "int ",
    "null",
    "\\u0041",
    "/*",
    "//",
    "\n",
    "\x00",
    "😀",
)
OPERATORS: Final = ("+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||")
ASSIGNMENTS: Final = ("=", "+=", "-=", "*=", "/=", "%=")
ELEMENTS: Final = ("int", "String", "double", "boolean", "Map")
SEEDS: Final = (
    "new DateTime(a).plusDays(7).toString('yyyy-MM-dd');",
    "int n = 0; for (int i = 0; i < 10; i += 1) { if (i % 2 == 0) continue; n += i; } return n;",
    "m = new Map(); m.put('k', xs); return Util.toJson(m) + m['k'][0];",
    "String.format('%05d|%-8s|%.2f', a, s, 2.675).split('\\\\|').length;",
    "DateTimeFormat.forPattern('yyyyMMddHH').withZone(DateTimeZone.forID('US/Pacific')).parseDateTime('2019031003');",
    "x = a > 1 ? s.replaceAll('[a-z]', '<$0>') : params.get('b'); throw 'no ' + x;",
)


class Grammar:
    """Makes random scripts. Most parse; few mean anything."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def script(self) -> str:
        return " ".join(self.statement(3) for _ in range(self.chance.randint(1, 3)))

    def pick(self, depth: int, *weighted: tuple[int, Callable[[int], str]]) -> str:
        """What one of the makers makes, chosen by weight."""
        (chosen,) = self.chance.choices(weighted, [weight for weight, _ in weighted])
        return chosen[1](depth)

    def statement(self, depth: int) -> str:
        if depth == 0:
            return f"{self.expression(0)};"
        return self.pick(
            depth,
            (40, lambda depth: f"{self.expression(depth)};"),
            (15, self.declaration),
            (10, lambda depth: f"return {self.expression(depth)};"),
            (8, lambda depth: f"if ({self.expression(depth - 1)}) {self.statement(depth - 1)}"),
            (4, lambda depth: f"if (a > 0) {self.statement(depth - 1)} else {self.statement(depth - 1)}"),
            (8, lambda depth: f"for (i = 0; i < {self.number()}; i += 1) {self.statement(depth - 1)}"),
            (
                5,
                lambda depth: (
                    f"while ({self.expression(depth - 1)}) {{ {self.statement(depth - 1)} break; }}"
                ),
            ),
            (6, lambda depth: f"{{ {self.statement(depth - 1)} {self.statement(depth - 1)} }}"),
            (4, lambda _: self.chance.choice(("break;", "continue;", f"throw {self.expression(1)};"))),
        )

    def declaration(self, depth: int) -> str:
        kind = self.chance.choice((*CLASSES, "var"))
        array = "[]" if self.chance.random() < 0.2 else ""
        return f"{kind}{array} {self.name()} = {self.expression(depth - 1)};"

    def expression(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf()
        return self.pick(
            depth,
            (28, self.binary),
            (22, self.real_call),
            (8, lambda depth: f"{self.primary(depth)}.{self.member()}({self.arguments(depth)})"),
            (10, lambda depth: f"new {self.chance.choice((*OBJECTS, 'File'))}({self.arguments(depth)})"),
            (6, lambda depth: f"({self.expression(depth - 1)})"),
            (4, lambda depth: f"{self.primary(depth)}[{self.expression(depth - 1)}]"),
            (
                4,
                lambda depth: f"{self.name()} {self.chance.choice(ASSIGNMENTS)} {self.expression(depth - 1)}",
            ),
            (4, lambda depth: f"{self.binary(depth)} ? {self.leaf()} : {self.expression(depth - 1)}"),
            (4, lambda depth: f"{self.chance.choice('-+!')}{self.primary(depth)}"),
            (4, lambda depth: f"new {self.chance.choice(ELEMENTS)}[]{{{self.arguments(depth)}}}"),
            (4, lambda depth: f"{self.primary(depth)}.{self.member()}"),
        )

    def binary(self, depth: int) -> str:
        return f"{self.expression(depth - 1)} {self.chance.choice(OPERATORS)} {self.expression(depth - 1)}"

    def member(self) -> str:
        return self.chance.choice(MEMBERS)

    def real_call(self, depth: int) -> str:
        """A method that exists, with the right number of arguments."""
        kind = self.chance.choice(tuple(RECEIVERS))
        keys = [*METHODS[kind], *STATIC.get(kind, ()), *(f"{name}/2" for name in VARIADIC.get(kind, ()))]
        name, _, count = self.chance.choice(keys).partition("/")
        arguments = ", ".join(
            self.leaf() if depth < 2 else self.expression(depth - 1) for _ in range(int(count))
        )
        return f"{self.chance.choice(RECEIVERS[kind])}.{name}({arguments})"

    def primary(self, depth: int) -> str:
        return self.name() if self.chance.random() < 0.5 else f"({self.expression(depth - 1)})"

    def arguments(self, depth: int) -> str:
        return ", ".join(
            self.expression(depth - 1) for _ in range(self.chance.choice((0, 0, 1, 1, 1, 2, 2, 3)))
        )

    def leaf(self) -> str:
        pick = self.chance.random()
        if pick < 0.35:
            return self.name()
        if pick < 0.6:
            return self.number()
        if pick < 0.9:
            return f"'{self.chance.choice(TEXTS)}'"
        return self.chance.choice(("true", "false", "null"))

    def name(self) -> str:
        return self.chance.choice(NAMES)

    def number(self) -> str:
        return self.chance.choice(NUMBERS)


def mutated(chance: random.Random, text: str) -> str:
    """A script with a few things cut, doubled, swapped or thrown in."""
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        text = chance.choice(
            (
                text[:at] + text[to:],
                text[:to] + text[at:to] + text[to:],
                text[:at] + chance.choice(FRAGMENTS) + text[at:],
                text[:at] + chance.choice(MEMBERS) + text[to:],
            )
        )
    return text[:2_000]


class Host:
    """Answers a little, lacks a little, and refuses the rest."""

    def call(self, method: str, arguments: tuple[str, ...]) -> Any:
        if arguments[:1] == ("a",):
            return Missing(method)
        return arguments[0] if arguments else None


BINDINGS: Final[tuple[dict[str, Any], ...]] = (
    {"a": 1, "b": 2.5, "c": True, "xs": LongArray([1, 2, 3]), "m": {"k": 1}, "d": 0, "s": "a,b"},
    {
        "a": "2019-01-01",
        "b": -1,
        "c": None,
        "xs": StringArray(["x", None]),
        "m": {},
        "d": 1552213799000,
        "s": "",
    },
    {"a": -(2**63), "b": float("nan"), "xs": [1.5], "m": {"a": {"b": [True]}}, "s": "é😀\ud83d", "params": 1},
    {},
)
ENVIRONMENT: Final = Environment(now_millis=1_569_018_000_123, seed=7, limits=LIMITS, host=Host())


@dataclass
class Report:
    """What happened so far."""

    executions: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    crashes: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slowest_script: str = ""

    def text(self, seconds: float) -> str:
        lines = [
            f"{self.executions:,} executions in {seconds:,.0f} s, {len(self.crashes)} crashes",
            f"slowest: {self.slowest * 1000:.1f} ms: {self.slowest_script[:1000]!r}",
            *(f"  {ending}: {count:,}" for ending, count in self.endings.most_common()),
            *(f"CRASH {crash}" for crash in self.crashes[:20]),
        ]
        return "\n".join(lines)


def scripts(chance: random.Random) -> Iterator[str]:
    """Scripts without end: two thirds from the grammar, one third mutated."""
    grammar = Grammar(chance)
    recent = deque(SEEDS, maxlen=50)
    while True:
        if chance.random() < 0.66:
            script = grammar.script()
            recent.append(script)
        else:
            script = mutated(chance, chance.choice((*SEEDS, *recent)))
        yield script


def execute(script: str, report: Report) -> None:
    """Compile a script and evaluate it with each of the bindings."""
    for bindings in BINDINGS:
        start = time.process_time()
        try:
            ending = type(compile_expression(script).evaluate(bindings, ENVIRONMENT)).__name__
        except SelError as error:
            ending = str(error.kind)
            if error.line > script.count("\n") + 1 or error.column > len(script) + 1:
                report.crashes.append(f"a place outside the text: {error!r} {script!r}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
            ending = "crash"
            report.crashes.append(f"{type(error).__name__}: {error} in {script!r}")
        took = time.process_time() - start
        report.executions += 1
        report.endings[ending] += 1
        if took > report.slowest:
            report.slowest, report.slowest_script = took, script
        if ending in {"parse", "lexical"}:
            break  # it would be refused the same way again


def fuzz(executions: int, minutes: float, seed: int) -> Report:
    """Execute until the number or the time is reached."""
    chance = random.Random(seed)  # noqa: S311 - it must be repeatable, not secret
    report = Report()
    compile_expression("1;")  # the first compilation makes the parser, which takes its time
    end = time.monotonic() + 60 * minutes
    for script in scripts(chance):
        execute(script, report)
        if report.executions >= executions or time.monotonic() > end:
            return report
    raise AssertionError("scripts never end")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.monotonic()
    report = fuzz(options.executions, options.minutes, options.seed)
    print(report.text(time.monotonic() - start))
    return 1 if report.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
