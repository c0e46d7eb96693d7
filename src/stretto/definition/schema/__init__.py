"""JSON Schema (2020-12) of definitions, for editors and other tools: made from the records themselves."""

from typing import Any, Final

from stretto.definition.schema.others import MAESTRO_YAML, TASK_ENGINE_YAML
from stretto.definition.schema.records import SchemaMaker
from stretto.model.workflow import Definition

SCHEMA_ID: Final = "urn:stretto:definition"


def definition_schema() -> dict[str, Any]:
    """The schema of everything that `parse` reads. It says less than the rules do, and never more."""
    maker = SchemaMaker()
    model = maker.of(Definition)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Stretto workflow definition",
        "anyOf": [
            {"title": "Definition (Maestro's JSON model, as JSON or YAML)", **model},
            {"title": "Maestro's YAML", "$ref": "#/$defs/MaestroYaml"},
            {"title": "Task engine's YAML", "$ref": "#/$defs/TaskEngineYaml"},
        ],
        "$defs": {**maker.definitions(), **MAESTRO_YAML, **TASK_ENGINE_YAML},
    }
