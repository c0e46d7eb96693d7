"""The shape of the graph: ids, edges, cycles, predecessors, counts, at every level."""

import time

import pytest
from tests.unit.definition.samples import Raw, flow, foreach, found, step, text_of, while_, with_limits

from stretto.definition import MAESTRO_LIMITS, check
from stretto.definition.parse import Options
from stretto.definition.rules.shape import name_cycle
from stretto.model.problem import Code

MAESTRO = Options(limits=MAESTRO_LIMITS)


def message(value: Raw) -> str:
    [problem] = check(text_of(value)).problems
    return str(problem)


class TestIds:
    def test_are_used_once_over_all_levels(self) -> None:
        value = flow(step("a"), foreach("f", [step("a"), while_("w", [step("f")])]), step("a"))
        assert found(value) == [
            (Code.DUPLICATE_ID, "workflow.steps[1].foreach.steps[0].step.id"),
            (Code.DUPLICATE_ID, "workflow.steps[1].foreach.steps[1].while.steps[0].step.id"),
            (Code.DUPLICATE_ID, "workflow.steps[2].step.id"),
        ]

    def test_the_message_names_the_id(self) -> None:
        assert "`a` is used twice" in message(flow(step("a"), step("a")))


class TestSuccessors:
    def test_unknown_ones_with_a_guess(self) -> None:
        value = flow(step("job.1", "job.4"), step("job.3"))
        assert found(value) == [(Code.UNKNOWN_STEP, 'workflow.steps[0].step.transition.successors["job.4"]')]
        assert "did you mean `job.3`?" in message(value) or "did you mean `job.1`?" in message(value)
        assert "does not exist in steps" in message(value)

    def test_on_another_level(self) -> None:
        inner = flow(step("a", "inner"), foreach("f", [step("inner")]))
        outer = flow(step("a"), foreach("f", [step("inner", "a")]))
        for value in (inner, outer):
            assert "on another level" in message(value)

    def test_no_guess_for_the_thousandth(self) -> None:
        value = flow(*(step(f"step{n}", f"stop{n}") for n in range(100)))
        hints = [problem.hint for problem in check(text_of(value)).problems]
        assert (hints[0] is not None, hints[-1]) == (True, None)

    def test_thousands_of_them_take_no_long_time(self) -> None:
        value = text_of(flow(*(step(f"step{n}", f"stop{n}") for n in range(5_000))))
        start = time.process_time()
        assert len(check(value).problems) == 1_001
        assert time.process_time() - start < 20


class TestCycles:
    @pytest.mark.parametrize("length", [1, 2, 3, 300])
    def test_of_any_length_named(self, length: int) -> None:
        value = flow(*(step(f"s{n}", f"s{(n + 1) % length}") for n in range(length)))
        first = "s0" if length == 1 else "s1"
        assert found(value) == [(Code.CYCLE, f"workflow.steps[0].step.transition.successors.{first}")]
        assert "Invalid workflow definition [wf], where DAG contains cycle: s0 -> " in message(value)
        assert message(value).count("s0") >= 2

    def test_inside_loops(self) -> None:
        cycle = [step("a", "b"), step("b", "a")]
        value = flow(foreach("f", [while_("w", cycle)]))
        path = "workflow.steps[0].foreach.steps[0].while.steps[0].step.transition.successors.b"
        assert found(value) == [(Code.CYCLE, path)]

    def test_several(self) -> None:
        value = flow(step("a", "a"), step("b", "c"), step("c", "b"))
        assert [code for code, _ in found(value)] == [Code.CYCLE] * 2

    def test_conditions_do_not_matter(self) -> None:
        value = flow({"step": {"id": "a", "type": "NoOp", "transition": {"successors": {"a": "false"}}}})
        assert [code for code, _ in found(value)] == [Code.CYCLE]

    def test_the_middle_of_a_long_one_is_counted(self) -> None:
        named = name_cycle([str(n) for n in range(20)])
        assert named == "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> ... 8 more ... -> 17 -> 18 -> 19"


class TestPredecessors:
    def given(self, *names: str) -> Raw:
        second: Raw = {"id": "b", "type": "NoOp", "transition": {"predecessors": list(names)}}
        return flow(step("a", "b"), {"step": second})

    def test_that_agree(self) -> None:
        assert found(self.given("a")) == found(self.given()) == []

    def test_that_differ(self) -> None:
        path = "workflow.steps[1].step.transition.predecessors"
        assert found(self.given("x")) == [(Code.PREDECESSOR_MISMATCH, path)]
        assert found(self.given("a", "a")) == [(Code.PREDECESSOR_MISMATCH, path)]
        assert found(self.given("x", "x")) == [(Code.PREDECESSOR_MISMATCH, path)] * 2

    def test_inside_loops(self) -> None:
        body: Raw = {"id": "b", "type": "NoOp", "transition": {"predecessors": ["x"]}}
        assert [code for code, _ in found(flow(foreach("f", [{"step": body}])))] == [
            Code.PREDECESSOR_MISMATCH
        ]


class TestCounts:
    def test_steps_of_all_levels(self) -> None:
        value = flow(step("a"), foreach("f", [step("b"), step("c")]))
        assert found(value, with_limits(steps=4)) == []
        assert found(value, with_limits(steps=3)) == [(Code.TOO_MANY_STEPS, "workflow.steps")]

    def test_an_empty_workflow(self) -> None:
        assert found(flow()) == []
        assert found(flow(), MAESTRO) == [(Code.EMPTY, "workflow.steps")]

    def test_an_empty_loop(self) -> None:
        assert found(flow(foreach("f", []), while_("w", []))) == [
            (Code.EMPTY, "workflow.steps[0].foreach.steps"),
            (Code.EMPTY, "workflow.steps[1].while.steps"),
        ]

    def test_maestro_allows_300(self) -> None:
        value = flow(*(step(f"s{n}") for n in range(301)))
        assert found(value, MAESTRO) == [(Code.TOO_MANY_STEPS, "workflow.steps")]
