"""JSON Schema of the two other YAML forms. Keys that they do not list are parameters, so they stay open."""

from typing import Any, Final

from stretto.definition.forms.task_engine import CALLBACK_STATES

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
NUMBER: Final[Schema] = {"type": ["string", "integer"]}
TRANSITIONS: Final[Schema] = {"anyOf": [TEXT, TEXTS]}
DAG: Final[Schema] = {
    "anyOf": [
        {"type": "string", "pattern": "^([sS]equential|SEQUENTIAL|[pP]arallel|PARALLEL)$"},
        {"type": "object", "additionalProperties": TRANSITIONS},
    ]
}
JOBS: Final[Schema] = {"type": "array", "items": {"$ref": "#/$defs/MaestroYamlJob"}}
STAGES: Final[Schema] = {
    "type": "array",
    "items": {"type": "object", "properties": {"id": TEXT, "name": TEXT, "jobs": JOBS, "dag": DAG}},
}
JOB: Final[Schema] = {
    "id": TEXT,
    "name": TEXT,
    "description": TEXT,
    "failure_mode": TEXT,
    "tags": TEXTS,
    "timeout": NUMBER,
    "transition": TRANSITIONS,
    "job_params": {"type": "object"},
    "on_success": TRANSITIONS,
    "on_failure": TRANSITIONS,
}
LOOP: Final[Schema] = {
    "loop_params": {"type": "object"},
    "params": {"type": "object"},
    "jobs": JOBS,
    "dag": DAG,
    "stages": STAGES,
}
RANGE: Final[Schema] = {
    "type": "object",
    "properties": {"from": NUMBER, "to": NUMBER, "increment": NUMBER},
    "required": ["to"],
    "additionalProperties": False,
}
KINDS: Final[dict[str, Schema]] = {
    "job": {"type": TEXT, "type_version": TEXT},
    "subworkflow": {
        "workflow_id": TEXT,
        "subworkflow_id": TEXT,
        "version": NUMBER,
        "subworkflow_version": NUMBER,
        "sync": {"type": "boolean"},
        "explicit_params": {"type": "boolean"},
    },
    "foreach": {
        "concurrency": {"type": "integer"},
        "job_concurrency": {"type": "integer"},
        "ranges": {"type": "object", "additionalProperties": RANGE},
        **LOOP,
    },
    "while": {"condition": {"type": ["string", "boolean"]}, **LOOP},
}


def _wrapped(kind: str) -> Schema:
    body: Schema = {"type": "object", "properties": {**JOB, **KINDS[kind]}, "required": ["id"]}
    return {
        "type": "object",
        "properties": {kind: body},
        "required": [kind],
        "additionalProperties": False,
    }


_WORKFLOW: Final[Schema] = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "name": TEXT,
        "description": TEXT,
        "owner": TEXT,
        "run_strategy": TEXT,
        "workflow_concurrency": {"type": "integer"},
        "tags": TEXTS,
        "timeout": NUMBER,
        "criticality": TEXT,
        "workflow_params": {"type": "object"},
        "jobs": JOBS,
        "dag": DAG,
        "stages": STAGES,
    },
    "required": ["id"],
    "anyOf": [{"required": ["jobs"]}, {"required": ["stages"]}],
}

MAESTRO_YAML: Final[dict[str, Schema]] = {
    "MaestroYaml": {
        "description": "A workflow in Maestro's YAML: keys that are no fields are parameters.",
        "type": "object",
        "properties": {"workflow": _WORKFLOW, "Workflow": _WORKFLOW},
        "additionalProperties": False,
        "minProperties": 1,
    },
    "MaestroYamlJob": {"oneOf": [_wrapped(kind) for kind in KINDS]},
}


def _closed(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_CALLBACK: Final = _closed(["state", "func_key"], state={"enum": list(CALLBACK_STATES)}, func_key=TEXT)
_TASK: Final = _closed(
    ["task_id", "job_id"],
    task_id=TEXT,
    job_id=TEXT,
    description=TEXT,
    params={"type": ["object", "null"]},
    dependencies={"anyOf": [TEXTS, {"type": "null"}]},
    callbacks={"type": "array", "items": _CALLBACK},
    required_params=TEXTS,
    result_mapping={"type": "object", "additionalProperties": TEXT},
    is_template={"type": "boolean"},
    timeout=NUMBER,
)
_JOB: Final = _closed(["job_id", "func_key"], job_id=TEXT, func_key=TEXT, description=TEXT, timeout=NUMBER)
_DEFINITION: Final = _closed(
    ["workflow_id"], workflow_id=TEXT, description=TEXT, tasks={"type": "array", "items": _TASK}
)

TASK_ENGINE_YAML: Final[dict[str, Schema]] = {
    "TaskEngineYaml": {
        "description": "Jobs (functions) and definitions (tasks with dependencies), several in one file.",
        **_closed(
            ["workflows"],
            workflows=_closed(
                ["definitions"],
                jobs={"type": "array", "items": _JOB},
                definitions={"type": "array", "items": _DEFINITION, "minItems": 1},
            ),
        ),
    }
}
