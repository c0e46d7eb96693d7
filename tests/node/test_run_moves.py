"""The change log tells every move of a run, with the name and the tags of its workflow."""

from collections.abc import Sequence

from stretto.actions.stop import stop
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.moves import RUN_MOVES, may_move
from stretto.model.status import RunStatus
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.testing.harness import Harness

QUICK = "workflow: {id: quick, name: So quick, tags: [daily], jobs: [{job: {id: a, type: NoOp}}]}"
PLAIN = "workflow: {id: plain, jobs: [{job: {id: a, type: NoOp}}]}"
NESTED = """
workflow:
  id: nested
  tags: [daily]
  jobs:
    - foreach:
        id: each
        tags: [wide]
        params: {i: [1, 2]}
        jobs:
          - while:
              id: again
              condition: k < 1
              loop_params: {k: 0}
              jobs:
                - job: {id: turn, type: NoOp, "!k<long>": k + 1}
"""
PARENT = """
workflow:
  id: parent
  jobs:
    - subworkflow: {id: sub, workflow_id: quick, version: latest}
"""
QUEUE = """{
  "properties": {"run_strategy": {"rule": "SEQUENTIAL"}},
  "workflow": {"id": "queue", "name": "One by one", "tags": ["daily"],
    "steps": [{"step": {"id": "a", "type": "Wait"}}]}
}"""


class Log(Observer):
    """What is told, in its order."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.runs: dict[str, list[InstanceStatusChanged]] = {}
        self.places: dict[tuple[str, int], list[str]] = {}  # of each run: its moves, and ends of its steps

    def committed(self, rows: Sequence[LogRow]) -> None:
        for event in (event for row in rows for event in row.events):
            if isinstance(event, StepStatusChanged):
                if not event.status_change_records[-1].new_status.is_terminal:
                    continue
                self.places.setdefault((event.workflow_id, event.workflow_instance_id), []).append("step")
                self.seen.append(f"{event.step_id} {event.status_change_records[-1].new_status}")
            elif isinstance(event, InstanceStatusChanged):
                kind = event.workflow_id.split("_")[1] if "_" in event.workflow_id else event.workflow_id
                self.seen.append(f"{kind} {event.new_status}")
                self.runs.setdefault(kind, []).append(event)
                run = (event.workflow_id, event.workflow_instance_id)
                self.places.setdefault(run, []).append(str(event.new_status))

    def moves(self, kind: str) -> list[str]:
        return [f"{each.old_status} -> {each.new_status}" for each in self.runs[kind]]

    def labels(self, kind: str) -> set[tuple[str | None, tuple[str, ...]]]:
        return {(each.workflow_name, tuple(tag.name for tag in each.tags or ())) for each in self.runs[kind]}


def told(text: str, *others: str) -> Log:
    log = Log()
    with Harness(observers=(log,)) as harness:
        for each in others:
            harness.publish(each)
        harness.finish(harness.start(text))
    return log


def test_a_run_that_ends_in_the_commit_in_which_it_begins_was_in_progress() -> None:
    log = told(QUICK)
    assert log.seen == ["quick IN_PROGRESS", "a SUCCEEDED", "quick SUCCEEDED"]
    assert log.moves("quick") == ["CREATED -> IN_PROGRESS", "IN_PROGRESS -> SUCCEEDED"]
    first, last = log.runs["quick"]
    assert first.event_time <= last.event_time


def test_iterations_begin_before_their_steps() -> None:
    log = told(NESTED)
    moves = ["CREATED -> IN_PROGRESS", "IN_PROGRESS -> SUCCEEDED"]
    assert (sorted(log.moves("foreach")), sorted(log.moves("while"))) == (
        sorted(moves * 2),
        sorted(moves * 2),
    )
    for run in log.places:
        places = log.places[run]
        assert (places[0], places[-1]) == ("IN_PROGRESS", "SUCCEEDED")
        assert [each for each in places if each == "step"] == ["step"] * (len(places) - 2)
    for each in (event for events in log.runs.values() for event in events):
        assert may_move(RUN_MOVES, RunStatus(each.old_status.value), RunStatus(each.new_status.value))


def test_events_name_the_workflow_and_its_tags() -> None:
    assert told(QUICK).labels("quick") == {("So quick", ("daily",))}
    assert told(PLAIN).labels("plain") == {("plain", ())}


def test_events_of_iterations_name_the_attempt_of_their_loop() -> None:
    log = told(NESTED)
    ((name, tags),) = log.labels("foreach")
    assert str(name).startswith("[nested][1][1][each][1][")
    assert len(str(name)) == len("[nested][1][1][each][1][]") + 36
    assert tags == ("wide", "maestro_foreach")
    assert {tags for _name, tags in log.labels("while")} == {("maestro_while",)}
    assert len(log.labels("while")) == 2


def test_events_of_a_child_have_the_name_and_the_tags_of_its_own_workflow() -> None:
    log = told(PARENT, QUICK)
    assert log.labels("quick") == {("So quick", ("daily", "maestro_subworkflow"))}
    assert log.labels("parent") == {("parent", ())}


def test_events_of_queued_runs_have_them_too() -> None:
    log = Log()
    with Harness(observers=(log,)) as harness:
        workflow_id = harness.publish(QUEUE)
        harness.start(workflow_id)
        second = harness.start(workflow_id)
        harness.settle()
        key = second.key
        harness.do(stop(harness.store, harness.caller, key.workflow_id, key.instance_id, key.run_id))
        harness.settle()
    assert log.labels("queue") == {("One by one", ("daily",))}
    assert "CREATED -> STOPPED" in log.moves("queue")
