"""Which files of the corpus are definitions, and what must be said of the bad ones."""

import json
from pathlib import Path
from typing import Any, Final

import yaml
from tests.conformance.behaviour import LOADER
from tests.conformance.corpus import corpus

from stretto.definition import MAESTRO_LIMITS
from stretto.definition.parse import Options
from stretto.model.problem import Code

ROOT: Path = corpus("maestro-data")
FIXTURES: Final = "maestro-common/src/testFixtures/resources/fixtures"
REQUESTS: Final = f"{FIXTURES}/workflows/request"
STORED: Final = f"{FIXTURES}/workflows/definition"
STEPS: Final = f"{FIXTURES}/typedsteps"

# The samples were made for Maestro, so they are held to its limits, with the templates that they name.
TEMPLATES: Final = {"spark": "Notebook", "shell": "Kubernetes"}
MAESTRO: Final = Options(limits=MAESTRO_LIMITS, templates=TEMPLATES)
FIRST: Final = Options(limits=MAESTRO_LIMITS, templates=TEMPLATES, first_version=True)
NO_TEMPLATES: Final = Options(limits=MAESTRO_LIMITS)

Problems = list[tuple[str, str]]
NO_OWNER: Final[Problems] = [(Code.MISSING_OWNER, "workflow")]
NO_WORKFLOW: Final[Problems] = [(Code.MISSING_FIELD, "workflow")]

# Refused always, or only with the options beside it.
INVALID: Final[dict[str, tuple[Options, Problems]]] = {
    f"{REQUESTS}/sample-dag-with-cycle-wf.json": (
        MAESTRO,
        [(Code.CYCLE, 'workflow.steps[1].step.transition.successors["job.3"]')],
    ),
    f"{REQUESTS}/sample-invalid-cron-wf-def.json": (
        MAESTRO,
        [(Code.BAD_CRON, "workflow.time_triggers[0].cron")],
    ),
    f"{REQUESTS}/sample-invalid-wf-def.json": (
        MAESTRO,
        [
            (Code.TOO_LONG, "workflow.name"),
            (Code.BAD_NAME, 'workflow.params["$foo"]'),
            (Code.RESERVED_NAME, "workflow.steps[0].step.id"),
            (Code.UNKNOWN_STEP, "workflow.steps[0].step.transition.successors.bar"),
        ],
    ),
    f"{REQUESTS}/sample-invalid-wf.json": (MAESTRO, NO_WORKFLOW),
    f"{STORED}/sample-invalid-wf.json": (MAESTRO, NO_WORKFLOW),
    f"{REQUESTS}/sample-invalid-wf-dry-run-failure.json": (
        NO_TEMPLATES,
        [(Code.MISSING_PARAM, "workflow.steps[0].step.params")] * 2,
    ),
}
INVALID_AS_FIRST: Final[dict[str, Problems]] = {
    f"{REQUESTS}/sample-active-wf-without-props.json": NO_OWNER,
    f"{REQUESTS}/sample-inactive-wf-without-props.json": NO_OWNER,
    f"{REQUESTS}/sample-minimal-wf-without-owner.json": [(Code.MISSING_OWNER, "properties")],
    f"{REQUESTS}/sample-minimal-wf-without-props.json": NO_OWNER,
    f"{STORED}/sample-active-wf-without-props.json": NO_OWNER,
    f"{STORED}/sample-inactive-wf-without-props.json": NO_OWNER,
}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def value_of(name: str) -> Any:
    text = text_of(name)
    return yaml.load(text, LOADER) if name.endswith(".yaml") else json.loads(text)  # noqa: S506 - a safe loader


def _is_definition(name: str) -> bool:
    value = value_of(name)
    return isinstance(value, dict) and isinstance(value.get("workflow"), dict)


NAMES: Final = sorted(
    path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.suffix in {".json", ".yaml"}
)
DEFINITIONS: Final = [name for name in NAMES if _is_definition(name)]
VALID: Final = [name for name in DEFINITIONS if name not in INVALID]
STEP_FILES: Final = [name for name in NAMES if name.startswith(f"{STEPS}/") and "invalid" not in name]
