"""A version with what it does not say itself: defaults, templates, and when it fires next."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.actions.parts.dry_run import declared_steps
from stretto.actions.parts.trigger_rows import trigger_id
from stretto.model.param import Params
from stretto.model.step import AnyStep, TypedStep
from stretto.model.tag import Tag, merge_tags
from stretto.model.workflow import EnrichedExtras, WorkflowVersion
from stretto.params import TYPE_DEFAULTS, declared_workflow_params
from stretto.params.merge import settle
from stretto.ports.store import Store


class Mark(NamedTuple):
    """What Maestro's table of defaults says of a parameter beside its value."""

    validator: str | None = None
    tags: tuple[str, ...] = ()


NOT_EMPTY: Final = Mark("@NotEmpty")
LOOP: Final = {"loop_params": NOT_EMPTY, "loop_index": Mark("@Min(0)")}
KUBERNETES: Final = Mark(tags=("kubernetes",))
UNKNOWN_TO_MAESTRO: Final = ("Sleep",)  # types that have no defaults there
# A run does not check these: they are about the step before its parameters are filled in.
MARKS: Final[Mapping[str, Mapping[str, Mark]]] = {
    "foreach": LOOP,
    "while": LOOP,
    "subworkflow": {"subworkflow_id": NOT_EMPTY, "subworkflow_version": NOT_EMPTY},
    "Kubernetes": {"kubernetes": KUBERNETES},
    "Notebook": {"kubernetes": KUBERNETES, "notebook": Mark(tags=("notebook",))},
}


async def enriched(store: Store, version: WorkflowVersion) -> WorkflowVersion:
    """The version with parameters as they are declared, also those without a value; its triggers have a next
    fire only while they are in force.
    """
    workflow = version.workflow
    rows, _signals = await store.triggers_of(workflow.id)
    due = {row.trigger_id: row.next_fire_at for row in rows}
    fires = tuple(due.get(trigger_id(workflow.id, each)) for each in workflow.time_triggers or ())
    steps = await declared_steps(store, workflow)
    extras = EnrichedExtras(
        workflow_params=declared_workflow_params(workflow.params or {}),
        step_params={step.id: _marked(step, steps[step.id]) for step in workflow.steps},
        next_execution_time=min((each for each in fires if each is not None), default=None),
        next_execution_times=fires or None,
    )
    return msgspec.structs.replace(version, enriched_extras=extras)


def _marked(step: AnyStep, params: Params) -> Params:
    kind = step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)
    found = dict(params)
    if kind in UNKNOWN_TO_MAESTRO:
        found.update(settle({name: found.pop(name) for name in TYPE_DEFAULTS[kind]}))
    for name, mark in MARKS.get(kind, {}).items():
        param = found[name]
        found[name] = msgspec.structs.replace(
            param,
            validator=param.validator or mark.validator,
            tags=merge_tags((Tag(name=each) for each in mark.tags), param.tags),
        )
    return found
