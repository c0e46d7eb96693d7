"""DSL samples become the JSON that Maestro makes of them."""

import json
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.definition_files import MAESTRO, text_of

from stretto.definition import check, parse
from stretto.definition.printing import to_value

pytestmark = pytest.mark.conformance

SAMPLES = "maestro-server/src/test/resources/samples"


def normal(value: Any) -> Any:
    """Empty maps of params and transitions say nothing."""
    if isinstance(value, dict):
        made = {key: normal(item) for key, item in value.items()}
        return {key: item for key, item in made.items() if not (key in {"params", "transition"} and not item)}
    return [normal(item) for item in value] if isinstance(value, list) else value


def steps_of(name: str) -> dict[str, Any]:
    made = normal(to_value(parse(text_of(name), MAESTRO)))["workflow"]["steps"]
    return {body["id"]: {kind: body} for step in made for kind, body in step.items()}


def test_the_conditional_workflow_is_the_same_in_both() -> None:
    """But for two things that the author of the JSON wrote in another way."""
    dsl = steps_of(f"{SAMPLES}/yaml/sample-conditional-wf.yaml")
    plain = steps_of(f"{SAMPLES}/sample-conditional-wf.json")
    branches = dsl["job.3"]["step"]["transition"]["successors"]
    assert branches == {"job.4": "param2 < 0", "job.6": "!((param2 < 0))"}
    branches["job.6"] = "param2 >= 0"
    assert dsl["job.7"]["step"]["params"]["param5"]["type"] == "STRING"  # an expression without a type
    dsl["job.7"]["step"]["params"]["param5"]["type"] = "LONG"
    assert dsl == plain


def test_properties_of_the_conditional_workflow() -> None:
    made = to_value(parse(text_of(f"{SAMPLES}/yaml/sample-conditional-wf.yaml"), MAESTRO))
    plain = to_value(parse(text_of(f"{SAMPLES}/sample-conditional-wf.json"), MAESTRO))
    assert made["properties"]["step_concurrency"] == 20
    assert made["properties"]["owner"] == plain["properties"]["owner"]
    assert made["is_active"] is True


def test_the_http_workflow_is_a_chain() -> None:
    steps = steps_of(f"{SAMPLES}/yaml/sample-http-wf.yaml")
    assert [list(each["step"].get("transition", {}).get("successors", {})) for each in steps.values()] == [
        ["job.2"],
        ["job.3"],
        ["job.4"],
        ["job.5"],
        [],
    ]
    assert {each["step"]["type"] for each in steps.values()} == {"Http"}
    assert all(each["step"]["params"]["http"]["type"] == "MAP" for each in steps.values())


def test_the_example_of_the_reference() -> None:
    """Section 9: the YAML block that is followed by the JSON it becomes."""
    page = corpus("..", "reference", "maestro-model-and-api.md").read_text(encoding="utf-8")
    section = page.split("DSL → JSON:")[1]
    source, expected = (section.split(f"```{kind}\n")[1].split("```")[0] for kind in ("yaml", "json"))
    assert check(source).problems == ()
    made = json.loads(json.dumps(to_value(parse(source)), default=float))
    assert made["workflow"]["steps"][1]["foreach"].pop("strict_ordering") is False  # a default, written out
    assert normal(made) == normal(json.loads(expected))
