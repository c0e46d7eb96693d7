"""One tracing of a workflow function: what it has called so far, and where it stands."""

import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from stretto.flow.errors import MISTAKES, TraceError
from stretto.flow.expressions import Expression, Leaf
from stretto.flow.leaves import LoopValue
from stretto.flow.nodes import Level, Node, Region
from stretto.flow.places import Place
from stretto.flow.try_blocks import Blocks, refuse_try
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.values import Kind

if TYPE_CHECKING:
    from stretto.flow.workflow import Flow

_CURRENT: Final[ContextVar["Trace | None"]] = ContextVar("trace", default=None)
STRANGE: Final = re.compile(r"[^A-Za-z0-9_.-]+|_{2,}")


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A value that a run will have: how it is read, how it travels, and what Python takes it for."""

    trace: "Trace"
    expression: Expression
    kind: Kind
    annotation: Any
    label: str


@dataclass(eq=False)
class Trace:
    """`names` are those of parameters that mean something already, `ids` those of steps."""

    workflow_id: str
    names: set[str]
    ids: set[str] = field(default_factory=set)
    functions: dict[Function, None] = field(default_factory=dict)
    subflows: "dict[Flow[..., Any], None]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._same_ids: dict[str, int] = {}
        self._same_names: dict[str, int] = {}
        self._try_blocks: Blocks = {}
        self.mistakes: list[TraceError] = []
        self.top = Level()
        self.region: Region = self.top.root

    # --------------------------------------------------------------------------------------------- growing
    def add(self, node: Node) -> Node:
        refuse_try(node.id, inspect.currentframe(), self._try_blocks)
        node.region.recent = None
        nodes = node.region.level.nodes
        node.order = len(nodes)
        nodes.append(node)
        return node

    def step_id(self, wanted: str, place: Place, *, exact: bool = False) -> str:
        """An id that no other step has. One that was given by name is taken as it is, or refused."""
        if exact and wanted in self.ids:
            raise TraceError(
                f"the step id `{wanted}` is used twice", "give another `id=`, or leave it out", place=place
            )
        made = _unused(wanted if exact else STRANGE.sub("_", wanted), self.ids, self._same_ids)
        self.ids.add(made)
        return made

    def name(self, wanted: str) -> str:
        """A name for a parameter that means nothing yet."""
        made = _unused(STRANGE.sub("_", wanted), self.names, self._same_names)
        self.names.add(made)
        return made

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """What is called meanwhile belongs to a region."""
        around, self.region = self.region, region
        try:
            yield
        finally:
            self.region = around

    # -------------------------------------------------------------------------------------------- checking
    def check(self, value: Value) -> Value:
        """Refuse a value that can not be read where the trace stands."""
        if value.trace is not self:
            raise TraceError(
                f"{value.label} belongs to the workflow `{value.trace.workflow_id}`, not to this one",
                "hand it over as an argument of this workflow",
            )
        for leaf in value.expression.leaves():
            self._check_leaf(leaf, value.label)
        return value

    def _check_leaf(self, leaf: Leaf, label: str) -> None:
        home = leaf.home
        if home is None:
            return
        if not home.contains(self.region.level):
            raise _left_its_loop(leaf, label)
        region = self.region_at(home)
        for node, well in leaf.needs:
            if well and not region.is_in(node.region):
                raise TraceError(
                    f"{label} is known only inside its branch, which may not run",
                    "use it there, or write `either(...)` with a value for the other case",
                )
            if well and any(each.fork is not None and each.fork.failed is node for each in region.around()):
                raise TraceError(
                    f"{label} has no value here: this is what happens when `{node.id}` fails",
                    "use the arguments that the step was called with",
                )

    def region_at(self, level: Level) -> Region:
        """Where the trace stands, seen from a level around it."""
        return self.region if self.region.level is level else level.loop_around(self.region.level).region


def _left_its_loop(leaf: Leaf, label: str) -> TraceError:
    if isinstance(leaf, LoopValue):
        return TraceError(f"{label} is known only inside its loop", "use it in the body of the loop")
    return TraceError(
        f"{label} is a different one in each pass of its loop",
        "use it in the body of the loop, or gather all of them with `collect(...)`",
    )


def _unused(wanted: str, taken: set[str], counts: dict[str, int]) -> str:
    """`counts` says where to go on: what was taken once stays so."""
    if wanted not in taken:
        return wanted
    count = counts.get(wanted, 1) + 1
    while f"{wanted}_{count}" in taken:
        count += 1
    counts[wanted] = count
    return f"{wanted}_{count}"


def current() -> Trace | None:
    """The trace that is under way."""
    return _CURRENT.get()


def required(what: str) -> Trace:
    """The trace that is under way; raises if there is none."""
    trace = _CURRENT.get()
    if trace is None:
        raise TraceError(
            f"`{what}` means something only in a function with `@workflow`",
            "write it there, and run the workflow with an engine",
        )
    return trace


@contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    """Calls of steps are gathered in a trace meanwhile, and so are mistakes."""
    around = MISTAKES.get()
    token, found = _CURRENT.set(trace), MISTAKES.set(trace.mistakes)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        MISTAKES.reset(found)
        if around is not None:  # the workflow that runs this one has them, too
            around += trace.mistakes
