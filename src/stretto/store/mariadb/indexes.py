"""Which index a statement walks along, where the server might choose another.

It chooses by what it has counted. Of a page it may think that to read a whole list and sort it is no more
work, and of rows to be locked it would lock those that it passes. Each list has an index in its order.
"""

import re
from typing import Final

_RUNS: Final = r"FROM (run) WHERE run\.listed_at IS NOT NULL\b.*"
WALKS: Final[tuple[tuple[str, str], ...]] = (
    (r"FROM (approval) JOIN .* approval\.home = ", "approval_home"),
    (r"FROM (approval) JOIN ", "approval_line"),
    (r"FROM (attempt) JOIN run ON .* WHERE attempt\.held (?:=|IS)", "attempt_held"),
    (r"FROM (bulk_job) WHERE (?:1 = 1|create_time)", "bulk_job_time"),
    (r"FROM (flow_group) WHERE owner (?:=|IS)", "flow_group_owner"),
    (r"FROM (job_template) WHERE version = ", "job_template_version"),
    (r"FROM (outbox) WHERE is_parked = 1", "outbox_parked"),
    (r"FROM (permit) WHERE tag = :tag AND granted = 0\b.* ORDER BY place", "permit_line"),
    (r"FROM (permit) WHERE tag = :tag AND granted", "permit_tag"),
    (r"FROM (run) WHERE aside = 1", "run_aside"),
    (r"FROM (run) WHERE group_id", "run_group"),
    (r"FROM (run) WHERE parent_workflow_id = ", "run_child"),
    (r"FROM (run) WHERE root_workflow_id = ", "run_iteration"),
    (r"FROM (run) WHERE workflow_id = :workflow_id AND lane", "run_lane"),
    (r"FROM (run) WHERE workflow_id = :workflow_id AND status = ", "run_status"),
    (r"FROM (run) WHERE workflow_id = :workflow_id AND uuid", "run_request"),
    (r"FROM (run) WHERE workflow_id = :workflow_id AND ended_at", "run_ended"),
    (r"FROM (run) WHERE workflow_id = ", "PRIMARY"),
    (_RUNS + r"run\.uuid = ", "run_uuid"),
    (_RUNS + r"run\.parent_workflow_id = ", "run_child"),
    (_RUNS + r"run\.correlation_id = ", "run_correlation"),
    (_RUNS + r"run\.workflow_id = :workflow_id", "run_workflow_time"),
    (_RUNS + r"run\.owner = ", "run_owner_time"),
    (_RUNS + r"run\.status = ", "run_status_time"),
    (_RUNS + r"run\.nested = ", "run_time"),
    (r"JOIN (run) ON run\.workflow_id = named\.workflow_id AND run\.lane = ", "run_lane"),
    (r"FROM (signal_wait) WHERE name = ", "PRIMARY"),
    (r"FROM (tag) WHERE tag ", "PRIMARY"),
    (r"FROM (tag) WHERE is_limited = 1", "tag_limited"),
    (r"FROM (time_trigger) WHERE next_fire_at >=? ", "time_trigger_next"),
    (r"FROM (work) WHERE pool = :pool AND taken_by IS NULL AND workflow_id = ", "PRIMARY"),
    (r"FROM (work) WHERE pool = :pool AND taken_by IS NULL", "work_free"),
    (r"FROM (work) WHERE pool = ", "work_pool"),
    (r"FROM (workflow) WHERE state = 'ALIVE'.* owner = ", "workflow_owner"),
    (r"FROM (workflow) WHERE state = ", "workflow_state"),
)
_JOIN: Final = re.compile(r"(?<!LEFT) JOIN ")
_PATTERNS: Final = tuple((re.compile(pattern), index) for pattern, index in WALKS)


def guided(text: str) -> str:
    """A statement that says in which order tables are read, which is that in which they are named, and along
    which index. Only a SELECT can say so.
    """
    if not text.startswith("SELECT"):
        return text
    for pattern, index in _PATTERNS:
        found = pattern.search(text)
        if found is not None:
            text = f"{text[: found.end(1)]} FORCE INDEX ({index}){text[found.end(1) :]}"
            break
    return _JOIN.sub(" STRAIGHT_JOIN ", text)
