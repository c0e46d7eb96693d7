"""What is accused, and when it is guilty."""

from stretto.engine.records import RunKey
from stretto.ports.suspicion import MOST_ACCUSED, NONE, Suspicion

RUN = RunKey("w", 1, 1)


def dead(suspicion: Suspicion, *suspects: RunKey | int) -> Suspicion:
    for each in suspects:
        suspicion = suspicion.noting(each).after_a_death()
    return suspicion


def test_guilty_at_the_third_death_with_others_in_between() -> None:
    suspicion = dead(NONE, RUN, 5, RUN, 6).noting(RUN)
    assert suspicion.guilty == RUN
    assert [each.what for each in suspicion.after_a_death().accused] == [5, 6]


def test_innocent_until_then() -> None:
    assert NONE.guilty is None
    assert dead(NONE, RUN, RUN).guilty is None
    assert dead(NONE, RUN).noting(RUN).guilty is None


def test_no_harm_forgets_what_was_touched_and_nothing_else() -> None:
    suspicion = dead(NONE, RUN, 5).noting(RUN).noting(None)
    assert [each.what for each in suspicion.accused] == [5]
    assert suspicion.noting(None) == suspicion


def test_a_death_with_nothing_at_hand_accuses_nothing() -> None:
    suspicion = dead(NONE, RUN)
    assert suspicion.after_a_death() == suspicion


def test_the_oldest_are_forgotten() -> None:
    accused = dead(NONE, *range(MOST_ACCUSED + 4)).accused
    assert [each.what for each in accused] == list(range(4, MOST_ACCUSED + 4))
