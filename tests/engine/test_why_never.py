"""A step that did not begin says which step before it failed, however far up."""

from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.shapes import noop, step, workflow

from stretto.engine.why import Cause


def chain(*, other: bool) -> Driver:
    steps = [step("a", "b"), step("b", "c"), noop("c")]
    runtime = scripted(a=["FATAL_ERROR"], other=[FOREVER])
    made = Driver(workflow(*steps, *([step("other")] if other else [])), runtime=runtime)
    return made.start().run(0) if other else made.finish()


def test_while_the_run_goes_on() -> None:
    driver = chain(other=True)
    (near,), (far,) = driver.why("b").reasons, driver.why("c").reasons
    assert (near.cause, near.subject, near.text) == (
        Cause.NEVER,
        "a",
        "its predecessor a ended FATALLY_FAILED",
    )
    assert (far.cause, far.subject, far.text) == (Cause.NEVER, "a", "further up, step a ended FATALLY_FAILED")


def test_after_the_run() -> None:
    driver = chain(other=False)
    ended = "the run ended FAILED before the step could begin"
    assert str(driver.why("b")) == f"{ended}: its predecessor a ended FATALLY_FAILED"
    assert str(driver.why("c")) == f"{ended}: further up, step a ended FATALLY_FAILED"


def test_all_that_failed_are_named_once() -> None:
    steps = [step("a", "j"), step("b", "j", "k"), noop("j", "k"), noop("k")]
    runtime = scripted(a=["FATAL_ERROR"], b=["FATAL_ERROR"])
    driver = Driver(workflow(*steps), runtime=runtime).finish()
    assert str(driver.why("k")).endswith(
        ": further up, step a ended FATALLY_FAILED; its predecessor b ended FATALLY_FAILED"
    )
