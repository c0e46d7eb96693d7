"""Fires that are left out, come twice or come late are found. Time
when nobody could do anything does not count.
"""

import pytest
from chaos.availability import Availability
from chaos.schedule import Fire, lags_of, schedule_violations


def nothing(begin: int, end: int) -> int:  # noqa: ARG001 - all time counts
    return 0


@pytest.mark.parametrize(
    ("fires", "found"),
    [
        ([Fire(3_000, 3_100), Fire(6_000, 15_900)], None),
        ([Fire(3_000, 3_100), Fire(9_000, 9_100)], "lost: the fire due at 6000 has started no run"),
        ([Fire(3_000, 3_100), Fire(3_000, 3_200)], "doubled: the fire due at 3000 has started 2 runs"),
        ([Fire(3_000, 14_000)], "the fire due at 3000 has started its run 11.0 s late"),
        ([], "lost: the schedule has started nothing"),
    ],
)
def test_a_schedule(fires: list[Fire], found: str | None) -> None:
    violations = list(schedule_violations(fires, 3_000, nothing))
    assert not violations if found is None else found in violations[0]


def test_time_without_a_database_does_not_count() -> None:
    answers = True
    seen = Availability(lambda: answers)
    seen.look(1_000)
    answers = False
    seen.look(4_000)
    seen.look(8_000)
    answers = True
    seen.look(12_000)
    assert seen.millis_without(0, 4_000) == 0
    assert seen.millis_without(3_000, 16_000) == 8_000
    assert seen.millis_without(10_000, 11_000) == 1_000
    fires = [Fire(3_000, 16_000)]
    assert lags_of(fires, seen.millis_without) == [5.0]
    assert not list(schedule_violations(fires, 3_000, seen.millis_without))
    answers = False
    seen.look(20_000)
    assert seen.millis_without(19_000, 23_000) == 3_000
