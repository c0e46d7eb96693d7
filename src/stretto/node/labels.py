"""What events say of a run beside its ids: the name of its workflow, and its tags."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.runtime_workflow_view import runtime_tags_of
from stretto.engine.context import step_uuid
from stretto.engine.flow import Tree
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.initiator import UpstreamFields
from stretto.model.tag import Tag, merge_tags
from stretto.model.workflow import Workflow

MOST: Final = 100  # loops of a tree whose labels are kept


class Label(NamedTuple):
    """A workflow's name, or what stands for it, and the tags of a run; None: it has none."""

    workflow_name: str | None = None
    tags: tuple[Tag, ...] | None = None


NO_LABEL: Final = Label()


def label_of_root(record: RunRecord, workflow: Workflow | None) -> Label:
    """That of a run that is no iteration. A workflow without a name is named by its id."""
    name = record.key.workflow_id if workflow is None else workflow.name or workflow.id
    return Label(name, merge_tags(record.tags, runtime_tags_of(record)) or None)


class Labels:
    """Those of a tree of runs. The iterations of a loop have the same, made once for all of them: the loop's
    attempt is the name, and the tags are those of the step.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._loops: dict[AttemptKey, Label] = {}

    def of(self, record: RunRecord, changed: Mapping[RunKey, RunRecord]) -> Label:
        """That of a run in the tree. `changed`: runs that the tree may have no more."""
        initiator = record.initiator
        if not is_inline(record.key.workflow_id) or not isinstance(initiator, UpstreamFields):
            return label_of_root(record, self._tree.workflow)
        above = initiator.parent
        run = RunKey(above.workflow_id, above.instance_id, above.run_id)
        attempt = AttemptKey(run, above.step_id, above.step_attempt_id)
        found = self._loops.get(attempt)
        if found is None:
            if len(self._loops) >= MOST:
                self._loops.clear()
            found = self._loops[attempt] = self._of_loop(record, attempt, changed)
        return found

    def _of_loop(self, record: RunRecord, attempt: AttemptKey, changed: Mapping[RunKey, RunRecord]) -> Label:
        live = self._tree.live.get(attempt.run)
        around = changed.get(attempt.run) if live is None else live.run
        uuid = "" if around is None else step_uuid(around.uuid, attempt)
        step = step_in(self._tree.workflow.steps, attempt.step_id)
        tags = merge_tags(None if step is None else step.tags, runtime_tags_of(record))
        return Label(f"{attempt}[{uuid}]", tags)
