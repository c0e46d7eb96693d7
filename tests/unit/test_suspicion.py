"""What is accused, and when it is guilty."""

from stretto.engine.records import RunKey
from stretto.ports.suspicion import MOST_ACCUSED, NONE, Suspect, Suspicion, after_a_death

RUN, OTHER = RunKey("w", 1, 1), RunKey("w", 2, 1)


def load(what: RunKey | int) -> Suspect:
    return Suspect(what=what, at="load")


def event(what: RunKey, at: str) -> Suspect:
    return Suspect(what=what, at=at)


def dead(suspicion: Suspicion, *suspects: Suspect) -> Suspicion:
    """Owners noted one of these each, and died."""
    for each in suspects:
        suspicion = suspicion.noting([each]).after_a_death()
    return suspicion


def test_guilty_at_the_third_death_with_others_in_between() -> None:
    suspicion = dead(NONE, load(RUN), load(5), load(RUN), load(6)).noting([load(RUN)])
    assert suspicion.guilty == (RUN,)
    assert [each.what for each in suspicion.after_a_death().accused] == [5, 6]


def test_nothing_of_a_run_that_is_set_aside_stays_accused() -> None:
    suspicion = dead(NONE, event(RUN, "a"), load(RUN), load(RUN), load(RUN))
    assert suspicion == NONE


def test_innocent_until_then() -> None:
    assert NONE.guilty == ()
    assert dead(NONE, load(RUN), load(RUN)).guilty == ()
    assert dead(NONE, load(RUN)).noting([load(RUN)]).guilty == ()


def test_deaths_at_different_operations_of_a_run_do_not_add_up() -> None:
    suspicion = dead(NONE, *[event(RUN, at) for at in "abcabc"])
    assert {each.deaths for each in suspicion.accused} == {2}
    assert suspicion.noting([event(RUN, "d")]).guilty == ()
    assert suspicion.noting([event(RUN, "d"), event(RUN, "a")]).guilty == (RUN,)


def test_what_has_returned_is_not_accused_any_more_and_everything_else_is() -> None:
    suspicion = dead(NONE, load(RUN), event(RUN, "a"), load(5)).noting([load(RUN)]).noting([])
    assert [each.suspect for each in suspicion.accused] == [event(RUN, "a"), load(5)]
    assert suspicion.noting([]) == suspicion
    assert suspicion.after_a_leave() == suspicion


def test_a_note_that_is_repeated_has_not_returned() -> None:
    suspicion = dead(NONE, load(RUN)).noting([load(RUN), load(OTHER)])
    assert suspicion.noting([load(RUN), load(OTHER)]) == suspicion
    assert [each.deaths for each in suspicion.noting([load(RUN)]).accused] == [1]


def test_a_death_accuses_all_that_is_noted_once() -> None:
    suspicion = dead(NONE, load(RUN)).noting([load(RUN), load(OTHER), load(OTHER)]).after_a_death()
    assert [(each.what, each.deaths) for each in suspicion.accused] == [(RUN, 2), (OTHER, 1)]


def test_a_death_with_nothing_noted_accuses_nothing() -> None:
    suspicion = dead(NONE, load(RUN))
    assert suspicion.after_a_death() == suspicion


def test_those_of_the_fewest_deaths_are_forgotten_first() -> None:
    first = dead(NONE, load(0), load(0))
    accused = dead(first, *map(load, range(1, MOST_ACCUSED + 4))).accused
    assert [each.what for each in accused] == [0, *range(5, MOST_ACCUSED + 4)]


def test_a_death_without_any_note_clears_all_groups_of_the_owner() -> None:
    accused, other = dead(NONE, load(RUN), load(RUN)), dead(NONE, load(5))
    assert after_a_death([accused, other, NONE]) == [NONE, NONE, NONE]
    assert after_a_death([accused, other.noting([load(6)]), NONE])[0] == accused
