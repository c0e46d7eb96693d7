"""The values that a run has, and how expressions read each of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stretto.definition.forms.outcomes import failed_condition
from stretto.flow.expressions import Expression, Joined, Leaf, Spelled, all_of, call
from stretto.flow.nodes import Level, LoopNode, Node
from stretto.model.param import ParamType
from stretto.params.functions import ERROR, STATUS
from stretto.runtimes.python.step_error import CODEC
from stretto.sel.syntax.lexer import RESERVED
from stretto.sel.syntax.printer import quoted
from stretto.sel.text import TAG
from stretto.sel.values import PRESETS

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Read = Callable[[Leaf], str]


def is_word(name: str) -> bool:
    """Whether an expression can name it as it is."""
    return bool(NAME.fullmatch(name)) and name not in RESERVED and name not in PRESETS


def named(name: str) -> str:
    """A parameter of the run, by its name."""
    return name if is_word(name) else f"params.get({quoted(name)})"


def status_of(node: Node) -> str:
    return f"params.getFromStep({quoted(node.id)}, '{STATUS}')"


def delivered(node: Node) -> Expression:
    """Whether a step has left a result: not if it failed, was skipped, or its branch was not taken."""
    return Joined((f"{status_of(node)} == 'SUCCEEDED'",))


@dataclass(frozen=True)
class RunParam(Leaf):
    """A parameter of the workflow."""

    name: str
    type: ParamType

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.name


@dataclass(frozen=True)
class LoopValue(Leaf):
    """The item of a foreach, or a variable of a while: a parameter of each of its iterations."""

    loop: LoopNode
    name: str
    type: ParamType

    @property
    def home(self) -> Level:
        return self.loop.body


@dataclass(frozen=True)
class Output(Spelled):
    """An output parameter of a step."""

    node: Node
    param: str
    type: ParamType

    @property
    def label(self) -> str:  # type: ignore[override]
        return f"{self.node.id}_{self.param}"

    @property
    def home(self) -> Level:
        return self.node.region.level

    @property
    def needs(self) -> tuple[tuple[Node, bool], ...]:
        return ((self.node, True),)

    def spelled(self, read: Read) -> str:
        reference = f"{self.node.id}__{self.param}"
        return reference if is_word(reference) and "___" not in reference else self.if_there(read)

    def if_there(self, read: Read) -> str:
        """A way to read it that does nothing unless it comes to it."""
        return call("params.getFromStep", self.node.id, self.param).text(read)


@dataclass(frozen=True)
class Collected(Spelled):
    """What the iterations of a foreach left in a parameter of one of its steps, as an array."""

    loop: LoopNode
    node: Node
    param: str
    type: ParamType

    @property
    def label(self) -> str:  # type: ignore[override]
        return f"{self.node.id}_{self.param}"

    @property
    def home(self) -> Level:
        return self.loop.region.level

    @property
    def needs(self) -> tuple[tuple[Node, bool], ...]:
        return ((self.loop, True),)

    def spelled(self, read: Read) -> str:
        return call("params.getFromForeach", self.loop.id, self.node.id, self.param).text(read)


@dataclass(frozen=True)
class FromChild(Spelled):
    """A parameter of a step of the run that a subworkflow step has started."""

    node: Node
    step_id: str
    param: str
    type: ParamType

    @property
    def label(self) -> str:  # type: ignore[override]
        return f"{self.node.id}_{self.param}"

    @property
    def home(self) -> Level:
        return self.node.region.level

    @property
    def needs(self) -> tuple[tuple[Node, bool], ...]:
        return ((self.node, True),)

    def spelled(self, read: Read) -> str:
        return call("params.getFromSubworkflow", self.node.id, self.step_id, self.param).text(read)


@dataclass(frozen=True)
class Either(Spelled):
    """The first of several values that is there. Those of a branch that did not run are not."""

    level: Level
    choices: tuple[Expression, ...]
    type: ParamType
    label: str

    @property
    def home(self) -> Level:
        return self.level

    @property
    def needs(self) -> tuple[tuple[Node, bool], ...]:
        found = {node: None for choice in self.choices for node in self.awaited(choice)}
        return tuple((node, False) for node in found)

    def awaited(self, choice: Expression) -> list[Node]:
        """The steps at its level that a choice is the work of."""
        needs = [node for leaf in choice.leaves() if leaf.home is self.level for node, _ in leaf.needs]
        return list(dict.fromkeys(needs))

    def spelled(self, read: Read) -> str:
        lazily = _lazy(read, self.level)
        *others, last = self.choices
        text = last.text(lazily)
        for choice in reversed(others):
            there = all_of([delivered(node) for node in self.awaited(choice)]).text(read)
            text = f"({there} ? {choice.text(lazily)} : {text})"
        return text


@dataclass(frozen=True)
class Outcome(Spelled):
    """The JSON text of what a step returned, or of the error with which it failed; `null` if it did not run.

    value   the JSON text of its result
    """

    node: Node
    value: Expression
    type: ParamType = ParamType.STRING
    label: str = "outcome"

    @property
    def home(self) -> Level:
        return self.node.region.level

    @property
    def needs(self) -> tuple[tuple[Node, bool], ...]:
        return ((self.node, False),)

    def spelled(self, read: Read) -> str:
        stored = call("Json.array", f'"{CODEC}"', call("params.getFromStep", self.node.id, ERROR))
        error = call("Json.object", TAG, stored).text(read)
        value = self.value.text(_lazy(read, self.home))
        left = f"({delivered(self.node).text(read)} ? {value} : 'null')"
        return f"({failed_condition(self.node.id)} ? {error} : {left})"


def _lazy(read: Read, level: Level) -> Read:
    """How to read values so that those of steps at a level do nothing unless it comes to them."""

    def lazily(leaf: Leaf) -> str:
        return leaf.if_there(read) if isinstance(leaf, Output) and leaf.home is level else read(leaf)

    return lazily
