"""The ids that a step gives to the runs it starts, made from what identifies the step and nothing else.

The same step of the same run always gives the same ids: a launch that is repeated after a crash finds what
the first one made. The forms are Maestro's, so that ids in its views and tools keep their meaning.
"""

import hashlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID

from stretto.model.errors import Unprocessable
from stretto.model.initiator import Ancestor, Initiator, UpstreamFields

DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Loop(StrEnum):
    """What is carried out as runs of an inline workflow."""

    FOREACH = "foreach"
    WHILE = "while"
    TEMPLATE = "template"  # the steps of a template, once
    SUBSTEPS = "substeps"  # steps that a running step added
    COMPENSATION = "compensation"  # steps that undo a failed run

    @property
    def tag(self) -> str:
        """The tag of the inline workflow, and how its id begins."""
        return f"maestro_{self.value}"


_PREFIXES: Final = tuple(loop.tag for loop in Loop)


def is_inline(workflow_id: str) -> bool:
    """Whether an id is that of a loop's inline workflow. No workflow of a user's begins like this."""
    return workflow_id.startswith(_PREFIXES)


def inline_prefix(loop: Loop, internal_id: int) -> str:
    """How the ids of all inline workflows of one kind under one workflow begin."""
    return f"{loop.tag}_{hash_key(internal_id)}_"


def inline_workflow_id(
    loop: Loop, internal_id: int, workflow_id: str, instance_id: int, step_id: str, root_instance_id: int
) -> str:
    """The inline workflow of a loop step in an instance.

    `root_instance_id` is that of the nearest workflow which is not itself an iteration: the instance's own,
    or its `nearest_workflow`'s.
    """
    digest = hashlib.md5(f"{step_id}@{instance_id}@{workflow_id}".encode(), usedforsecurity=False)
    return f"{inline_prefix(loop, internal_id)}{range_key(root_instance_id)}_{digest.hexdigest()}"


def nearest_workflow(ancestors: Iterable[Ancestor]) -> Ancestor:
    """The closest ancestor (they are listed from the root down) that is not an iteration of a loop."""
    found: Ancestor | None = None
    for ancestor in ancestors:
        if not is_inline(ancestor.workflow_id):
            found = ancestor
    if found is None:
        raise Unprocessable("an iteration must stand under a workflow that is not an iteration itself")
    return found


def steps_around(workflow_id: str, initiator: Initiator) -> tuple[Ancestor, ...]:
    """The step attempts around an iteration, from the workflow that is none down; other runs have none."""
    if not is_inline(workflow_id) or not isinstance(initiator, UpstreamFields):
        return ()
    outer = max(place for place, each in enumerate(initiator.ancestors) if not is_inline(each.workflow_id))
    return initiator.ancestors[outer:]


def readable_path(above: Sequence[Ancestor], workflow_id: str, instance_id: int) -> str:
    """The path to the run with these ids as commands take it: `each_day[3].clean.each_table[1]`. A loop has
    the number of the iteration, a subworkflow step its id alone.
    """
    reached = (*((each.workflow_id, each.instance_id) for each in above[1:]), (workflow_id, instance_id))
    return ".".join(
        f"{each.step_id}[{number}]" if is_inline(started) else each.step_id
        for each, (started, number) in zip(above, reached, strict=True)
    )


def iteration_uuid(inline_id: str, run_id: int, index: int) -> str:
    """The request id of an iteration, counted from 0, in one run of its loop."""
    return name_uuid(f"[{inline_id}][{run_id}][{index}]")


def subworkflow_uuid(parent: Ancestor, step_uuid: str) -> str:
    """The request id of the run that a subworkflow attempt asks for."""
    at = parent
    return name_uuid(
        f"[{at.workflow_id}][{at.instance_id}][{at.run_id}][{at.step_id}][{at.step_attempt_id}][{step_uuid}]"
    )


def hash_key(number: int) -> str:
    """Base 62, last digit first: close numbers lie far apart."""
    return "".join(reversed(_base62(number)))


def range_key(number: int) -> str:
    """Base 62 with its length in front: texts sort as the numbers do."""
    digits = _base62(number)
    return DIGITS[len(digits)] + digits


def _base62(number: int) -> str:
    if number <= 0:
        raise ValueError(f"Input value must be positive: {number}")
    digits = ""
    while number:
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits


def name_uuid(text: str) -> str:
    """A UUID of type 3 without a namespace, as Java makes it."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return str(UUID(bytes=digest, version=3))
