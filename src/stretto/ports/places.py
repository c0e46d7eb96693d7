"""Where things live. Every node and every store must agree on this for ever, so it is part of the contract.

The number of groups is fixed when a database is made. A run's group is computed once, when its row is made;
the rest only says whose sweep looks after a workflow, a tag or a signal name.
"""

from typing import Final
from zlib import crc32

from stretto.engine.records import RunKey

GROUPS: Final = 128


def group_of_run(run: RunKey) -> int:
    """The group of a run that is not an iteration; iterations live with the run around them."""
    return _spread(f"{run.workflow_id}\0{run.instance_id}\0{run.run_id}")


def group_of_workflow(workflow_id: str) -> int:
    """Home of a workflow: its queue, its triggers, its publications."""
    return _spread(workflow_id)


def group_of_tag(tag: str) -> int:
    """Home of a tag: who waits for it."""
    return _spread(tag)


def group_of_signal(name: str) -> int:
    """Home of a signal name: the fan-out of its announcements."""
    return _spread(name)


def _spread(text: str) -> int:
    return crc32(text.encode()) % GROUPS
