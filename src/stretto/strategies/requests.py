"""What is asked of a workflow in one transaction: starts, restarts, undos, or nothing (a dequeue); and what a
requester is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stretto.model.errors import InvalidRequest, NotFound, StrettoError, WrongState
from stretto.model.response import StartStatus
from stretto.model.runs import RunKey
from stretto.model.status import RunStatus
from stretto.strategies.runs import LatestRun


@dataclass(frozen=True, slots=True)
class Start:
    """A new instance. Who sent no request id is given one at the door, so that it can be repeated.

    With a `failure` the run can not be carried out (its parameters can not be evaluated) but is kept to be
    looked at: it is FAILED from birth and goes past the rule.
    """

    request_id: str
    failure: str | None = None
    held: bool = False  # the run of the step that starts it is paused: it is queued, and paused there

    def __post_init__(self) -> None:
        if self.failure == "":
            raise InvalidRequest(
                "workflow instance timeline cannot be null", hint="a run that is kept as FAILED says why"
            )


@dataclass(frozen=True, slots=True)
class Restart:
    """A new run of a known instance."""

    request_id: str
    instance_id: int
    held: bool = False  # as in `Start`


@dataclass(frozen=True, slots=True)
class Undo:
    """A new run of a known instance, which undoes it. It goes past the rule: whoever fails must not wait for
    others, be dropped or replace them.
    """

    request_id: str
    instance_id: int


Request = Start | Restart | Undo


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests for one workflow in the order of their arrival, with what is stored about them."""

    workflow_id: str
    requests: tuple[Request, ...]
    next_instance_id: int
    known: Mapping[str, RunKey] = field(default_factory=dict)  # the request ids that made a run before
    latest: Mapping[int, LatestRun] = field(default_factory=dict)  # of the instances to restart


@dataclass(frozen=True, slots=True)
class Accepted:
    """There is a new run. CREATED: it is queued, or admitted at once. STOPPED: it is dropped, with its
    creation as start and end. FAILED: it can not begin. The note on its timeline says why.
    """

    request_id: str
    run: RunKey
    status: Literal[RunStatus.CREATED, RunStatus.STOPPED, RunStatus.FAILED] = RunStatus.CREATED
    note: str | None = None

    @property
    def start_status(self) -> StartStatus:
        return StartStatus.STOPPED if self.status is RunStatus.STOPPED else StartStatus.CREATED


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The request id was seen before, in this batch or long ago. `run` is what the first one made; Maestro
    answers 0 and 0 here, so its surface leaves `run` out.
    """

    request_id: str
    run: RunKey

    start_status: ClassVar[StartStatus] = StartStatus.DUPLICATED


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing happened."""

    request_id: str
    kind: type[NotFound] | type[WrongState]
    message: str

    def error(self) -> StrettoError:
        return self.kind(self.message)


Answer = Accepted | Duplicate | Refused
