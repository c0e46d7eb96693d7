"""The job templates that a workflow names."""

from collections.abc import Iterator

from stretto.actions.parts.offload import offload
from stretto.definition.rules.visits import TemplateVersion, template_version
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.ports.store import Store
from stretto.ports.templates import read_template


async def templates_of(store: Store, workflow: Workflow) -> frozenset[TemplateVersion]:
    """Those of them that there are, in the versions that the workflow names."""
    named = dict.fromkeys(await offload(len(workflow.steps), lambda: list(_named(workflow))))
    return frozenset([each for each in named if await read_template(store, *each)])


def _named(workflow: Workflow) -> Iterator[TemplateVersion]:
    """The job templates of steps, on all levels."""
    todo: list[AnyStep] = list(workflow.steps)
    while todo:
        step = todo.pop()
        if isinstance(step, ForeachStep | WhileStep):
            todo += step.steps
        elif isinstance(step, TypedStep) and step.sub_type:
            version = template_version(step, workflow)
            if version is not None:
                yield step.sub_type, version
