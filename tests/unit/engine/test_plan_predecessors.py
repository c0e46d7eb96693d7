"""Which steps stand right before one, whether they take part in a run or not."""

from stretto.engine.plan import Plan
from stretto.testing.shapes import step


def test_the_steps_right_before() -> None:
    steps = [step("a", "b", "c"), step("b", "c"), step("c")]
    whole = Plan(steps)
    assert whole.predecessors_of("c") == ("a", "b")
    assert whole.predecessors_of("b") == ("a",)
    assert whole.predecessors_of("a") == ()


def test_steps_that_do_not_take_part_are_named_too() -> None:
    steps = [step("a", "b"), step("b", "c"), step("c")]
    from_b = {each.id: each.transition for each in steps[1:]}
    assert Plan(steps, from_b).predecessors_of("b") == ("a",)
