"""What tracing gathers: levels of nodes, each in a region that a branch may or may not enter.

Level     the steps that form one graph: of the workflow, or of the body of a loop
Region    a part of a level that runs as a whole or not at all; the root region always runs
Fork      the regions of one `when`, `switch` or `on_failure`, which begin at the same place
Node      what becomes a step
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from stretto.flow.expressions import Expression
from stretto.flow.places import Place
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.model.step import AnyStep, Transition, TypedStep
from stretto.runtimes.python.values import Kind


@dataclass(eq=False)
class Level:
    """Steps that form one graph. `loop`: the node whose body it is."""

    loop: "LoopNode | None" = None
    nodes: "list[Node]" = field(default_factory=list)
    forks: "list[Fork]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root = Region(self)

    def loops(self) -> "Iterator[LoopNode]":
        """The loops around it, from the innermost out."""
        loop = self.loop
        while loop is not None:
            yield loop
            loop = loop.region.level.loop

    def contains(self, other: "Level") -> bool:
        """Whether another level is this one, or the body of a loop in it."""
        return self is other or any(loop.region.level is self for loop in other.loops())

    def loop_around(self, other: "Level") -> "LoopNode":
        """The loop at this level in whose body another level is."""
        return next(loop for loop in other.loops() if loop.region.level is self)


@dataclass(eq=False)
class Region:
    """Steps that run as a whole or not at all."""

    level: Level
    fork: "Fork | None" = None
    condition: Expression | None = None
    recent: "Fork | None" = None  # the `when` that an `otherwise` may follow

    def around(self) -> "Iterator[Region]":
        """Itself and the regions around it at its level, from the innermost out."""
        region: Region | None = self
        while region is not None:
            yield region
            region = region.fork.region if region.fork is not None else None

    def is_in(self, other: "Region") -> bool:
        return other in self.around()


@dataclass(eq=False)
class Fork:
    """Where regions begin. `entry`: the node that decides which of them run, known when all is traced."""

    region: Region
    name: str
    place: Place
    cases: list[Region] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)  # one for each case
    failed: "Node | None" = None  # the one case is for the failure of this node
    entry: "Node | None" = None

    def add(self, condition: Expression) -> Region:
        made = Region(self.region.level, self, condition)
        self.cases.append(made)
        self.conditions.append(condition)
        return made


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a parameter that an expression gives."""

    kind: Kind
    expression: Expression


Setting = ParamDefinition | Given
Settings = dict[str, Setting]


@dataclass(eq=False)
class Node:
    """What becomes a step. `make` builds it of the fields that all kinds of steps share, and its own."""

    id: str
    region: Region
    make: Callable[..., AnyStep]
    place: Place
    params: Settings = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    after: "list[tuple[Node, bool]]" = field(default_factory=list)  # and whether it must have ended well
    handled: bool = False  # its failure is the business of an `on_failure`
    order: int = 0  # how many were called before it at its level

    def expressions(self) -> Iterator[Expression]:
        """All that it reads."""
        for setting in self.params.values():
            if isinstance(setting, Given):
                yield setting.expression

    def step(self, params: Params, transition: Transition, read: Callable[[Expression], str]) -> AnyStep:  # noqa: ARG002
        return self.make(id=self.id, params=params or None, transition=transition, **self.fields)


@dataclass(eq=False)
class LoopNode(Node):
    """A foreach or a while. `values` are its loop params; `handed` is what its body reads from outside."""

    values: Settings = field(default_factory=dict)
    handed: dict[Expression, str] = field(default_factory=dict)
    condition: Expression | None = None
    steps: tuple[AnyStep, ...] = ()

    def __post_init__(self) -> None:
        self.body = Level(self)

    def expressions(self) -> Iterator[Expression]:
        yield from super().expressions()
        for setting in self.values.values():
            if isinstance(setting, Given):
                yield setting.expression
        if self.condition is not None:
            yield self.condition
        yield from self.handed

    def step(self, params: Params, transition: Transition, read: Callable[[Expression], str]) -> AnyStep:
        given = {} if self.condition is None else {"condition": read(self.condition)}
        return self.make(
            id=self.id, params=params, transition=transition, steps=self.steps, **given, **self.fields
        )


def idle(step_id: str, region: Region, place: Place, kind: str = "NoOp") -> Node:
    """A step that does no work: it waits, decides, or keeps a value."""
    return Node(step_id, region, partial(TypedStep, type=kind), place)


def param_of(setting: Setting, read: Callable[[Expression], str]) -> ParamDefinition:
    """The definition of a parameter."""
    if isinstance(setting, ParamDefinition):
        return setting
    return ParamDefinition(
        type=setting.kind.type, expression=read(setting.expression), meta=setting.kind.meta
    )


def map_of(members: Params) -> ParamDefinition:
    return ParamDefinition(type=ParamType.MAP, value=members)


LOOP_PARAMS: Final = "loop_params"
