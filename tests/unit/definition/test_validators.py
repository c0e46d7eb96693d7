"""A validator that can not be read is a problem of the definition; whether it holds is not."""

import json

from stretto.definition import check


def checked(validator: str) -> list[tuple[str, str]]:
    param = {"type": "LONG", "value": 1, "validator": validator}
    step = {"step": {"id": "a", "type": "NoOp", "params": {"x": param}}}
    text = json.dumps({"workflow": {"id": "w", "steps": [step]}})
    return [(problem.code, problem.path) for problem in check(text).problems]


def test_a_rule_that_can_be_read_is_fine() -> None:
    assert checked("param > 5") == []
    assert checked("@NotNull") == []


def test_a_rule_that_can_not_be_read_is_placed() -> None:
    assert checked("param >") == [("bad-param", "workflow.steps[0].step.params.x.validator")]
