"""What becomes of the parameters of a run that a restart changes: read by what runs again, or refused.

A step that is complete keeps what it made with the old value. Where others read the new one, the timeline of
the run says so. Where nobody does, the change would be without effect, and is refused.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from stretto.definition.doubts.texts import WORD, words_of
from stretto.definition.doubts.unused import passes_on
from stretto.definition.functions import all_steps
from stretto.model.errors import InvalidRequest
from stretto.model.param import Parameter, Params
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, TypedStep
from stretto.model.workflow import Workflow
from stretto.params import WORKFLOW_DEFAULTS, changed_names, derived_params
from stretto.params.references import ALL_PARAMS

MOST_NAMED: Final = 3  # steps of a message


class Readers(NamedTuple):
    """Who reads a changed parameter, or what was made of it."""

    name: str
    again: list[AnyStep]  # they run again
    kept: list[AnyStep]  # they are complete, and keep what they have made
    by_run: bool  # the run itself, or an undo


def check_unread(
    workflow: Workflow, previous: Mapping[str, Parameter], given: Params, covered: Collection[str]
) -> None:
    """Refuse a changed parameter that only steps read which do not run again. Maestro accepts it."""
    if workflow.follows_maestro:
        return
    for each in _readers(workflow, previous, given, covered):
        if each.kept and not each.again and not each.by_run:
            verb = "are" if len(each.kept) > 1 else "is"
            raise InvalidRequest(
                f"the parameter [{each.name}] of workflow [{workflow.id}] is read by {_names(each.kept)}"
                f" alone, which {verb} complete and would not run again: its new value has no effect",
                hint=f"restart from [{each.kept[0].id}], or the whole run from the beginning",
            )


def told_changes(
    workflow: Workflow,
    previous: Mapping[str, Parameter],
    given: Params,
    covered: Collection[str],
    statuses: Mapping[str, StepStatus],
) -> tuple[str, ...]:
    """Lines for the timeline of the new run: which results were made with the old value of a parameter."""
    lines: list[str] = []
    if workflow.follows_maestro:
        return ()
    for each in _readers(workflow, previous, given, covered):
        begun = [step for step in each.again if _has_parts(step) and _has_begun(step, statuses)]
        changed = f"Param [{each.name}] is changed"
        if each.kept:
            lines.append(f"{changed}: what {_names(each.kept)} made with the old value is kept")
        if begun:
            lines.append(f"{changed}: what has succeeded inside {_names(begun)} is kept")
    return tuple(lines)


def _readers(
    workflow: Workflow, previous: Mapping[str, Parameter], given: Params, covered: Collection[str]
) -> Iterator[Readers]:
    changed = [name for name in changed_names(previous, given) if name not in WORKFLOW_DEFAULTS]
    if not changed:
        return
    words = {step.id: _words(step) for step in workflow.steps}
    for name in changed:
        followers = derived_params(previous, workflow.params or {}, {name: given[name]})
        names = {name, *followers, ALL_PARAMS.name}
        readers = [step for step in workflow.steps if not names.isdisjoint(words[step.id])]
        kept = [step for step in readers if step.id not in covered]
        yield Readers(
            name=name,
            again=[step for step in readers if step.id in covered],
            kept=kept,
            by_run=not names.isdisjoint(WORD.findall(str(workflow.timeout)))
            or any(not names.isdisjoint(_undo_words(step)) for step in kept),
        )


def _words(step: AnyStep) -> frozenset[str]:
    """What a step may read. Who knows what a template or a child reads that gets everything?"""
    reads_all = any(map(passes_on, all_steps((step,))))
    return words_of((step,)) | {ALL_PARAMS.name} if reads_all else words_of((step,))


def _undo_words(step: AnyStep) -> frozenset[str]:
    """What is read if the step is undone."""
    undo = step.compensation if isinstance(step, TypedStep) else None
    return frozenset() if undo is None else words_of((undo,))


def _has_parts(step: AnyStep) -> bool:
    """A loop, or a child: some of what is inside may be complete."""
    return not isinstance(step, TypedStep)


def _has_begun(step: AnyStep, statuses: Mapping[str, StepStatus]) -> bool:
    return statuses.get(step.id, StepStatus.NOT_CREATED) is not StepStatus.NOT_CREATED


def _names(steps: list[AnyStep]) -> str:
    named = ", ".join(f"[{step.id}]" for step in steps[:MOST_NAMED])
    return f"{named} and {len(steps) - MOST_NAMED} more" if len(steps) > MOST_NAMED else named
