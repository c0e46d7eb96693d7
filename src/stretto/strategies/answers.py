"""What a requester is told."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from stretto.model.errors import NotFound, StrettoError, WrongState
from stretto.model.response import StartStatus
from stretto.model.status import RunStatus
from stretto.strategies.runs import RunKey


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
