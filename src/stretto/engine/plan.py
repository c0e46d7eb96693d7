"""A level of steps, prepared once for all runs that follow it: numbers instead of names, edges both ways."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from stretto.definition.graph import runtime_dag
from stretto.engine.timeouts import is_sure
from stretto.model.step import (
    AnyStep,
    ForeachStep,
    SubworkflowStep,
    TemplateStep,
    Transition,
    TypedStep,
    WhileStep,
)
from stretto.params import Prepared


class Kind(Enum):
    """How a step is carried out."""

    NOTHING = auto()  # NoOp and Join: done as soon as it starts
    SLEEP = auto()  # done when its time has come
    WAIT = auto()  # done when somebody answers
    WORK = auto()  # a runtime does it
    SUBWORKFLOW = auto()  # another run does it
    FOREACH = auto()
    WHILE = auto()
    TEMPLATE = auto()
    UNDO = auto()  # undoes what ran below the step of the same id


_BY_TYPE: Final = {"NoOp": Kind.NOTHING, "Join": Kind.NOTHING, "Sleep": Kind.SLEEP, "Wait": Kind.WAIT}
_BY_RECORD: Final[Mapping[type, Kind]] = {
    SubworkflowStep: Kind.SUBWORKFLOW,
    ForeachStep: Kind.FOREACH,
    WhileStep: Kind.WHILE,
    TemplateStep: Kind.TEMPLATE,
}
LEAVES: Final = frozenset({Kind.NOTHING, Kind.SLEEP, Kind.WAIT, Kind.WORK})  # they do not wait for others
ALWAYS: Final = "true"


def kind_of(step: AnyStep) -> Kind:
    if isinstance(step, TypedStep):
        return _BY_TYPE.get(step.type, Kind.WORK)
    return _BY_RECORD[type(step)]


class Edge(NamedTuple):
    """An edge to a successor; None as condition: always taken."""

    target: int
    condition: str | None


class StepPlan:
    """One step of a level."""

    __slots__ = (
        "_body",
        "all_taken",
        "before",
        "edges",
        "id",
        "index",
        "kind",
        "late_reads",
        "params",
        "plain",
        "step",
        "sure_timeout",
    )

    def __init__(
        self,
        index: int,
        step: AnyStep,
        dag: Transition,
        numbers: Mapping[str, int],
        kind: Kind | None = None,
    ) -> None:
        self._body: Plan | None = None
        self.params: Prepared | None = None  # as the definition alone has them, once they were needed
        self.late_reads: tuple[Any, ...] | None = None  # see the module of that name, once they were needed
        self.index = index
        self.id = step.id
        self.step = step
        self.kind = kind or kind_of(step)
        self.before = len(dag.predecessors)
        self.edges = tuple(
            Edge(numbers[target], None if text.strip() == ALWAYS else text)
            for target, text in dag.successors.items()
        )
        self.all_taken = dict.fromkeys(dag.successors, True)  # shared: nobody changes what a record holds
        self.sure_timeout = is_sure(step.timeout)  # it needs no look at the run: it is fine
        # Nothing to wait for but permits, to evaluate or to do: such a step passes all statuses in one go.
        self.plain = (
            self.kind is Kind.NOTHING
            and not step.params
            and not (isinstance(step, TypedStep) and step.sub_type)  # a job template may bring anything
            and self.sure_timeout
            and step.rate is None
            and not step.signal_dependencies
            and not step.signal_outputs
            and all(edge.condition is None for edge in self.edges)
        )

    @property
    def body(self) -> "Plan":
        """The steps of a loop, prepared once for all its iterations."""
        if self._body is None:
            self._body = Plan(self.step.steps if isinstance(self.step, ForeachStep | WhileStep) else ())
        return self._body


def _has_compensation(step: AnyStep) -> bool:
    return isinstance(step, TypedStep) and step.compensation is not None


class Plan:
    """The steps of a workflow or a loop that take part in a run."""

    __slots__ = (
        "_before",
        "_starts_runs",
        "compensated",
        "flat",
        "given",
        "leaves",
        "numbers",
        "sources",
        "steps",
        "undoes",
    )

    def __init__(
        self,
        steps: Sequence[AnyStep],
        dag: Mapping[str, Transition] | None = None,
        *,
        undoes: Mapping[str, str] | None = None,
    ) -> None:
        """`undoes`: the steps undo others, by id; each begins when the one before it has ended."""
        self.undoes = undoes
        if undoes is not None:
            dag = {step.id: Transition() for step in steps}
        chosen = runtime_dag(steps) if dag is None else dag
        by_id = {step.id: step for step in steps}
        self.numbers: dict[str, int] = {step_id: index for index, step_id in enumerate(chosen)}
        self.steps = tuple(
            StepPlan(index, by_id[step_id], chosen[step_id], self.numbers, self._own_kind(step_id))
            for step_id, index in self.numbers.items()
        )
        sources = tuple(step.index for step in self.steps if not step.before)
        self.sources = sources if undoes is None else sources[:1]
        self.leaves = max(1, sum(step.kind in LEAVES for step in self.steps))  # what an iteration counts
        self.flat = all(step.kind in LEAVES for step in self.steps)
        self.compensated = tuple(step.index for step in self.steps if _has_compensation(step.step))
        self._starts_runs: bool | None = None
        self.given = tuple(steps)  # also those that take no part in this run
        self._before: dict[str, tuple[str, ...]] | None = None

    def _own_kind(self, step_id: str) -> Kind | None:
        """UNDO, if a step stands for what is below the step of the same id; else its record says it."""
        return Kind.UNDO if self.undoes is not None and self.undoes[step_id] == step_id else None

    def predecessors_of(self, step_id: str) -> tuple[str, ...]:
        """The steps right before one, as the definition says; some may not take part in this run."""
        if self._before is None:
            before: dict[str, list[str]] = {}
            for step in self.given:
                for target in step.transition.successors:
                    before.setdefault(target, []).append(step.id)
            self._before = {target: tuple(ids) for target, ids in before.items()}
        return self._before.get(step_id, ())

    @property
    def starts_runs(self) -> bool:
        """Whether a step here, or in a loop inside, may start runs of other workflows."""
        if self._starts_runs is None:
            self._starts_runs = any(
                step.kind in {Kind.SUBWORKFLOW, Kind.TEMPLATE} or step.body.starts_runs for step in self.steps
            )
        return self._starts_runs
