"""JSON Schema (2020-12) of definitions, for editors and other tools: made from the records themselves."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.definition.schema.by_type import of_types
from stretto.definition.schema.others import MAESTRO_YAML, TASK_ENGINE_YAML
from stretto.definition.schema.records import SchemaMaker
from stretto.definition.step_types import Described
from stretto.model.step import TypedStep
from stretto.model.workflow import Definition

SCHEMA_ID: Final = "urn:stretto:definition"
NO_TYPES: Final[Mapping[str, Described]] = {}


def definition_schema(types: Mapping[str, Described] = NO_TYPES) -> dict[str, Any]:
    """The schema of everything that `parse` reads. It says less than the rules do, and never more.

    `types`: step types whose parameters are described.
    """
    maker = SchemaMaker()
    model = maker.of(Definition)
    made = maker.definitions()
    if types:
        made[TypedStep.__name__] |= {"allOf": of_types(types)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Stretto workflow definition",
        "anyOf": [
            {"title": "Definition (Maestro's JSON model, as JSON or YAML)", **model},
            {"title": "Maestro's YAML", "$ref": "#/$defs/MaestroYaml"},
            {"title": "Task engine's YAML", "$ref": "#/$defs/TaskEngineYaml"},
        ],
        "$defs": {**made, **MAESTRO_YAML, **TASK_ENGINE_YAML},
    }
