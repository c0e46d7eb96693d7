"""Attempts that take permits because there seems to be room, and go on in the same decision."""

from collections.abc import Mapping, Sequence

from tests.engine.driver import Driver
from tests.engine.shapes import noop, step, tag, workflow

from stretto.engine import effects as todo
from stretto.engine.effects import AskPermits, ReleasePermits, UsePermits
from stretto.engine.permits import Limits
from stretto.engine.recovery import recovery_of
from stretto.engine.settings import EngineSettings
from stretto.model.status import StepStatus

S = StepStatus
GPU = (tag("gpu"),)


class Left:
    """So many permits are left of each tag that is named; of any other, any number."""

    def __init__(self, **left: int) -> None:
        self.left = left

    def has_room(self, limits: Limits, taken: Mapping[str, int]) -> bool:
        return all(taken.get(tag, 0) < self.left.get(tag, 1_000) for tag in limits)


class Taking(Driver):
    """Carries out nothing that has to do with permits: who took them needs no answer."""

    def act_on(self, effects: Sequence[todo.Effect]) -> None:
        kinds = (AskPermits, ReleasePermits)
        self.effects += [each for each in effects if isinstance(each, kinds)]
        super().act_on([each for each in effects if not isinstance(each, kinds)])

    def of(self, kind: type[todo.Effect]) -> list[todo.Effect]:
        return [each for each in self.effects if isinstance(each, kind)]


def taking(*steps: object, settings: EngineSettings | None = None, **left: int) -> Taking:
    driver = Taking(workflow(*steps), settings=settings)  # type: ignore[arg-type]
    driver.tree.permits = Left(**left)
    return driver


def test_a_chain_of_steps_with_permits_is_one_decision() -> None:
    chain = [noop(f"s{n}", *([f"s{n + 1}"] if n < 49 else []), tags=GPU) for n in range(50)]
    driver = taking(*chain, settings=EngineSettings(step_concurrency=9), gpu=1).start()
    assert (driver.decisions, driver.status) == (1, "SUCCEEDED")
    assert driver.of(UsePermits) == [UsePermits(limits={"gpu": None, "maestro_w": 9}, attempts=50)]
    assert not driver.of(AskPermits)
    assert driver.attempt("s49").wait_permit_time == driver.now


def test_steps_with_other_permits_are_told_apart() -> None:
    driver = taking(noop("a", "b", tags=GPU), noop("b", "c"), noop("c", tags=(tag("disk", 2),))).start()
    assert driver.of(UsePermits) == [UsePermits(limits={"gpu": None}), UsePermits(limits={"disk": 2})]


def test_who_finds_no_room_stands_in_line_and_the_others_go() -> None:
    driver = taking(*(step(name, tags=GPU) for name in "abc"), gpu=2).start()
    asked = {each.attempt.step_id: each.taken for each in driver.of(AskPermits)}
    assert asked == {"a": True, "b": True, "c": False}
    assert [driver.attempt(name).status for name in "abc"] == [S.STARTING, S.STARTING, S.WAITING_FOR_PERMITS]
    assert [driver.attempt(name).granted for name in "abc"] == [True, True, False]


def test_a_plain_step_without_room_stands_in_line() -> None:
    driver = taking(noop("a", tags=GPU), gpu=0).start()
    (asked,) = driver.of(AskPermits)
    assert not asked.taken
    assert driver.attempt("a").status is S.WAITING_FOR_PERMITS


def test_the_next_step_takes_what_the_one_before_it_returns() -> None:
    driver = taking(step("a", "b", tags=GPU), step("b", tags=GPU), gpu=1).start()
    driver.tree.permits = Left(gpu=0)  # the first holds the only one
    driver.report("a")
    assert driver.attempt("b").status is S.STARTING
    assert [type(each) for each in driver.effects if not isinstance(each, todo.SetTimer | todo.StartWork)][
        :3
    ] == [
        AskPermits,
        ReleasePermits,
        AskPermits,
    ]


def test_who_took_permits_asks_for_nothing_when_it_is_loaded_again() -> None:
    driver = taking(step("a", tags=GPU)).start()
    assert not [each for each in recovery_of(driver.flow).effects if isinstance(each, AskPermits)]
