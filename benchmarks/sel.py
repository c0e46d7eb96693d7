"""How fast expressions are compiled and evaluated, beside plain Python in the same run.

`python -m benchmarks sel` prints the rows.
"""

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from string import Template

from benchmarks.row import Row, rate
from stretto.sel import Environment, compile_expression, compile_template, evaluate_maestro
from stretto.sel.expression import Expression

NOW = 1_569_018_000_123
ENVIRONMENT = Environment(now_millis=NOW)
LOOP = "n = 0; for (i = 0; i < 1000; i += 1) { if (i % 3 == 0) n += i; } return n;"


def row(
    name: str, target: float | None, work: Callable[[], object], beside: str, plain: Callable[[], object]
) -> Row:
    """A measurement of some work, and of the same in plain Python."""
    ours = rate(work)
    return Row(name, ours, "1/s", target, ours / rate(plain), beside)


def python_date(millis: int) -> str:
    """What the date expression says, in Python."""
    moment = datetime.fromtimestamp(millis / 1_000, UTC) + timedelta(days=7)
    return moment.strftime("%Y-%m-%d")


def python_loop() -> int:
    """What the loop says, in Python."""
    n = 0
    for i in range(1000):
        if i % 3 == 0:
            n += i
    return n


def fresh() -> Callable[[], object]:
    """Compiles a new text each time."""
    numbers = itertools.count()
    return lambda: Expression(f"a + {next(numbers)};")


def fresh_python() -> Callable[[], object]:
    """The same with Python's compiler."""
    numbers = itertools.count()
    return lambda: compile(f"a + {next(numbers)}", "", "eval")


def run() -> list[Row]:
    """All measurements."""
    add, date = compile_expression("a + 1;"), "new DateTime(ts).plusDays(7).toString('yyyy-MM-dd')"
    moment, loop = compile_expression(f"{date};"), compile_expression(LOOP)
    template, values = compile_template("$a/${b}/x-$c"), {"a": "one", "b": 2, "c": "three"}
    python_add = compile("a + 1", "", "eval")
    python_template = Template("$a/${b}/x-$c")
    return [
        row(
            "a + 1, compiled",
            200_000,
            lambda: add.evaluate({"a": 41}, ENVIRONMENT),
            "eval of compiled code",
            lambda: eval(python_add, {"a": 41}),
        ),
        row(
            "a + 1, from the cache, as a parameter",
            200_000,
            lambda: evaluate_maestro("a + 1", {"a": 41}, ENVIRONMENT),
            "eval of compiled code",
            lambda: eval(python_add, {"a": 41}),
        ),
        row(
            date,
            40_000,
            lambda: moment.evaluate({"ts": NOW}, ENVIRONMENT),
            "datetime",
            lambda: python_date(NOW),
        ),
        row(
            "interpolation of 3 names",
            150_000,
            lambda: template.render(values.__getitem__),
            "string.Template",
            lambda: python_template.substitute(values),
        ),
        row(
            "a loop of 1000 passes",
            None,
            lambda: loop.evaluate({}, ENVIRONMENT),
            "a Python loop",
            python_loop,
        ),
        row("compiling a new a + n", None, fresh(), "compile()", fresh_python()),
    ]
