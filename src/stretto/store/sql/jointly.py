"""T6 for requests that come together: their workflow is locked, read and written once for all of them.

Each is decided in the state in which those before it leave the workflow. That is told from their verdicts, as
long as these make runs and admit them, and nothing else. Who has more to say is put to the workflow alone; so
are all, if one of them comes too late for its lease.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from stretto.engine.records import RunKey
from stretto.model.status import RunStatus
from stretto.ports.admission import Counts, NewRun, Question, Reading, Standing, Transacted, Verdict
from stretto.ports.places import group_of_run
from stretto.store.sql.admitting import found
from stretto.store.sql.database import Transaction
from stretto.store.sql.verdict import write


class Put(NamedTuple):
    """What is put to a workflow."""

    workflow_id: str
    question: Question
    decide: Callable[[Standing], Verdict[Any]]


class Apart(Exception):
    """These can not be decided together."""


def may_join(question: Question) -> bool:
    """Whether a question asks for new instances, and does nothing else."""
    return bool(question.requests) and not (
        question.instances or question.runs or question.consumes or question.timers
    )


async def transact_together(
    tx: Transaction, puts: Sequence[Put], blob_from: int
) -> list[Transacted[Any] | Exception]:
    """One transaction for several questions to one workflow, all of which read alike."""
    requests = tuple(asked for put in puts for asked in put.question.requests)
    first = puts[0]
    standing = await found(tx, first.workflow_id, msgspec.structs.replace(first.question, requests=requests))
    state = _State(standing, first.question.reading(standing.strategy))
    verdicts = [state.decided(put) for put in puts]
    written = await write(tx, standing, state.verdict(), blob_from)
    return [
        each
        if isinstance(each, Exception)
        else Transacted(
            answer=each.answer, hints=_groups(each), to_launch=each.to_launch, queued=written.queued
        )
        for each in verdicts
    ]


def _groups(verdict: Verdict[Any]) -> frozenset[int]:
    return frozenset(
        group_of_run(run) for run in (*verdict.admitted, *(new.record.key for new in verdict.created))
    )


class _State:
    """A workflow, as the verdicts so far leave it."""

    def __init__(self, standing: Standing, reading: Reading) -> None:
        if standing.fenced or reading.queue is None or reading.running or reading.failed:
            raise Apart
        self._standing = standing
        self._most = reading.queue
        self._whole = not reading.queue or len(standing.queue) < reading.queue  # else there are more
        self._queue = list(standing.queue)
        self._known = dict(standing.known)
        self._counts = standing.counts
        self._spent = 0
        self._created: list[NewRun] = []
        self._admitted: list[RunKey] = []

    def decided(self, put: Put) -> Verdict[Any] | Exception:
        """What is said to one question. What it raises concerns nobody else."""
        try:
            verdict = put.decide(self._found(put.question))
        except Exception as error:  # noqa: BLE001 - it belongs to who asked
            return error
        self._take(verdict)
        return verdict

    def verdict(self) -> Verdict[None]:
        """All of them as one."""
        return Verdict(
            answer=None, spent=self._spent, created=tuple(self._created), admitted=tuple(self._admitted)
        )

    def _found(self, question: Question) -> Standing:
        asked = {each.request_id for each in question.requests}
        return msgspec.structs.replace(
            self._standing,
            next_instance_id=self._standing.next_instance_id + self._spent,
            counts=self._counts,
            known={each: self._known[each] for each in asked if each in self._known},
            queue=tuple(self._queue[: self._most]),
        )

    def _take(self, verdict: Verdict[Any]) -> None:
        created = [new.record.key for new in verdict.created]
        admitted = set(verdict.admitted)
        more = verdict.ended or verdict.paused or verdict.marks or verdict.sent or verdict.timeline
        apart = any(new.record.status is not RunStatus.CREATED for new in verdict.created)
        if more or apart or (admitted and not self._whole):
            raise Apart
        if self._whole:
            self._queue = [run for run in (*self._queue, *created) if run not in admitted]
        queued, running, failed, paused = self._counts
        self._counts = Counts(queued + len(created) - len(admitted), running + len(admitted), failed, paused)
        self._known |= {new.record.uuid: new.record.key for new in verdict.created}
        self._spent += verdict.spent
        self._created += verdict.created
        self._admitted += verdict.admitted
