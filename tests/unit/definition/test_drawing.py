"""Drawings: a tree, Mermaid, DOT, SVG, and the outline as data."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from tests.unit.definition.samples import flow, foreach, step, text_of, while_

from stretto.definition import parse
from stretto.definition.drawing import count_steps, outline, to_dot, to_mermaid, to_svg, to_tree
from stretto.definition.drawing.layout import clipped, lay_out
from stretto.definition.drawing.outline import kind_label
from stretto.model.workflow import Workflow

SVG = "{http://www.w3.org/2000/svg}"


def workflow(*steps: Any) -> Workflow:
    return parse(text_of(flow(*steps))).workflow


def branch(step_id: str, **conditions: str) -> dict[str, Any]:
    return {"step": {"id": step_id, "type": "NoOp", "transition": {"successors": conditions}}}


ALL = workflow(
    branch("a", b='x > "1" | #', c="true"),
    step("b", "d"),
    step("c", "d"),
    foreach("d", [step("e", "g"), while_("g", [step("h")])], transition={"successors": {"s": "true"}}),
    {"subworkflow": {"id": "s", "workflow_id": "child", "name": "Child", "stage": "last"}},
)


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ({"step": {"type": "noop"}}, "NoOp"),
        ({"step": {"type": "Notebook", "sub_type": "spark"}}, "Notebook/spark"),
        ({"foreach": {"loop_params": {"i": {"value": [1], "type": "LONG_ARRAY"}}}}, "foreach i"),
        ({"foreach": {}}, "foreach"),
        ({"while": {"condition": "a <\n  3"}}, "while a < 3"),
        ({"subworkflow": {"workflow_id": "w"}}, "subworkflow w"),
        ({"subworkflow": {}}, "subworkflow"),
        ({"template": {"sub_type": "t"}}, "template t"),
        ({"template": {}}, "template"),
    ],
)
def test_labels(body: dict[str, Any], label: str) -> None:
    ((kind, fields),) = body.items()
    assert kind_label(workflow({kind: {"id": "a", **fields}}).steps[0]) == label


def test_a_label_for_what_is_no_step() -> None:
    with pytest.raises(TypeError):
        kind_label(None)  # type: ignore[arg-type]


def test_counts_all_levels() -> None:
    assert count_steps(ALL.steps) == 8


def test_tree() -> None:
    assert (
        to_tree(ALL, ascii_only=True)
        == """\
wf: 8 steps
a [NoOp]   (b if x > "1" | #)
|- b [NoOp]
`- c [NoOp]
   d [foreach i]   (after b, c)
   :  e [NoOp]
   :  g [while x < 3]
   :  :  h [NoOp]
   s [subworkflow child]
"""
    )
    assert "├─ b [NoOp]" in to_tree(ALL)
    assert to_tree(workflow(step("a"))) == "wf: 1 step\na [NoOp]\n"


def test_a_tree_of_cycles_shows_what_it_can() -> None:
    assert to_tree(workflow(step("x", "a"), step("a", "b"), step("b", "a"))) == "wf: 3 steps\nx [NoOp]\n"


def test_a_tree_of_many_branches_stays_narrow() -> None:
    steps = [step(f"s{n}", f"s{n + 1}", f"t{n}") for n in range(60)]
    steps += [step("s60"), *(step(f"t{n}") for n in range(60))]
    lines = to_tree(workflow(*steps), ascii_only=True).splitlines()
    assert len(lines) == 122
    assert max(map(len, lines)) < 30 * 3 + 20


def test_mermaid() -> None:
    text = to_mermaid(ALL)
    assert text.startswith("flowchart TD\n")
    assert 's1 -->|"x #gt; #quot;1#quot; #124; #35;"| s2' in text
    assert 'subgraph s4["d<br/><small>foreach i</small>"]' in text
    assert text.count("end\n") == 2
    assert "-->" not in to_mermaid(workflow(branch("a", nowhere="true")))


def test_dot() -> None:
    text = to_dot(ALL)
    assert text.startswith('digraph "wf" {')
    assert '"a" -> "b" [label="x > \\"1\\" | #"];' in text
    assert 'subgraph "cluster_d" {' in text
    assert '"a" -> "c";' in text
    assert "->" not in to_dot(workflow(branch("a", nowhere="true")))


def test_svg_is_well_formed_and_shows_every_step() -> None:
    root = ET.fromstring(to_svg(ALL))  # noqa: S314 - our own text
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert {"a", "b", "c", "d", "e", "g", "h", "s"} <= set(texts)
    assert len(list(root.iter(f"{SVG}rect"))) == 8
    assert 'x > "1" | #' in texts


def test_svg_without_characters_that_xml_forbids() -> None:
    odd = workflow({"while": {"id": "w", "condition": "x == '\x01<&'"}}, branch("a", w="y == '\x02'"))
    ET.fromstring(to_svg(odd))  # noqa: S314 - our own text


@pytest.mark.parametrize("steps", [(), (step("a", "b"), step("b", "a"))])
def test_svg_of_nothing_and_of_cycles(steps: Any) -> None:
    ET.fromstring(to_svg(workflow(*steps)))  # noqa: S314 - our own text


def test_layout_puts_successors_below() -> None:
    plan = lay_out(ALL.steps)
    y = {name: box.y for name, box in plan.boxes.items()}
    assert y["a"] < y["b"] == y["c"] < y["d"] < y["s"]
    assert plan.width >= plan.boxes["d"].width


def test_an_edge_over_several_rows() -> None:
    over = workflow(step("a", "b", "d"), step("b", "c"), step("c", "d"), step("d"))
    assert len(lay_out(over.steps).edges) == 4
    root = ET.fromstring(to_svg(over))  # noqa: S314 - our own text
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]) == 4


def test_long_labels_are_clipped() -> None:
    assert clipped("x" * 36) == "x" * 36
    assert clipped("x" * 37) == "x" * 35 + "…"


def test_outline() -> None:
    made = outline(ALL)
    assert (made["workflow_id"], made["sources"], made["sinks"]) == ("wf", ["a"], ["s"])
    assert [node["id"] for node in made["nodes"]] == ["a", "b", "c", "d", "s"]
    assert made["edges"][0] == {"from": "a", "to": "b", "condition": 'x > "1" | #'}
    assert [node["id"] for node in made["nodes"][3]["body"]["nodes"]] == ["e", "g"]
    assert made["nodes"][4] == {
        "id": "s",
        "kind": "subworkflow",
        "label": "subworkflow child",
        "name": "Child",
        "stage": "last",
    }


def test_a_long_edge_goes_past_the_boxes_between() -> None:
    plan = lay_out(workflow(step("a", "b", "d"), step("b", "c"), step("c", "d"), step("d")).steps)
    long = next(line for line in plan.edges if (line.start, line.end) == ("a", "d"))
    assert len(long.bends) == 2
    for bend in long.bends:
        for box in plan.boxes.values():
            assert not (box.x <= bend.x <= box.x + box.width and box.y <= bend.y <= box.y + box.height)


def test_edges_go_straight_where_there_are_too_many_rows() -> None:
    chain = [step(f"s{n}", f"s{n + 1}", "end") for n in range(120)]
    plan = lay_out(workflow(*chain, step("s120", "end"), step("end")).steps)
    straight = [line for line in plan.edges if line.end == "end" and not line.bends]
    assert 1 < len(straight) < 120


def test_conditions_into_one_step_stand_at_their_sources() -> None:
    text = to_svg(workflow(branch("a", c="x > 1"), branch("b", c="y > 1"), step("c")))
    places = {node.text: node.get("x") for node in ET.fromstring(text).iter(f"{SVG}text")}  # noqa: S314
    assert places["x > 1"] != places["y > 1"]
