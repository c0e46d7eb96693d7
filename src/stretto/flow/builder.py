"""A workflow put together by calls, for programs that make workflows out of something else.

    builder = WorkflowBuilder("etl", owner="ann")
    builder.param("day", str)
    builder.register(extract, load)
    builder.add("extract", extract, day=builder.given("day"))
    builder.add("load", "flows:load", rows=builder.result("extract"), on_failure="flows:alert")
    etl = builder.build()

Steps may be added in any order. What is wrong is found by `build`, all of it at once.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from stretto.definition.graph import Graph
from stretto.flow.branches import when
from stretto.flow.calls import base_id
from stretto.flow.errors import TraceError
from stretto.flow.nodes import map_of
from stretto.flow.order import node_of
from stretto.flow.places import Place, here
from stretto.flow.step_options import OF_A_STEP, refuse_unknown
from stretto.flow.steps import StepFunction, step
from stretto.flow.trace import required
from stretto.flow.workflow import Flow
from stretto.flow.workflow_options import KEYWORDS, WorkflowKeywords
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.suggest import did_you_mean
from stretto.runtimes.python.function import Argument
from stretto.runtimes.python.own_params import CALLBACKS
from stretto.runtimes.python.values import kind_of

HANDLERS: Final = {"on_success": "success", "on_failure": "failed", "on_timeout": "timeout"}


class Given(NamedTuple):
    """Stands for a parameter of the workflow."""

    name: str


class Result(NamedTuple):
    """Stands for the result of a step."""

    step_id: str


class Results:
    """The results of steps by their ids, for the functions that say when a step runs."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found

    def __getattr__(self, step_id: str) -> Any:
        if step_id not in self._found:
            raise TraceError(
                f"the condition reads `{step_id}`, which the step does not wait for",
                f'name it: `after=["{step_id}"]`',
            )
        return self._found[step_id]


@dataclass(slots=True)
class Planned:
    """A step as it was added."""

    function: Any
    arguments: Mapping[str, Any]
    place: Place
    after: tuple[str, ...] = ()
    when: Callable[[Any], Any] | None = None
    handlers: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def before(self) -> Iterator[str]:
        """The steps that it waits for."""
        yield from self.after
        yield from (each.step_id for each in _stand_ins(self.arguments) if isinstance(each, Result))


class WorkflowBuilder:
    """Gathers parameters, functions and steps; `build` makes a workflow of them."""

    def __init__(self, id: str, **options: Any) -> None:  # noqa: A002 - as in a definition
        refuse_unknown(options, KEYWORDS, "a workflow")
        self._options = cast("WorkflowKeywords", {**options, "id": id})
        self._place = here()
        self._params: dict[str, Argument] = {}
        self._known: dict[str, StepFunction[..., Any]] = {}
        self._steps: dict[str, Planned] = {}
        self._problems: list[str] = []
        self._returned: Any = None

    def param(self, name: str, annotation: Any = Any, default: Any = inspect.Parameter.empty) -> Given:
        """A parameter of the workflow."""
        self._params[name] = Argument(name, annotation, kind_of(annotation), default)
        return Given(name)

    def given(self, name: str) -> Given:
        """Stands for a parameter in the arguments of a step."""
        return Given(name)

    def result(self, step_id: str) -> Result:
        """Stands for the result of a step in the arguments of another one."""
        return Result(step_id)

    def register(self, *functions: Any) -> "WorkflowBuilder":
        """Make functions known, so that steps and handlers can name them."""
        for each in functions:
            self._register(each)
        return self

    def _register(self, function: Any) -> StepFunction[..., Any]:
        made = function if isinstance(function, StepFunction) else step(function)
        self._known.setdefault(made.function.name, made)
        self._known.setdefault(base_id(made.function), made)
        return made

    def add(
        self,
        id: str,  # noqa: A002 - as in a definition
        function: Any,
        *,
        after: str | Sequence[str] = (),
        when: Callable[[Any], Any] | None = None,
        options: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> "WorkflowBuilder":
        """A step: its function, or the name of one that is registered, and its arguments.

        `when`: a function of results, `lambda r: r.extract > 0`; steps that need the result of one that does
        not run do not run either. `options` are those of `with_options`, and the handlers `on_success`,
        `on_failure` and `on_timeout`.
        """
        if id in self._steps:
            self._problems.append(f"{here()}: the step id `{id}` is used twice")
        own = dict(options or {})
        handlers = {key: _sequence(own.pop(key)) for key in HANDLERS if key in own}
        after = (after,) if isinstance(after, str) else tuple(after)
        self._steps[id] = Planned(function, arguments, here(), after, when, handlers, own)
        return self

    def returns(self, value: Any) -> "WorkflowBuilder":
        """What the workflow returns: `builder.result("load")`, or data with such values in it."""
        self._returned = value
        return self

    # ----------------------------------------------------------------------------------------------- building
    def build(self) -> Flow[..., Any]:
        """The workflow. Raises InvalidRequest that names everything that is missing."""
        order = self._check()
        made = Flow(self._replay(order), self._options, params=dict(self._params), place=self._place)
        _ = made.definition  # so that whatever else is wrong is said now
        return made

    def _check(self) -> list[str]:
        problems = list(self._problems)
        for step_id, planned in self._steps.items():
            problems += [f"{planned.place}: {each}" for each in self._problems_of(step_id, planned)]
        for each in _stand_ins(self._returned):
            problems += [f"{self._place}: {text}" for text in self._unknown(each, "the workflow returns")]
        order: list[str] = []
        if not problems:
            edges: dict[str, list[str]] = {step_id: [] for step_id in self._steps}
            for step_id, planned in self._steps.items():
                for before in planned.before():
                    edges[before].append(step_id)
            graph = Graph(edges)
            problems += [
                f"{self._place}: steps wait for each other: {' -> '.join(each)}" for each in graph.cycles()
            ]
            order = graph.topological_order()
        if problems:
            workflow_id = self._options["id"]
            count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
            message = f"the workflow `{workflow_id}` can not be built, {count}: " + "; ".join(problems)
            raise InvalidRequest(message, details=problems)
        return order

    def _problems_of(self, step_id: str, planned: Planned) -> Iterator[str]:
        known = sorted(self._known)
        names = [planned.function, *(each for group in planned.handlers.values() for each in group)]
        for name in names:
            if isinstance(name, str) and name not in self._known:
                what = "function" if name is planned.function else "handler"
                hint = did_you_mean(name, known) or f"registered are {', '.join(known) or 'none'}"
                yield f"the {what} `{name}` of step `{step_id}` is not registered: {hint}"
        for before in planned.after:
            yield from self._unknown(Result(before), f"step `{step_id}` waits for")
        for each in _stand_ins(planned.arguments):
            yield from self._unknown(each, f"step `{step_id}` takes")
        for key in planned.options:
            if key not in OF_A_STEP:
                hint = did_you_mean(key, OF_A_STEP) or f"write one of {', '.join(OF_A_STEP)}"
                yield f"step `{step_id}` has no option `{key}`: {hint}"

    def _unknown(self, each: Given | Result, what: str) -> Iterator[str]:
        if isinstance(each, Result) and each.step_id not in self._steps:
            hint = did_you_mean(each.step_id, self._steps)
            yield f"{what} `{each.step_id}`, which is not a step{f': {hint}' if hint else ''}"
        if isinstance(each, Given) and each.name not in self._params:
            hint = did_you_mean(each.name, self._params)
            yield f"{what} `{each.name}`, which is not a parameter{f': {hint}' if hint else ''}"

    # ---------------------------------------------------------------------------------------------- replaying
    def _replay(self, order: list[str]) -> Callable[..., Any]:
        """The function that an author would have written."""

        def described(**params: Any) -> Any:
            found: dict[str, Any] = {}

            def value(each: Given | Result) -> Any:
                return params[each.name] if isinstance(each, Given) else found[each.step_id]

            for step_id in order:
                found[step_id] = self._call(step_id, self._steps[step_id], found, value)
            return _filled(self._returned, value)

        described.__name__ = str(self._options["id"])
        described.__doc__ = None
        return described

    def _call(
        self, step_id: str, planned: Planned, found: Mapping[str, Any], value: Callable[[Any], Any]
    ) -> Any:
        called = self._function(planned.function).with_options(**planned.options, id=step_id)
        called = called.after(*(found[each] for each in planned.after))
        arguments = _filled(dict(planned.arguments), value)
        trace = required("a builder")
        regions = [node_of(found[each], "a builder").region for each in planned.before()]
        with trace.inside(max(regions, key=lambda region: len(list(region.around())), default=trace.region)):
            if planned.when is None:
                made = called(**arguments)
            else:
                with when(planned.when(Results({each: found[each] for each in planned.before()}))):
                    made = called(**arguments)
        if planned.handlers:
            node = node_of(made, "a handler")
            node.params[CALLBACKS] = map_of(
                {HANDLERS[key]: self._names(each) for key, each in planned.handlers.items()}
            )
        return made

    def _names(self, handlers: Sequence[Any]) -> ParamDefinition:
        """The names of handlers, which the runs of the workflow find them by."""
        functions = [self._function(each).function for each in handlers]
        required("a handler").functions.update(dict.fromkeys(functions))
        names = tuple(each.name.replace("$", "$$") for each in functions)
        return ParamDefinition(type=ParamType.STRING_ARRAY, value=names)

    def _function(self, given: Any) -> StepFunction[..., Any]:
        return self._known[given] if isinstance(given, str) else self._register(given)


def _sequence(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _stand_ins(given: Any) -> Iterator[Given | Result]:
    """All that stands for a value of the run in some data."""
    if isinstance(given, Given | Result):
        yield given
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from _stand_ins(each)
    elif isinstance(given, list | tuple):
        for each in given:
            yield from _stand_ins(each)


def _filled(given: Any, value: Callable[[Any], Any]) -> Any:
    """Data with the values themselves."""
    if isinstance(given, Given | Result):
        return value(given)
    if isinstance(given, Mapping):
        return {key: _filled(each, value) for key, each in given.items()}
    if isinstance(given, list | tuple):
        return [_filled(each, value) for each in given]
    return given
