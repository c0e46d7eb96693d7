"""The change log tells every move of a step, of whatever run, with the ids of its run."""

from collections.abc import Sequence
from itertools import pairwise

from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.moves import STEP_MOVES, may_move
from stretto.model.status_change import StepStatusChange
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.ports.runtime import UserError
from stretto.testing.harness import Harness

DONE = [
    "CREATED",
    "INITIALIZED",
    "WAITING_FOR_SIGNALS",
    "EVALUATING_PARAMS",
    "WAITING_FOR_PERMITS",
    "STARTING",
    "RUNNING",
    "FINISHING",
    "SUCCEEDED",
]
LOOPS = """
workflow:
  id: loops
  dag: sequential
  jobs:
    - foreach:
        id: each
        params: {i: [1, 2]}
        jobs:
          - job: {id: inner, type: NoOp}
    - while:
        id: again
        condition: k < 2
        loop_params: {k: 0}
        jobs:
          - job: {id: turn, type: NoOp, "!k<long>": k + 1}
"""
CHILD = "workflow: {id: child, jobs: [{job: {id: leaf, type: NoOp}}]}"
PARENT = """
workflow:
  id: parent
  jobs:
    - subworkflow: {id: sub, workflow_id: child, version: latest}
"""
BRANCH = """
workflow:
  id: branch
  jobs:
    - job: {id: a, type: NoOp, transition: ["IF 1 > 2 THEN never", "OTHERWISE last"]}
    - job: {id: never, type: NoOp}
    - job: {id: last, type: Sleep, sleep_seconds: 60}
"""
RETRIED = "workflow: {id: retried, jobs: [{job: {id: work, type: Shell, command: make}}]}"
Place = tuple[str, int, str, int]


class Log(Observer):
    """Moves of each attempt, and the ids of each run."""

    def __init__(self) -> None:
        self.moves: dict[Place, list[StepStatusChange]] = {}
        self.steps: list[StepStatusChanged] = []
        self.runs: dict[tuple[str, int], tuple[str | None, str | None]] = {}

    def committed(self, rows: Sequence[LogRow]) -> None:
        for event in (event for row in rows for event in row.events):
            if isinstance(event, StepStatusChanged):
                at = (event.workflow_id, event.workflow_instance_id, event.step_id, event.step_attempt_id)
                self.moves.setdefault(at, []).extend(event.all_moves())
                self.steps.append(event)
            elif isinstance(event, InstanceStatusChanged):
                run = (event.workflow_id, event.workflow_instance_id)
                self.runs[run] = (event.workflow_uuid, event.correlation_id)

    def entered(self, step_id: str) -> list[list[str]]:
        """The statuses of each attempt of a step."""
        return [
            [each.new_status.value for each in moves] for at, moves in self.moves.items() if at[2] == step_id
        ]

    def check(self) -> None:
        """Each move is one of the table and begins where the one before has ended, not earlier than it."""
        assert self.moves
        for at, moves in self.moves.items():
            assert moves[0].old_status == "NOT_CREATED", at
            assert all(may_move(STEP_MOVES, each.old_status, each.new_status) for each in moves), at
            assert all(one.new_status is two.old_status for one, two in pairwise(moves)), at
            assert all(one.event_time <= two.event_time for one, two in pairwise(moves)), at
        for event in self.steps:
            known = self.runs[event.workflow_id, event.workflow_instance_id]
            assert (event.workflow_uuid, event.correlation_id) == known
            assert event.workflow_uuid


def test_every_move_of_steps_in_loops_is_told() -> None:
    log = Log()
    with Harness(observers=(log,)) as harness:
        assert harness.finish(harness.start(LOOPS)) == "SUCCEEDED"
    assert log.entered("inner") == log.entered("turn") == [DONE, DONE]
    assert log.entered("each") == log.entered("again") == [DONE]
    log.check()


def test_every_move_of_steps_of_a_child_is_told() -> None:
    log = Log()
    with Harness(observers=(log,)) as harness:
        harness.publish(CHILD)
        assert harness.finish(harness.start(PARENT)) == "SUCCEEDED"
    assert log.entered("leaf") == log.entered("sub") == [DONE]
    assert len(set(log.runs.values())) == 2
    assert len({correlation for _, correlation in log.runs.values()}) == 1
    log.check()


def test_moves_over_several_commits_have_their_own_times() -> None:
    log = Log()
    with Harness(observers=(log,)) as harness:
        run = harness.start(BRANCH)
        assert log.entered("never") == [["CREATED", "UNSATISFIED"]]
        assert log.entered("last") == [DONE[:7]]
        began = harness.now
        assert harness.finish(run) == "SUCCEEDED"
    assert log.entered("last") == [DONE]
    (moves,) = (moves for at, moves in log.moves.items() if at[2] == "last")
    times = {each.new_status.value: each.event_time for each in moves}
    assert times["STARTING"] <= began
    assert times["RUNNING"] + 60_000 <= times["FINISHING"] <= times["SUCCEEDED"]
    log.check()


def test_every_attempt_tells_its_own_moves() -> None:
    log = Log()
    with Harness(observers=(log,)) as harness:
        harness.does("work", [UserError(message="no"), {}])
        assert harness.finish(harness.start(RETRIED)) == "SUCCEEDED"
    assert [each[-1] for each in log.entered("work")] == ["USER_FAILED", "SUCCEEDED"]
    assert all(each[0] == "CREATED" for each in log.entered("work"))
    log.check()


def test_a_step_that_is_stopped_tells_where_it_was() -> None:
    log = Log()
    with Harness(observers=(log,)) as harness:
        harness.holds("last")
        run = harness.start(BRANCH)
        run.stop()
        assert harness.finish(run) == "STOPPED"
    assert log.entered("last")[0][-1] == "STOPPED"
    log.check()
