"""Two definitions compared: what came, what went, what is another."""

import pytest

from stretto.definition import parse
from stretto.definition.differences import (
    MOST_LINES,
    ChangeKind,
    WorkflowDifferences,
    between,
    differences_of,
    text_difference,
)

NAMES = ("old", "new")
OLD = """
workflow:
  id: etl
  name: load
  params: {region: {type: STRING, value: eu}, gone: {type: LONG, value: 1}}
  steps:
    - step: {id: a, type: NoOp, transition: {successors: {b: "true", each: "true"}}}
    - step: {id: b, type: NoOp, transition: {successors: {c: region == 'eu'}}}
    - step: {id: c, type: Shell, params: {command: {type: STRING, value: ls}}}
    - foreach:
        id: each
        concurrency: 5
        params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1, 2]}}}}
        steps: [{step: {id: inner, type: NoOp}}]
"""
NEW = """
workflow:
  id: etl
  description: nightly
  params: {region: {type: STRING, value: us}, come: {type: LONG, value: 1}}
  steps:
    - foreach:
        id: each
        concurrency: 20
        params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1, 2, 3]}}}}
        steps: [{step: {id: c, type: Shell, params: {command: {type: STRING, value: ls}}}}]
    - step: {id: a, type: NoOp, transition: {successors: {b: "true", d: "true"}}}
    - step: {id: b, type: NoOp, transition: {successors: {d: region == 'us'}}}
    - subworkflow: {id: d}
"""


def compared(old: str, new: str) -> WorkflowDifferences:
    return differences_of(parse(old).workflow, parse(new).workflow)


def test_the_same_has_no_difference() -> None:
    assert compared(OLD, OLD) == WorkflowDifferences()


def test_fields_and_params_of_the_workflow() -> None:
    found = compared(OLD, NEW)
    assert [(each.change, each.path, each.before, each.after) for each in found.workflow] == [
        ("REMOVED", "name", "load", None),
        ("ADDED", "description", None, "nightly"),
    ]
    assert [(each.change, each.path, each.before, each.after) for each in found.params] == [
        ("CHANGED", "region.value", "eu", "us"),
        ("REMOVED", "gone", {"value": 1, "type": "LONG"}, None),
        ("ADDED", "come", None, {"value": 1, "type": "LONG"}),
    ]


def test_steps_on_all_levels() -> None:
    found = {each.step_id: each for each in compared(OLD, NEW).steps}
    assert {name: each.change for name, each in found.items()} == {
        "each": ChangeKind.CHANGED,
        "c": ChangeKind.CHANGED,
        "inner": ChangeKind.REMOVED,
        "d": ChangeKind.ADDED,
    }
    assert found["inner"].around == "each"
    assert found["d"].around is None
    assert [(each.path, each.before, each.after) for each in found["each"].differences] == [
        ("params.loop_params.value.i.value", [1, 2], [1, 2, 3]),
        ("concurrency", 5, 20),
    ]
    assert [(each.path, each.before, each.after) for each in found["c"].differences] == [
        ("around", None, "each")
    ]


def test_a_step_of_another_kind() -> None:
    one = "workflow: {id: w, steps: [{step: {id: a, type: NoOp}}]}"
    other = "workflow: {id: w, steps: [{subworkflow: {id: a}}]}"
    (step,) = compared(one, other).steps
    assert ("kind", "step", "subworkflow") in [
        (each.path, each.before, each.after) for each in step.differences
    ]


def test_edges() -> None:
    assert [
        (each.change, each.source, each.target, each.before, each.after) for each in compared(OLD, NEW).edges
    ] == [
        ("REMOVED", "a", "each", "true", None),
        ("REMOVED", "b", "c", "region == 'eu'", None),
        ("ADDED", "a", "d", None, "true"),
        ("ADDED", "b", "d", None, "region == 'us'"),
    ]
    (edge,) = compared(OLD, OLD.replace("'eu'", "'us'")).edges
    assert (edge.change, edge.before, edge.after) == ("CHANGED", "region == 'eu'", "region == 'us'")


def test_keys_that_are_no_plain_names() -> None:
    (found,) = between({"a": {"b.c": 1}}, {"a": {"b.c": 2}})
    assert found.path == 'a["b.c"]'


@pytest.mark.parametrize("before", [0, 1, 2, 3, 4, 50])
@pytest.mark.parametrize("behind", [0, 1, 2, 3, 4, 50])
@pytest.mark.parametrize(
    ("old", "new"), [(["x"], ["y"]), ([], ["y"]), (["x"], []), (["line"], []), (["x", "z"], ["x", "y", "z"])]
)
def test_what_is_the_same_at_the_ends_changes_nothing(
    before: int, behind: int, old: list[str], new: list[str]
) -> None:
    """Whatever is cut off, the hunk fits the whole text."""
    texts = [["line"] * before + part + ["line"] * behind for part in (old, new)]
    whole = [[f"{line}\n" for line in text] for text in texts]
    found = text_difference("".join(whole[0]), "".join(whole[1]), NAMES)
    assert found is not None
    assert _applied(found, whole[0]) == whole[1]
    assert found.count("\n@@") == 1


def _applied(patch: str, old: list[str]) -> list[str]:
    """The text after a unified diff of one hunk, or of none."""
    lines = patch.splitlines(keepends=True)[2:]
    if not lines:
        return old
    start, _, count = lines[0].split()[1][1:].partition(",")
    size = int(count or 1)
    first = int(start) - 1 if size else int(start)
    hunk = lines[1:]
    kept = [line[1:] for line in hunk if line[0] in " -"]
    assert old[first : first + size] == kept
    return [*old[:first], *(line[1:] for line in hunk if line[0] in " +"), *old[first + size :]]


def test_no_difference_in_the_text() -> None:
    assert text_difference("a\nb\n", "a\nb\n", NAMES) == ""


def test_too_much_is_different() -> None:
    old = "".join(f"{number}\n" for number in range(MOST_LINES + 1))
    new = "".join(f"{number}!\n" for number in range(MOST_LINES + 1))
    assert text_difference(old, new, NAMES) is None
