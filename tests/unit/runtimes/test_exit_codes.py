"""What exit codes and signals mean: the narrowest rule counts."""

import signal
from typing import Any

import pytest

from stretto.runtimes.command import ExitCodes, Verdict, exit_codes_of, told

GIVEN = {
    "75": "platform",
    "64-78": "fatal",
    "70-80": "user",
    "0-255": "platform",
    " 3 ": "success",
    "SIGTERM": "user",
    "130": "success",
    "SIGINT": "fatal",
}


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (75, "platform"),
        (74, "user"),
        (65, "fatal"),
        (80, "user"),
        (1, "platform"),
        (0, "platform"),
        (3, "success"),
        (-signal.SIGTERM, "user"),
        (128 + signal.SIGTERM, "user"),
        (-signal.SIGINT, "success"),
        (-signal.SIGKILL, "platform"),
    ],
)
def test_the_narrowest_rule_counts(code: int, verdict: str) -> None:
    assert exit_codes_of(GIVEN).meaning(code) is Verdict(verdict)
    assert exit_codes_of(dict(reversed(GIVEN.items()))).meaning(code) is Verdict(verdict)


@pytest.mark.parametrize(
    ("code", "verdict"), [(0, "success"), (1, "user"), (137, "user"), (255, "user"), (-9, "platform")]
)
def test_without_rules(code: int, verdict: str) -> None:
    assert ExitCodes().meaning(code) is Verdict(verdict)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"75": "retry"}, "`75: retry` in `exit_codes`: a code means one of success, user, platform, fatal"),
        ({"75": 4}, "`75: 4` in"),
        ({"SIGNOTHING": "user"}, "`SIGNOTHING` in `exit_codes` is not an exit code"),
        ({"": "user"}, "`` in `exit_codes` is not"),
        ({"-1": "user"}, "`-1` in `exit_codes` is not"),
        ({"٣": "user"}, "is not an exit code"),
        ({"256": "user"}, "`256` in `exit_codes`: codes go from 0 to 255"),
        ({"9-3": "user"}, "`9-3` in `exit_codes`: codes go from 0 to 255, the lower one first"),
    ],
)
def test_what_is_no_rule(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        exit_codes_of(given)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (3, "exit code 3"),
        (128, "exit code 128"),
        (137, "exit code 137 (128 + SIGKILL)"),
        (255, "exit code 255"),
        (-11, "ended by SIGSEGV (it crashed: a wrong address in memory)"),
        (-13, "ended by SIGPIPE"),
        (-40, "ended by signal 40"),
    ],
)
def test_how_it_is_told(code: int, text: str) -> None:
    assert told(code) == text
