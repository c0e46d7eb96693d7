"""The graph of a definition in columns."""

from typing import Any

from stretto.actions.reading.graph_view import GraphView, graph_of
from stretto.model.step import ForeachStep, SubworkflowStep, TemplateStep, Transition, TypedStep, WhileStep
from stretto.model.workflow import Definition, Workflow


def step(step_id: str, *successors: str, **more: Any) -> TypedStep:
    edges = Transition(successors=dict.fromkeys(successors, "true"))
    return TypedStep(id=step_id, type="NoOp", transition=edges, **more)


def test_steps_and_edges_have_places() -> None:
    found = graph_of(Workflow(id="w", steps=(step("a", "b", "c"), step("b", "c"), step("c"))))
    assert found == GraphView(
        workflow_id="w",
        ids=("a", "b", "c"),
        kinds=("NoOp", "NoOp", "NoOp"),
        edge_from=(0, 0, 1),
        edge_to=(1, 2, 2),
    )


def test_a_level_stands_in_one_piece_and_the_outermost_is_the_first() -> None:
    inner = ForeachStep(id="inner", steps=(step("leaf", "end"), step("end")))
    again = WhileStep(id="again", condition="i < 3", steps=(step("round"),))
    outer = ForeachStep(id="outer", steps=(inner, step("side")), transition=step("", "last").transition)
    found = graph_of(Workflow(id="w", steps=(outer, again, step("last"))))
    assert found.ids == ("outer", "again", "last", "inner", "side", "round", "leaf", "end")
    assert found.parents == (-1, -1, -1, 0, 0, 1, 3, 3)
    assert found.kinds[:4] == ("foreach", "while", "NoOp", "foreach")
    assert list(zip(found.edge_from, found.edge_to, strict=True)) == [(0, 2), (6, 7)]


def test_names_stages_and_conditions_are_shown_where_there_are_some() -> None:
    edges = Transition(successors={"b": "x > 1;", "c": "true"})
    first = TypedStep(id="a", type="Shell", name="First", stage="build", transition=edges)
    others = (SubworkflowStep(id="b"), TemplateStep(id="c"))
    found = graph_of(Workflow(id="w", steps=(first, *others)))
    assert found.kinds == ("Shell", "subworkflow", "template")
    assert found.names == ("First", "", "")
    assert found.stages == ("build", "", "")
    assert found.conditions == ("x > 1", "")


def test_a_definition_is_read_as_its_workflow_and_mistakes_do_no_harm() -> None:
    broken = Workflow(id="w", steps=(step("a", "nowhere", "a"), step("a", "a")))
    found = graph_of(Definition(workflow=broken))
    assert found.ids == ("a", "a")
    assert len(found.edge_from) == len(found.edge_to) == 2
    assert graph_of(Workflow(id="empty")) == GraphView(workflow_id="empty")
