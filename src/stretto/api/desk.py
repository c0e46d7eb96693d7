"""What routes work with: the parts that the server was given, and who calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.parts.evaluation import Evaluator
from stretto.actions.parts.messages import Patience
from stretto.actions.reading.log_pages import StepLogs
from stretto.actions.start import StartBatcher
from stretto.api.bulk_worker import BulkWorker
from stretto.api.feed import Feed
from stretto.api.settings import ServerSettings
from stretto.definition.limits import Limits
from stretto.definition.step_types import Described, Standing
from stretto.engine.settings import EngineSettings
from stretto.model.errors import InvalidRequest
from stretto.model.user import User
from stretto.params import ParamLimits
from stretto.ports.clock import Clock
from stretto.ports.hints import Hints
from stretto.ports.store import Store

ANYBODY: Final = Caller(user=User(name="anonymous"))  # who reads need not say who they are


class Desk(NamedTuple):
    """The parts, which are the same for all requests."""

    store: Store
    hints: Hints
    clock: Clock
    limits: Limits  # of definitions
    params: ParamLimits
    evaluate: Evaluator
    starts: StartBatcher
    action_within: int  # milliseconds
    trouble: Callable[[], Awaitable[str | None]]  # why no request should come here now, if so
    stopping: Callable[[], bool]  # whether the server is about to end
    feed: Feed
    bulk: BulkWorker
    logs: StepLogs
    types: Callable[[], Mapping[str, Described]]  # step types that can be used here, with their parameters
    standings: Callable[[], Sequence[Standing]]  # of all step types: whether they can be used, and why not
    early_answers: int = EngineSettings().early_answers  # that a run keeps for steps that do not ask yet
    since: int = 0  # when the server began to listen
    cluster_name: str = ServerSettings().cluster_name


class Call(NamedTuple):
    """One request: the parts, and the name that it brings."""

    desk: Desk
    user: str | None
    path: str
    gone: Callable[[], Awaitable[None]]  # returns when the client has left; once the body has been read

    @property
    def store(self) -> Store:
        return self.desk.store

    @property
    def hints(self) -> Hints:
        return self.desk.hints

    @property
    def caller(self) -> Caller:
        """Who wants to change something; they must say who they are."""
        if self.user is None:
            raise InvalidRequest(
                "The user name cannot be null", hint="say who calls in the header `user: NAME`"
            )
        return Caller(user=User(name=self.user))

    @property
    def reader(self) -> Caller:
        """Who wants to see something, with or without a name."""
        return ANYBODY if self.user is None else Caller(user=User(name=self.user))

    def patience(self, *, blocking: bool) -> Patience | None:
        """How long the caller waits for the outcome of what is asked of a step."""
        return Patience(clock=self.desk.clock, millis=self.desk.action_within) if blocking else None
