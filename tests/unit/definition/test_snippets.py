"""Steps to begin with: they are read as they are, and the rules have nothing against them."""

from typing import Any

import pytest

from stretto.definition import Limits, check
from stretto.definition.parse import Options
from stretto.definition.schema.snippets import SENTENCES, sentence_of, snippet_of
from stretto.model.param import ParamType
from stretto.model.step import STEP_TYPES
from stretto.runtimes.listing import schemas
from stretto.runtimes.types import with_installed

SCHEMA = {
    "type": "object",
    "description": "Sends a letter.",
    "properties": {
        "to": {"type": "string", "examples": ["ann"]},
        "how": {"enum": ["fast", "slow"]},
        "copies": {"type": "integer"},
        "weight": {"type": "number", "default": 2.5},
        "bold": {"type": "boolean"},
        "pages": {"type": "array", "items": {"type": "string"}},
        "stamp": {"type": "object"},
        "anything": True,
    },
    "required": ["to", "how", "copies", "weight", "bold", "pages", "stamp", "anything", "unknown"],
}


@pytest.mark.parametrize("name", STEP_TYPES)
def test_every_type_has_a_sentence_and_a_step_that_is_valid(name: str) -> None:
    schema = schemas()[name].schema if name in schemas() else None
    assert sentence_of(name, schema) == SENTENCES[name]
    lines = snippet_of(name, schema).splitlines()
    inside = "\n".join(f"      {line}" for line in lines).strip()
    text = f"properties: {{owner: ann}}\nworkflow:\n  id: w\n  steps:\n    - {inside}\n"
    assert check(text, Options(limits=with_installed(Limits()))).problems == ()


def test_what_a_type_of_a_package_says() -> None:
    assert sentence_of("Letter", SCHEMA) == "Sends a letter."
    assert sentence_of("Letter", None) is None
    assert sentence_of("Letter", {"description": 1}) is None
    text = f"workflow: {{id: w, steps: [{_flow(snippet_of('Letter', SCHEMA))}]}}"
    (definition,) = check(text, Options(rules=False)).definitions
    params = definition.workflow.steps[0].params or {}
    assert {name: (param.type, param.value) for name, param in params.items()} == {
        "to": (ParamType.STRING, "ann"),
        "how": (ParamType.STRING, "fast"),
        "copies": (ParamType.LONG, 1),
        "weight": (ParamType.DOUBLE, 2.5),
        "bold": (ParamType.BOOLEAN, True),
        "pages": (ParamType.STRING_ARRAY, ()),
        "stamp": (ParamType.MAP, {}),
        "anything": (ParamType.STRING, "..."),
        "unknown": (ParamType.STRING, "..."),
    }


def test_of_several_sets_of_names_the_first() -> None:
    for keyword in ("oneOf", "anyOf"):
        schema: dict[str, Any] = {keyword: [{"required": ["a"]}, {"required": ["b"]}]}
        assert "a:" in snippet_of("X", schema)
        assert "b:" not in snippet_of("X", schema)
    assert "params" not in snippet_of("X", {"oneOf": [{"type": "object"}]})


def _flow(text: str) -> str:
    import json  # noqa: PLC0415

    import yaml  # noqa: PLC0415

    return json.dumps(yaml.safe_load(text))
