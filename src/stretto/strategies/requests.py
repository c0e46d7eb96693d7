"""What is asked of a workflow in one transaction: starts, restarts, undos, or nothing (a dequeue)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stretto.model.errors import InvalidRequest
from stretto.strategies.runs import LatestRun, RunKey


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
