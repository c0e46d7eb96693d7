"""Timelines: nothing twice in a row, and not too much."""

import pytest

from stretto.engine.records import MOST_EVENTS, appended, same_event, started_by
from stretto.model.initiator import (
    Ancestor,
    ForeachInitiator,
    ManualInitiator,
    SignalInitiator,
    TimeInitiator,
)
from stretto.model.timeline import LogEvent, LogLevel, StatusEvent, TimelineEvent
from stretto.model.user import User


def said(message: str, at: int = 0, level: LogLevel = LogLevel.INFO) -> LogEvent:
    return LogEvent(timestamp=at, level=level, message=message)


def test_the_same_words_are_news_once() -> None:
    first = appended((), [said("hello", 1)])
    assert appended(first, [said("hello", 2)]) is first
    assert appended(first, [said("hello", 2), said("bye", 3), said("bye", 4), said("hello", 5)]) == (
        said("hello", 1),
        said("bye", 3),
        said("hello", 5),
    )


def test_nothing_new_is_nothing_new() -> None:
    assert appended((), []) == ()


def test_only_the_newest_are_kept() -> None:
    timeline: tuple[TimelineEvent, ...] = ()
    for number in range(100):
        timeline = appended(timeline, [said(str(number), number)])
    assert len(timeline) == MOST_EVENTS
    assert timeline[-1] == said("99", 99)
    assert appended(timeline, [said("x")], most=2) == (said("99", 99), said("x"))


def test_events_differ_in_kind_and_in_every_field_but_the_time() -> None:
    assert same_event(said("a", 1), said("a", 2))
    assert not same_event(said("a"), said("a", level=LogLevel.WARN))
    assert not same_event(said("RUNNING"), StatusEvent(timestamp=0, status="RUNNING"))


@pytest.mark.parametrize(
    ("initiator", "line"),
    [
        (ManualInitiator(), "Manually run a new workflow instance by a user [unknown]"),
        (ManualInitiator(user=User(name="ann")), "Manually run a new workflow instance by a user [ann]"),
        (
            TimeInitiator(trigger_uuid="t"),
            "TIME-based trigger runs a new workflow instance by trigger uuid [t]",
        ),
        (
            SignalInitiator(trigger_uuid="s"),
            "SIGNAL-based trigger runs a new workflow instance by trigger uuid [s]",
        ),
        (
            ForeachInitiator(
                ancestors=(
                    Ancestor(workflow_id="w", instance_id=1, run_id=2, step_id="s", step_attempt_id=3),
                )
            ),
            "FOREACH step ([w][1][2][s][3]) runs a new workflow instance",
        ),
    ],
)
def test_the_first_line_says_who_started_it(initiator: ManualInitiator, line: str) -> None:
    assert started_by(initiator) == line
