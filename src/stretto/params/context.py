"""What parameters may ask of the run around them. The engine implements `Context`; nothing here does I/O."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.sel import Missing

VALIDATION: Final = "VALIDATION"  # the initiator of a dry run


@dataclass(frozen=True, slots=True)
class MissingKeys:
    """Evaluation needs what is not in memory. Fetch every key, then evaluate again with the same moment."""

    keys: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A workflow instance, as far as expressions may know it."""

    workflow_id: str
    instance_id: int | None = None  # None while the run's own parameters are evaluated
    run_id: int | None = None
    owner: str | None = None
    initiator: str = "MANUAL"  # type of the initiator
    runner: str | None = None  # the user of a manual start
    initiator_timezone: str | None = None  # of the time trigger that fired
    first_trigger_timezone: str | None = None  # of the first time trigger in the definition
    run_policy: str | None = None
    environment: str = ""
    signal_params: Mapping[str, Any] = field(default_factory=dict)  # that the signal trigger evaluated
    trigger_signals: frozenset[str] = frozenset()  # names in the definition's signal triggers
    follows_maestro: bool = True  # the semantics of its workflow
    step_ids: Collection[str] = ()  # of its definition, for hints


@dataclass(slots=True, kw_only=True)  # frozen ones take three times as long to make
class StepFacts:
    """A step attempt: the one whose parameters are evaluated, or an earlier one of the same instance."""

    step_id: str
    type: str
    sub_type: str | None = None
    step_instance_id: int | None = None
    step_attempt_id: int | None = None
    uuid: "str | Callable[[], str] | None" = None  # most never need it
    error_retries: int = 0
    status: str | None = None
    end_time: int | None = None
    params: Mapping[str, ParamDefinition] = field(default_factory=dict)
    declared: Mapping[str, ParamDefinition] = field(default_factory=dict)  # as the definition has them
    total_loop_count: int | None = None  # of a foreach step that has begun
    error: Mapping[str, str] | None = None  # of a step whose failure is ignored

    @property
    def step_instance_uuid(self) -> str | None:
        return self.uuid if self.uuid is None or isinstance(self.uuid, str) else self.uuid()


@dataclass(frozen=True, slots=True)
class Collected:
    """The values of one parameter over the iterations of a foreach, by iteration, counted from 1.

    `undelivered`: the iterations in which it holds only what it was declared with. `type`: None if the step
    has ended in all iterations before its parameters had values.
    """

    type: ParamType | None
    values: Mapping[int, Any]
    undelivered: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A parameter that holds only what it was declared with: no work has put a result there."""

    declared: Parameter


class Context(Protocol):
    """The run around the parameters. None says that there is no such thing; `Missing(key)` says that it
    must be fetched first.
    """

    @property
    def run(self) -> RunFacts:
        """The instance whose parameters are evaluated."""
        ...

    def step(self, step_id: str) -> StepFacts | Missing | None:
        """A step of this instance that is complete, in this run or an earlier one."""
        ...

    def foreach(self, foreach_step: str, step_id: str, param: str) -> Collected | Missing | None:
        """What a step inside a foreach left in a parameter, over all iterations."""
        ...

    def subworkflow(
        self, subworkflow_step: str, step_id: str, param: str
    ) -> Parameter | Undelivered | Missing | None:
        """A parameter of the latest attempt of a step in the instance that a subworkflow step started."""
        ...

    def signal(self, name: str, param: str) -> str | int | Missing | None:
        """A parameter of the instance of a signal that triggered this run."""
        ...

    def signal_dependency(self, index: int, param: str) -> str | int | Missing | None:
        """A parameter of the signal that satisfied a dependency of the current step."""
        ...

    def next_unique_id(self) -> int | Missing:
        """A number that nobody else gets; the same again when the evaluation is repeated."""
        ...


@dataclass(frozen=True, slots=True)
class Alone:
    """The context of a run that has nothing around it: no step has run, no signal has come."""

    run: RunFacts

    def step(self, step_id: str) -> None:
        """No step is complete."""

    def foreach(self, foreach_step: str, step_id: str, param: str) -> None:
        """No foreach has run."""

    def subworkflow(self, subworkflow_step: str, step_id: str, param: str) -> None:
        """No subworkflow was started."""

    def signal(self, name: str, param: str) -> None:
        """No signal came."""

    def signal_dependency(self, index: int, param: str) -> None:
        """No dependency was satisfied."""

    def next_unique_id(self) -> Missing:
        """Somebody else must make the number."""
        return Missing("next_unique_id")
