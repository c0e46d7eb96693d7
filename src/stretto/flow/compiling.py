"""From what was traced to the steps of a definition."""

from collections.abc import Callable, Container, Set
from typing import Final

from stretto.flow.expressions import Expression, Leaf, Spelled
from stretto.flow.leaves import LoopValue, RunParam, named
from stretto.flow.linking import Linked, link
from stretto.flow.nodes import LOOP_PARAMS, Given, Level, LoopNode, Node, map_of, param_of
from stretto.flow.trace import Trace
from stretto.model.param import Params
from stretto.model.step import AnyStep, Transition
from stretto.params import STEP_DEFAULTS
from stretto.runtimes.python.values import Kind
from stretto.sel.syntax.printer import quoted

IN_LOOPS: Final = frozenset({"loop_index", "condition"})  # what every iteration calls something of its own


def compile_level(trace: Trace, level: Level) -> tuple[AnyStep, ...]:
    """The steps of a level. Bodies of loops come first: they say what their loops must hand down."""
    for node in level.nodes:
        if isinstance(node, LoopNode):
            node.steps = compile_level(trace, node.body)
    _read_everything(trace, level)
    linked = link(trace, level)
    onward = _onward(trace, level, linked)
    return tuple(_step(trace, node, onward[node]) for node in linked.nodes)


def _read_everything(trace: Trace, level: Level) -> None:
    """Let the loops around know what is read here, before their own edges are made."""
    for node in level.nodes:
        for expression in node.expressions():
            expression.text(reader(trace, level, ()))
    for fork in level.forks:
        for condition in fork.conditions:
            condition.text(reader(trace, level, ()))


def reader(trace: Trace, level: Level, own: Container[str]) -> Callable[[Leaf], str]:
    """How values are read at a level, by a step whose own parameters have these names."""

    def read(leaf: Leaf) -> str:
        if isinstance(leaf, Spelled) and leaf.home is level:
            return leaf.spelled(read)
        name = _name_of(trace, level, leaf)
        # A name that the step itself has would mean its own parameter.
        return f"params.get({quoted(name)})" if name in own or name in STEP_DEFAULTS else named(name)

    return read


def _name_of(trace: Trace, level: Level, leaf: Leaf) -> str:
    """The name of the run's parameter that holds a value."""
    if isinstance(leaf, LoopValue):
        return leaf.name
    if isinstance(leaf, RunParam):
        if leaf.name not in IN_LOOPS or level is trace.top:
            return leaf.name
        return _handed(trace, trace.top.loop_around(level), leaf)
    assert leaf.home is not None  # noqa: S101 - the others have names
    return _handed(trace, leaf.home.loop_around(level), leaf)


def _handed(trace: Trace, loop: LoopNode, leaf: Leaf) -> str:
    if leaf not in loop.handed:
        loop.handed[leaf] = trace.name(leaf.label)
    return loop.handed[leaf]


# ----------------------------------------------------------------------------------------------------- steps
def _onward(trace: Trace, level: Level, linked: Linked) -> dict[Node, dict[str, str]]:
    """The edges out of each node, with the texts of their conditions."""
    onward: dict[Node, dict[str, str]] = {node: {} for node in linked.nodes}
    for node in linked.nodes:
        for before, condition in linked.into[node].items():
            onward[before][node.id] = condition.text(reader(trace, level, _names_in(before)))
    return onward


def _step(trace: Trace, node: Node, successors: dict[str, str]) -> AnyStep:
    level = node.region.level
    params: Params = {}
    if isinstance(node, LoopNode):
        params = _loop_params(trace, node)
    own = _names_in(node)
    for name, setting in node.params.items():
        params[name] = param_of(setting, _texts(reader(trace, level, own - {name})))
    read = _texts(reader(trace, level, own))
    return node.step(params, Transition(successors=successors), read)


def _names_in(node: Node) -> Set[str]:
    """The parameters that a step has of its own."""
    if isinstance(node, LoopNode):
        return IN_LOOPS | {LOOP_PARAMS} | set(node.handed.values())
    return node.params.keys()


def _loop_params(trace: Trace, loop: LoopNode) -> Params:
    level = loop.region.level
    read = _texts(reader(trace, level, _names_in(loop)))
    values = {name: param_of(each, read) for name, each in loop.values.items()}
    params: Params = {LOOP_PARAMS: map_of(values)}
    for leaf, name in loop.handed.items():
        assert isinstance(leaf, Leaf)  # noqa: S101 - nothing else is handed down
        params[name] = param_of(Given(Kind(leaf.type), leaf), read)
    return params


def _texts(read: Callable[[Leaf], str]) -> Callable[[Expression], str]:
    return lambda expression: expression.text(read)
