"""Row 60 with the default limits: the right error, soon, and in little memory; each in its own process."""

import subprocess
import sys
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.prove
BOMB = "a = new Map(); for (i = 0; i < 60; i += 1) { b = new Map(); b.put('x', a); b.put('y', a); a = b; } "
CASES = {
    "endless loop": ("while (true) {}", "loop"),
    "loop in a loop": ("while (true) { while (true) {} }", "loop"),
    "concatenation": ("s = 'a'; while (true) { s = s + s; }", "string"),
    "appending": ("s = 'a'; while (true) { s += s; }", "string"),
    "appending wide characters": ("s = '\\u20ac'; while (true) { s += s; }", "string"),
    "replacing": ("s = 'a'; while (true) { s = s.replace('a', 'aa'); }", "string"),
    "deep blocks": ("{" * 4_900 + "}" * 4_900, "depth"),
    "deep indexes": ("a[" * 3_000 + "0" + "]" * 3_000 + ";", "depth"),
    "deep conditions": ("true ? 1 : " * 900 + "1;", "depth"),
    "huge array": ("new int[2000000000];", "array"),
    "many arrays": (
        "m = new Map(); for (i = 0; i < 25000; i += 1) m.put('k' + i, new int[25000]);",
        "memory",
    ),
    "huge range": ("Util.intsBetween(0, 2147483647, 1);", "memory"),
    "huge format": ("String.format('%999999999d', 1);", "memory"),
    "maps in maps": (BOMB + "return Util.toJson(a);", "memory"),
    "catastrophic regex": ("s = 'a'; for (i = 0; i < 14; i += 1) s += s; s.replaceAll('(a*)*b', '');", None),
    "quadratic regex": ("s = 'a'; for (i = 0; i < 17; i += 1) s += s; s.replaceAll('a.*b|a', '');", "visit"),
}
MEASURE = """
import resource, sys, time
from stretto.sel import Environment, SelError, compile_expression
compile_expression("'a'.replaceAll('b', 'c') + new DateTime(0);").evaluate()
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    compile_expression(sys.stdin.read()).evaluate({}, Environment())
    limit = None
except SelError as error:
    limit = error.limit
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(limit, time.process_time() - start, used / 1024)
"""


class Used(NamedTuple):
    limit: str
    seconds: float
    megabytes: float


def measured(script: str) -> Used:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", MEASURE], input=script, capture_output=True, text=True, check=True
    )
    limit, seconds, megabytes = done.stdout.split()
    return Used(limit, float(seconds), float(megabytes))


@pytest.mark.parametrize(("script", "limit"), CASES.values(), ids=CASES.keys())
def test_row_60_fuel(script: str, limit: Any) -> None:
    used = measured(script)
    assert used.limit == str(limit)
    assert used.seconds < 5, "it takes less than a second or two where nobody else is working"
    assert used.megabytes < 50
