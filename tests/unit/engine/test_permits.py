"""Which permits a step needs, and who gets them."""

from random import Random

import pytest

from stretto.engine.permits import (
    MAESTRO_DEFAULTS,
    Concurrency,
    Pace,
    PermitDefaults,
    PermitUse,
    TagRoom,
    Waiter,
    granted,
    limit_of,
    permits_of,
    rate_tag,
    runtime_permits,
    with_limit,
)
from stretto.model.permit import Rate, TagPermitRequest, parse_rate
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.workflow import Criticality


def runtime(
    concurrency: Concurrency, *, leaf: bool = True, defaults: PermitDefaults | None = None
) -> dict[str, int | None]:
    return runtime_permits("W", "s", "c", concurrency, leaf=leaf, defaults=defaults or PermitDefaults())


def test_what_nobody_limited_does_not_wait() -> None:
    assert runtime(Concurrency()) == {}
    assert runtime(Concurrency(workflow=3)) == {"maestro_W": 3}
    assert runtime(Concurrency(instance=5)) == {"maestro_c": 5}
    assert runtime(Concurrency(workflow=3, instance=5), leaf=False) == {"maestro_W": 3}


def test_a_setting_can_limit_everything() -> None:
    assert runtime(Concurrency(), defaults=MAESTRO_DEFAULTS) == {"maestro_W": 20, "maestro_W:s": 20}
    assert runtime(Concurrency(instance=5), leaf=False, defaults=MAESTRO_DEFAULTS) == {}


def test_a_step_needs_its_tags_and_those_of_the_runtime() -> None:
    tags = (Tag(name="db"), Tag(name="gpu", permit=2))
    assert permits_of(tags, {"maestro_W": 3}) == {"db": None, "gpu": 2, "maestro_W": 3}


def test_the_row_of_a_tag_decides_before_what_steps_bring_along() -> None:
    assert limit_of(0, 5, 7) == 0
    assert limit_of(None, 5, 7) == 5
    assert limit_of(None, None, 7) == 7
    assert limit_of(None, None, None) is None


def names(waiters: list[Waiter]) -> str:
    return "".join(waiter.attempt for waiter in waiters)


def waiter(name: str, tags: str, since: int = 0, criticality: Criticality | None = None) -> Waiter:
    return Waiter(name, tuple(tags), criticality, since, ord(name))


def test_the_line_is_ordered_by_criticality_then_age_then_ticket() -> None:
    line = [
        waiter("g", "t", 0, Criticality.LOW),
        waiter("f", "t", 9),
        waiter("d", "t", 3, Criticality.MEDIUM),
        waiter("e", "t", 3),
        waiter("c", "t", 2, Criticality.MEDIUM),
        waiter("b", "t", 9, Criticality.HIGH),
        waiter("a", "t", 9, Criticality.CRITICAL),
    ]
    assert names(granted(line, {}, {})) == "abcdefg"
    assert names(granted(line, {}, {"t": 3})) == "abc"
    assert names(granted(line, {"t": 2}, {"t": 3})) == "a"
    assert names(granted(line, {"t": 3}, {"t": 3})) == ""


def test_all_or_none_and_nobody_passes_an_earlier_waiter() -> None:
    line = [waiter("a", "xy", 1), waiter("b", "y", 2), waiter("c", "z", 3)]
    assert names(granted(line, {"x": 1}, {"x": 1, "y": 1, "z": 1})) == "c"
    assert names(granted(line, {}, {"x": 1, "y": 1, "z": 1})) == "ac"
    assert names(granted(line, {}, {"x": 1, "y": 2, "z": 1})) == "abc"


def test_a_limit_of_none_is_no_limit_and_of_zero_is_a_stop() -> None:
    assert names(granted([waiter("a", "x")], {"x": 99}, {"x": None})) == "a"
    assert names(granted([waiter("a", "x")], {}, {"x": 0})) == ""


def test_a_lowered_limit_takes_nothing_back_and_gives_nothing_out() -> None:
    assert granted([waiter("a", "x")], {"x": 5}, {"x": 2}) == []


def test_who_waits_for_a_tag_that_is_not_locked_keeps_its_place() -> None:
    line = [waiter("a", "xy", 1), waiter("b", "x", 2)]
    assert names(granted(line, {}, {"x": 1}, frozenset("x"))) == ""
    assert names(granted(line, {}, {"x": 2}, frozenset("x"))) == "b"


@pytest.mark.parametrize("before", [True, False])
def test_who_set_a_limit_is_remembered(before: bool) -> None:
    ann, bob = User(name="ann"), User(name="bob")
    first = with_limit(None, TagPermitRequest(tag="t", max_allowed=1, extra={"a": 1}), ann, 10)
    assert first.extra == {"a": 1}
    first.timeline = first.timeline if before else None
    second = with_limit(first, TagPermitRequest(tag="t", max_allowed=2), bob, 20)
    assert (second.max_allowed, second.extra) == (2, {})
    assert [event.timestamp for event in second.timeline or []] == ([10, 20] if before else [20])


# ------------------------------------------------------------------------------------------------------ rates
def test_how_a_rate_is_written() -> None:
    assert parse_rate("10/minute") == Rate(10, 60_000)
    assert [parse_rate(f" 1/{unit}") for unit in ("second", "hour", "day")] == [
        Rate(1, 1_000),
        Rate(1, 3_600_000),
        Rate(1, 86_400_000),
    ]
    for text in ("0/minute", "1001/minute", "10", "10/week", "-1/minute", "1.5/minute", "10/minutes", ""):
        assert parse_rate(text) is None


def test_starts_count_from_their_grant_on() -> None:
    pace = Pace(Rate(2, 1_000))
    assert (pace.slots(0), pace.next_slot(0)) == (2, 0)
    pace = pace.started(0, 1).started(400, 1)
    assert [pace.slots(at) for at in (400, 999, 1_000, 1_399, 1_400)] == [0, 0, 1, 1, 2]
    assert (pace.next_slot(400), pace.next_slot(1_000)) == (1_000, 1_000)
    assert pace.started(1_400, 1).grants == (1_400,)  # what no longer counts is forgotten
    assert Pace(Rate(1, 1_000), (0, 400)).next_slot(500) == 1_400  # the rate was lowered meanwhile
    back = Pace(Rate(1, 1_000), (9_000,))  # the clock was set back: it counts as if it were made now
    assert (back.slots(100), back.next_slot(100), back.started(100, 0).grants) == (0, 1_100, (100,))
    assert back.is_ahead(8_999)
    assert not back.is_ahead(9_000)


def test_no_window_has_more_starts_than_the_rate_says() -> None:
    """Wherever it begins: also one that holds the end of a burst and the begin of the next."""
    dice = Random(7)  # noqa: S311 - the same each time
    for starts in (1, 3, 10):
        pace, now, granted_at = Pace(Rate(starts, 1_000)), 0, list[int]()
        for _ in range(500):
            now += dice.choice((0, 1, 50, 333, 999, 1_000))
            count = min(dice.randint(1, 12), pace.slots(now))
            pace = pace.started(now, count)
            granted_at += [now] * count
        assert len(granted_at) > 100
        for first in granted_at:
            assert sum(first <= at < first + 1_000 for at in granted_at) <= starts
        assert len(pace.grants) <= starts


def test_who_goes_by_a_rate() -> None:
    line = [Waiter(name, ("t",), None, place) for place, name in enumerate("abc")]
    assert [each.attempt for each in granted(line, {"t": 9}, {}, None, {"t": 2})] == ["a", "b"]
    assert granted(line, {}, {}, None, {"t": 0}) == []
    assert [each.attempt for each in granted(line, {}, {"t": 1}, None, {"t": 2})] == ["a"]
    assert [each.attempt for each in granted(line, {}, {}, None, {"other": 0})] == ["a", "b", "c"]
    assert rate_tag("w", "s") == "rate_w:s"


def test_a_tag_with_a_rate_says_so_on_its_timeline() -> None:
    request = TagPermitRequest(tag="t", rate="10/minute")
    made = with_limit(None, request, User(name="ann"), 1)
    assert (made.max_allowed, made.rate) == (None, "10/minute")
    assert made.timeline is not None
    assert "created the tag permit with no limit and rate [10/minute]" in str(made.timeline[0])


# -------------------------------------------------------------------------------------------- taking permits
def test_the_peak_of_a_decision_is_where_it_holds_the_most() -> None:
    use = PermitUse().changed(-1).taken(3)  # the next step after one that has ended
    assert use == PermitUse(peak=0, net=0, starts=1, limit=3)
    assert use.taken(9) == PermitUse(peak=1, net=1, starts=2, limit=3)
    assert PermitUse().passed(None, 100).passed(5) == PermitUse(peak=1, net=0, starts=101, limit=5)
    # Who stands in line within the decision is before those who come later.
    assert PermitUse().changed(1).taken(None) == PermitUse(peak=2, net=2, starts=1)
    assert PermitUse().taken(None).changed(-1).passed(None).peak == 1


def test_decisions_one_after_the_other_are_as_one() -> None:
    first, second = PermitUse().taken(None).changed(-1), PermitUse().changed(-1).taken(3).taken(4)
    assert first.then(second) == PermitUse(peak=1, net=1, starts=3, limit=3)
    assert first.then(PermitUse().changed(-1)) == first.changed(-1)
    assert PermitUse().changed(-2).then(second) == PermitUse(peak=-1, net=-1, starts=2, limit=3)
    assert first.then(PermitUse().taken(5)).limit == 5


def test_what_is_returned_before_it_is_taken_is_handed_over() -> None:
    assert PermitUse().changed(-1).taken(3).is_handed_over
    assert PermitUse().changed(-1).passed(3, 7).is_handed_over
    assert not PermitUse().taken(3).changed(-1).is_handed_over
    assert not PermitUse().changed(-1).taken(3).taken(3).is_handed_over


def test_a_decision_fits_if_its_peak_does() -> None:
    assert TagRoom(4, 5).fits(PermitUse().taken(None))
    assert not TagRoom(5, 5).fits(PermitUse().taken(None))
    assert TagRoom(5, 5).fits(PermitUse().changed(-1).taken(None))
    assert not TagRoom(6, 5).fits(PermitUse().changed(-1).taken(None))  # the limit was lowered
    assert TagRoom(99).fits(PermitUse().passed(None, 100))
    assert TagRoom(0, None, 2).fits(PermitUse().passed(None, 2))
    assert not TagRoom(0, 9, 2).fits(PermitUse().passed(None, 3))


def test_what_is_left_of_a_tag() -> None:
    assert TagRoom(3).after(PermitUse().taken(None)) == TagRoom(4)
    assert TagRoom(3, 5, 7).after(PermitUse().taken(None)) == TagRoom(4, 5, 6)
    assert [TagRoom(3).left, TagRoom(3, 5).left, TagRoom(3, 5, 1).left, TagRoom(6, 5).left] == [None, 2, 1, 0]
