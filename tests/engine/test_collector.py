"""What a decision leaves to Python's collector of cycles. That looks at survivors again and again, so with
many of them a run with twice the steps would take more than twice as long.
"""

import gc

from tests.engine.driver import Driver
from tests.engine.shapes import foreach, noop, numbers, workflow

from stretto.engine.decide import decide
from stretto.engine.events import Launched


def left_over(driver: Driver) -> int:
    """Objects made by a decision that the collector counts, and that are still there after it."""
    gc.collect()
    gc.disable()
    try:
        before = gc.get_count()[0]
        decision = decide(driver.flow, Launched(run=driver.flow.run.key), driver.now)
        after = gc.get_count()[0]
    finally:
        gc.enable()
    assert driver.flow.is_over
    assert decision.changes
    return after - before


def chain(length: int) -> Driver:
    names = [f"s{n}" for n in range(length)]
    return Driver(workflow(*(noop(name, *names[at + 1 : at + 2]) for at, name in enumerate(names))))


def test_a_plain_step_leaves_its_key_and_nothing_else() -> None:
    left_over(chain(10))  # what is made once
    short, long = left_over(chain(200)), left_over(chain(600))
    assert (long - short) / 400 < 1.2


def test_an_iteration_leaves_little() -> None:
    def loop(count: int) -> Driver:
        return Driver(workflow(foreach("l", {"i": numbers(*range(count))}, noop("a"))))

    left_over(loop(10))
    short, long = left_over(loop(100)), left_over(loop(300))
    assert (long - short) / 200 < 16
