"""JSON Schema of the two other YAML forms. Keys that they do not list are parameters, so they stay open."""

from typing import Any, Final

from stretto.definition.forms.task_engine import CALLBACK_STATES
from stretto.definition.schema.records import any_case, wrapper

Schema = dict[str, Any]

# Null means that a field is not there, as everywhere.
TEXT: Final[Schema] = {"type": ["string", "null"]}
NUMBER: Final[Schema] = {"type": ["string", "integer", "null"]}
WHOLE: Final[Schema] = {"type": ["integer", "null"]}
FLAG: Final[Schema] = {"type": ["boolean", "null"]}
OBJECT: Final[Schema] = {"type": ["object", "null"]}
TEXTS: Final[Schema] = {"type": ["array", "null"], "items": {"type": "string"}}
TRANSITIONS: Final[Schema] = {"type": ["string", "array", "null"], "items": {"type": "string"}}
TAGS: Final[Schema] = {"type": ["array", "null"], "items": {"$ref": "#/$defs/Tag"}}
CONDITION: Final[Schema] = {"anyOf": [{"$ref": "#/$defs/Condition"}, {"type": ["number", "null"]}]}
DAG: Final[Schema] = {
    "anyOf": [
        any_case("sequential", "parallel"),
        {"type": ["object", "null"], "additionalProperties": TRANSITIONS},
    ]
}
TIME_TRIGGER: Final[Schema] = {
    "anyOf": [{"$ref": "#/$defs/CronTrigger"}, {"$ref": "#/$defs/PredefinedTrigger"}]
}
JOBS: Final[Schema] = {"type": ["array", "null"], "items": {"$ref": "#/$defs/MaestroYamlJob"}}
STAGES: Final[Schema] = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "properties": {"id": TEXT, "name": TEXT, "description": TEXT, "jobs": JOBS, "dag": DAG},
        "additionalProperties": False,
    },
}
JOB: Final[Schema] = {
    "id": {"type": "string"},
    "name": TEXT,
    "description": TEXT,
    "failure_mode": TEXT,
    "tags": TAGS,
    "timeout": NUMBER,
    "transition": TRANSITIONS,
    "job_params": OBJECT,
    "on_success": TRANSITIONS,
    "on_failure": TRANSITIONS,
}
SIGNALS: Final[Schema] = {
    "+signal_dependencies": {
        "type": ["array", "null"],
        "items": {"$ref": "#/$defs/SignalDependencyDefinition"},
    },
    "+signal_outputs": {"type": ["array", "null"], "items": {"$ref": "#/$defs/SignalOutputDefinition"}},
}
LOOP: Final[Schema] = {"loop_params": OBJECT, "params": OBJECT, "jobs": JOBS, "dag": DAG, "stages": STAGES}
RANGE: Final[Schema] = {
    "type": "object",
    "properties": {"from": NUMBER, "to": {"type": ["string", "integer"]}, "increment": NUMBER},
    "required": ["to"],
    "additionalProperties": False,
}
KINDS: Final[dict[str, Schema]] = {
    "job": {
        "type": {"type": "string"},
        "+retry": NUMBER,
        "+retry_policy": {"anyOf": [{"$ref": "#/$defs/RetryPolicy"}, {"type": "null"}]},
    },
    "subworkflow": {
        "workflow_id": NUMBER,
        "subworkflow_id": NUMBER,
        "version": NUMBER,
        "subworkflow_version": NUMBER,
        "sync": FLAG,
        "explicit_params": FLAG,
    },
    "foreach": {
        "concurrency": WHOLE,
        "job_concurrency": WHOLE,
        "ranges": {"type": ["object", "null"], "additionalProperties": RANGE},
        **LOOP,
    },
    "while": {"condition": CONDITION, **LOOP},
}


def _job(kind: str) -> Schema:
    properties = {**JOB, **SIGNALS, **KINDS[kind]}
    return wrapper(kind, {"type": "object", "properties": properties, "required": ["id"]})


_WORKFLOW: Final[Schema] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "name": TEXT,
        "description": TEXT,
        "owner": {"anyOf": [{"$ref": "#/$defs/User"}, {"type": "null"}]},
        "run_strategy": TEXT,
        "workflow_concurrency": WHOLE,
        "tags": TAGS,
        "timeout": NUMBER,
        "criticality": TEXT,
        "workflow_params": OBJECT,
        "jobs": JOBS,
        "dag": DAG,
        "stages": STAGES,
        "+cron": TEXT,
        "+timezone": TEXT,
        "+time_triggers": {"type": ["array", "null"], "items": TIME_TRIGGER},
        "+signal_triggers": {"type": ["array", "null"], "items": {"$ref": "#/$defs/SignalTrigger"}},
    },
    "required": ["id"],
}

MAESTRO_YAML: Final[dict[str, Schema]] = {
    "MaestroYaml": {
        "description": "A workflow in Maestro's YAML: keys that are no fields are parameters.",
        "type": "object",
        "properties": {
            "workflow": {**_WORKFLOW, "anyOf": [{"required": ["jobs"]}, {"required": ["stages"]}]},
            "Workflow": _WORKFLOW,
        },
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    },
    "MaestroYamlJob": {"oneOf": [_job(kind) for kind in KINDS]},
}


def _closed(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": ["array", "null"], "items": items}


_NAME: Final[Schema] = {"type": "string", "minLength": 1}
_CALLBACK: Final = _closed(["state", "func_key"], state=any_case(*CALLBACK_STATES), func_key=_NAME)
_TASK: Final = _closed(
    ["task_id", "job_id"],
    task_id=_NAME,
    job_id=_NAME,
    description=TEXT,
    params=OBJECT,
    dependencies=TEXTS,
    callbacks=_list(_CALLBACK),
    required_params=TEXTS,
    result_mapping={"type": ["object", "null"], "additionalProperties": {"type": "string"}},
    is_template=FLAG,
    timeout=NUMBER,
)
_JOB: Final = _closed(["job_id", "func_key"], job_id=_NAME, func_key=_NAME, description=TEXT, timeout=NUMBER)
_DEFINITION: Final = _closed(["workflow_id"], workflow_id=_NAME, description=TEXT, tasks=_list(_TASK))

TASK_ENGINE_YAML: Final[dict[str, Schema]] = {
    "TaskEngineYaml": {
        "description": "Jobs (functions) and definitions (tasks with dependencies), several in one file.",
        **_closed(
            ["workflows"],
            workflows=_closed(
                ["definitions"],
                jobs=_list(_JOB),
                definitions={"type": "array", "items": _DEFINITION, "minItems": 1},
            ),
        ),
    }
}
