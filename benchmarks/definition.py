"""How fast definitions are read and checked, and how long the command takes to start.

`python -m benchmarks definition` prints the rows.
"""

import gc
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.row import Row, seconds
from stretto.cli.main import collect_rarely
from stretto.definition import check, parse, to_yaml
from stretto.sel import compile_expression

STEPS: Final = 300
STRETTO: Final = Path(sys.executable).with_name("stretto")


def definition(steps: int, series: str = "param") -> str:
    """JSON of a workflow like those that generators write: a chain with branches, params, tags, retries."""
    return json.dumps(
        {
            "properties": {"owner": "bench", "run_strategy": "parallel"},
            "workflow": {
                "id": "bench",
                "params": {f"{series}{n}": {"value": n, "type": "LONG"} for n in range(7)},
                "steps": [{"step": _step(n, steps, series)} for n in range(steps)],
            },
        }
    )


def _step(number: int, steps: int, series: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": f"job.{number}",
        "name": f"Step {number}",
        "type": "NoOp",
        "params": {
            "table": {"value": f"events_{number}", "type": "STRING"},
            "days": {"value": number, "type": "LONG"},
            "until": {"expression": f"new DateTime({number}).plusDays(7).getMillis();", "type": "LONG"},
        },
    }
    if number + 1 < steps:
        condition = "true" if number % 3 else f"{series}{number % 7} > {number}"
        made["transition"] = {"successors": {f"job.{number + 1}": condition}}
    if number % 5 == 0:
        made |= {"tags": ["team-a"], "retry_policy": {"error_retry_limit": 3}, "timeout": "2 hours"}
    return made


def run() -> list[Row]:
    """All measurements."""
    return [_json(), _new_expressions(), _yaml(), _linearity(), _start()]


def _checked(text: str, rounds: int = 30) -> float:
    assert check(text).problems == ()
    gc.collect()
    return seconds(lambda: check(text), rounds)


def _json() -> Row:
    text = definition(STEPS)
    spent, plain = _checked(text), seconds(lambda: json.loads(text), 30)
    return Row(f"{STEPS} steps, JSON", spent * 1e3, "ms", 15, spent / plain, "json.loads")


def _new_expressions() -> Row:
    """The same with expressions that were never compiled before, as a command that starts anew meets them."""
    compile_expression("1;")  # the grammar itself is loaded once
    texts = [definition(STEPS, f"fresh{n}_") for n in range(10)]
    check(definition(STEPS))  # whatever else is made once
    spent = min(_once(text) for text in texts)
    plain = seconds(lambda: json.loads(texts[0]), 30)
    return Row(f"{STEPS} steps, JSON, new expressions", spent * 1e3, "ms", 15, spent / plain, "json.loads")


def _once(text: str) -> float:
    gc.collect()
    return seconds(lambda: check(text), 1)


def _yaml() -> Row:
    text = definition(STEPS)
    written = to_yaml(parse(text))
    spent, plain = _checked(written, 5), seconds(lambda: check(text), 10)
    return Row(f"{STEPS} steps, YAML", spent * 1e3, "ms", None, spent / plain, "the same as JSON")


def _linearity() -> Row:
    """How many times as long ten times as many steps take, with the command's setting of the collector."""
    before = gc.get_threshold()
    collect_rarely()
    small, large = _checked(definition(1_000), 8), _checked(definition(10_000), 3)
    gc.set_threshold(*before)
    return Row("10,000 steps beside 1,000", large / small, "times", 13, large / small / 10, "linear time")


def _start() -> Row:
    def start(*command: str) -> float:
        begun = perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        return perf_counter() - begun

    spent = median(start(str(STRETTO), "--help") for _ in range(10))
    plain = median(start(sys.executable, "-c", "import click") for _ in range(10))
    return Row("stretto --help, cold", spent, "s", 0.35, spent / plain, "python -c 'import click'")
