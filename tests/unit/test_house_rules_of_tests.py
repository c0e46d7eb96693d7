"""Tests wait for conditions. What pauses, reads a clock or sets a short limit is listed here, with a reason.

A busy machine makes any of these last longer, so nothing may depend on their length. Use `tests/waiting.py`
instead of a new entry.
"""

import re
from pathlib import Path
from typing import Final, NamedTuple

import pytest

TESTS: Final = Path(__file__).parents[1]
HERE: Final = frozenset({"waiting.py", "unit/test_house_rules_of_tests.py", "unit/test_waiting.py"})
# A pause of zero only lets others have their turn.
PAUSE: Final = re.compile(
    r"\b(?:asyncio|time)\.sleep\((?!0\))|\bcall_later\((?!0\b)|\bfrom (?:asyncio|time) import .*\bsleep\b"
)
CLOCK: Final = re.compile(
    r"\b(?:monotonic|perf_counter|process_time|thread_time)(?:_ns)?\("
    r"|\btime\.time(?:_ns)?\(|loop(?:\(\))?\.time\("
)
LIMIT: Final = re.compile(
    r"\basyncio\.timeout(?:_at)?\([1-5]?\d(?:\.\d+)?\)"
    r"|\basyncio\.wait_for\(.*, (?:timeout=)?[1-5]?\d(?:\.\d+)?\)"
)

Allowed = dict[str, int]

WORK: Final[
    Allowed
] = {  # what a step or a program does: it takes a moment, or does not end before it is ended
    "acceptance/portable.py": 1,
    "acceptance/portable_failures.py": 1,
    "acceptance/portable_values.py": 1,
    "acceptance/test_python_dev.py": 1,
    "acceptance/test_runtime_rows.py": 1,
    "client/scripted.py": 1,
    "flow_engine/awkward.py": 1,
    "flow_engine/crowd.py": 1,
    "flow_engine/guard_attacks.py": 3,
    "flow_engine/hangs.py": 1,
    "flow_engine/stubborn.py": 2,
    "flow_engine/stubborn_import.py": 1,
    "flow_engine/test_corners.py": 1,
    "unit/runtimes/python/slow_import.py": 1,
    "unit/runtimes/test_plugins.py": 1,
    "unit/runtimes/test_shell_ending.py": 2,
    "unit/runtimes/test_shell_speaking.py": 1,
    "unit/runtimes/workers/functions.py": 13,
    "unit/runtimes/workers/test_steps.py": 1,
    "unit/server/served_by_a_program.py": 1,
}
DICE: Final[Allowed] = {  # the moment of a kill, an end or a race, which may be any
    "acceptance/test_kills.py": 1,
    "acceptance/test_rows.py": 1,
    "acceptance/test_serve_crash.py": 1,
    "flow_engine/locked.py": 1,
    "flow_engine/test_orphans.py": 1,
    "flow_engine/test_take_over.py": 1,
    "ports/fence_race.py": 1,
    "ports/sqlite_race.py": 2,
    "unit/runtimes/python/test_pools.py": 1,
}
MIXED: Final[Allowed] = {
    "flow_engine/test_rows_control.py": 3,  # two bodies of steps, and the moment of a kill
    "unit/runtimes/python/test_context.py": 2,  # the body of a step, in a loop and in a thread
    "unit/runtimes/python/test_runtime.py": 3,  # the body of a step, and two in virtual time
    "unit/runtimes/workers/test_ending.py": 3,  # a program that lives on, and two moments of an end
}
VIRTUAL: Final[Allowed] = {  # nobody waits for it
    "flow/test_returned_errors.py": 1,
    "flow/test_timed_out.py": 2,
    "simulation/test_looping.py": 2,
    "unit/testing/test_flows_in_virtual_time.py": 3,
}
CLOCKS: Final[Allowed] = {
    # Processor time of a test itself, which others do not take.
    "acceptance/test_bad_input.py": 2,
    "unit/definition/test_dsl_transitions.py": 2,
    "unit/definition/test_rules_shape.py": 2,
    "unit/sel/test_fuel.py": 2,
    # Clocks are what is tested.
    "chaos/test_clock.py": 2,
    "simulation/test_looping.py": 2,
    # Figures that `make prove` prints and judges.
    "flow_engine/test_orphans.py": 2,
    "flow_engine/test_take_over.py": 2,
    "ports/sqlite_crowd.py": 3,
    # The least time between two attempts: a busy machine makes it longer.
    "flow_engine/test_rows_control.py": 1,
    # At most so many for the time that has passed: the more time, the more of them.
    "ports/test_sql_idle.py": 2,
    "unit/runtimes/python/test_context.py": 2,
    "unit/runtimes/test_shell_speaking.py": 2,
}
LIMITS: Final[Allowed] = {"simulation/test_looping.py": 1}  # in virtual time


class Rule(NamedTuple):
    pattern: re.Pattern[str]
    allowed: Allowed


RULES: Final = {
    "pauses": Rule(PAUSE, WORK | DICE | MIXED | VIRTUAL),
    "clocks": Rule(CLOCK, CLOCKS),
    "limits below a minute": Rule(LIMIT, LIMITS),
}


@pytest.mark.parametrize("name", RULES)
def test_nothing_depends_on_how_fast_the_machine_is(name: str) -> None:
    rule = RULES[name]
    found = {
        str(path.relative_to(TESTS)): count
        for path in sorted(TESTS.rglob("*.py"))
        if (count := len(rule.pattern.findall(path.read_text(encoding="utf-8"))))
    }
    assert {file: count for file, count in found.items() if file not in HERE} == rule.allowed, (
        f"{name}: wait for a condition (tests/waiting.py), or say here why nothing depends on the time"
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("pauses", "await asyncio.sleep(0.1)"),
        ("pauses", "time.sleep(pause)"),
        ("pauses", "loop.call_later(1.0, stop)"),
        ("pauses", "from time import monotonic, sleep"),
        ("clocks", "begun = time.monotonic()"),
        ("clocks", "assert perf_counter() - begun < 1"),
        ("clocks", "time.time() > end"),
        ("clocks", "asyncio.get_running_loop().time()"),
        ("limits below a minute", "async with asyncio.timeout(30):"),
        ("limits below a minute", "await asyncio.wait_for(heard.wait(), 0.5)"),
    ],
)
def test_what_is_counted(name: str, line: str) -> None:
    assert RULES[name].pattern.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "await asyncio.sleep(0)",
        'server.push("held", sleep("s"))',
        "ctx.sleep(60)",
        "async with asyncio.timeout(PATIENCE):",
        "await asyncio.wait_for(heard.wait(), 60)",
        "loop.call_later(0, stop)",
    ],
)
def test_what_is_not_counted(line: str) -> None:
    assert not any(rule.pattern.search(line) for rule in RULES.values())
