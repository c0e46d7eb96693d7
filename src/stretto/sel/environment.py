"""All that an evaluation may know besides its bindings: limits, the moment, chance, and the engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one evaluation may use. Each is exclusive: reaching the number ends the evaluation."""

    stack: int = 128  # operands held at once
    loop: int = 25_001  # passes of one loop
    array: int = 25_001  # elements of `new T[n]` or `new T[]{...}`
    length: int = 10_000  # characters of the expression itself
    visit: int = 100_000_000  # steps of the evaluation
    memory: int = 100_000_000  # 32 for each value made, and 2 for each of its characters
    string: int = 16_000_000  # characters of one string, and of all that are assigned or appended


@dataclass(slots=True)
class Budget:
    """Visits and memory that several evaluations share, besides the limits of each. Using it up is the limit
    `budget`. In a trial one evaluation gets half of what is left, so that a long one leaves something to
    those that follow; elsewhere it gets all of it.
    """

    visits: int
    memory: int
    is_trial: bool = True

    @property
    def visits_at_once(self) -> int:
        """Visits that the next evaluation may take."""
        return self.visits // 2 if self.is_trial else self.visits

    @property
    def memory_at_once(self) -> int:
        """Memory that the next evaluation may take."""
        return self.memory // 2 if self.is_trial else self.memory


BUDGET: Final = "budget"  # the limit that an evaluation reaches when it needs more than its share


@dataclass(frozen=True, slots=True)
class Missing:
    """The host's answer when it must first fetch something. The evaluation ends with it as its result."""

    key: object


class Host(Protocol):
    """The engine, as far as an expression may ask it something."""

    def call(self, method: str, arguments: tuple[str, ...]) -> Any:
        """Answer `params.<method>(<arguments>)`, for instance `getFromStep('extract', 'rows')`.

        The answer is a plain value (as in bindings), None for null, or `Missing(key)`. A method or an
        argument that does not exist is a `SelError`: UNSUPPORTED or MAESTRO_INTERNAL.
        """
        ...


@dataclass(frozen=True, slots=True)
class Environment:
    """What surrounds an evaluation. Two evaluations with equal environments give equal results."""

    now_millis: int | None = None  # what `new DateTime()` and `System.currentTimeMillis()` see
    seed: int = 0  # what `Math.random()` and `UUID.randomUUID()` are computed from
    limits: Limits = field(default_factory=Limits)
    host: Host | None = None
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # Util.<name>, before our own
    budget: Budget | None = None  # shared with other evaluations; None: the limits alone hold
    exact: bool = False  # integers have any size, as in Python; else they wrap at 64 bits, as in Java


DEFAULT: Environment = Environment()
