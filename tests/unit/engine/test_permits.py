"""Which permits a step needs, and who gets them."""

import pytest

from stretto.engine.permits import (
    MAESTRO_DEFAULTS,
    Concurrency,
    PermitDefaults,
    Waiter,
    granted,
    limit_of,
    permits_of,
    runtime_permits,
    with_limit,
)
from stretto.model.permit import TagPermitRequest
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
