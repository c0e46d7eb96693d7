"""The job templates that a workflow names."""

from collections.abc import Iterator
from typing import Final

from stretto.actions.parts.offload import offload
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.ports.store import Store

DEFAULT_TEMPLATE: Final = "default"


async def templates_of(store: Store, workflow: Workflow) -> list[str]:
    """Those of them that there are."""
    named = dict.fromkeys(await offload(len(workflow.steps), lambda: list(_job_types(workflow))))
    return [each for each, version in named if await store.template(each, version)]


def _job_types(workflow: Workflow) -> Iterator[tuple[str, str]]:
    """The job templates that steps name, on all levels."""
    todo: list[AnyStep] = list(workflow.steps)
    while todo:
        step = todo.pop()
        if isinstance(step, ForeachStep | WhileStep):
            todo += step.steps
        elif isinstance(step, TypedStep):
            yield step.sub_type or step.type, step.sub_type_version or DEFAULT_TEMPLATE
