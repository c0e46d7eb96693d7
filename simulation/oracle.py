"""A slow and obvious interpreter: which ends the rules allow for a definition and a script of the outside.

It knows no time, no events and no nodes. Where only timing decides (a timeout of work that would have ended,
a step that is stopped because another failed), it allows each end that some timing could bring about: it
names sets, and what it names alone must come. It says nothing of what users may do to a run, and nothing of
levels in which a step goes back to an earlier one.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Final

import msgspec

from simulation.authors import BROKEN, LOCAL, MISSING, OUTSIDE, UNKNOWN
from simulation.plays import Play, Says, Script
from simulation.policies import NEEDS_A_VALUE, NO_SIGNAL, UNDECIDABLE
from stretto.model.properties import RunStrategyRule
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import (
    AnyStep,
    FailureMode,
    ForeachStep,
    SubworkflowStep,
    TemplateStep,
    TypedStep,
    WhileStep,
)
from stretto.model.workflow import Definition

S, R = StepStatus, RunStatus
Ends = frozenset[StepStatus]
Values = frozenset[int]

DONE: Final = S.SUCCEEDED
ANYTHING: Final = frozenset(status for status in S if status.is_terminal or status is S.NOT_CREATED)
SEVERITY: Final = (R.SUCCEEDED, R.STOPPED, R.TIMED_OUT, R.FAILED)
WEIGHT: Final[Mapping[StepStatus, RunStatus]] = {
    S.STOPPED: R.STOPPED,
    S.TIMED_OUT: R.TIMED_OUT,
    S.FATALLY_FAILED: R.FAILED,
    S.INTERNALLY_FAILED: R.FAILED,
}
STEP_OF: Final[Mapping[RunStatus, StepStatus]] = {
    R.SUCCEEDED: DONE,
    R.STOPPED: S.STOPPED,
    R.TIMED_OUT: S.TIMED_OUT,
    R.FAILED: S.FATALLY_FAILED,
}
REPLACING: Final = frozenset(
    {RunStrategyRule.FIRST_ONLY, RunStrategyRule.LAST_ONLY, RunStrategyRule.SERIAL_LATEST_ONLY}
)


class Allowed(msgspec.Struct, frozen=True):
    """What may become of the steps of a level, and of the run that they make up."""

    steps: Mapping[str, Ends]
    runs: frozenset[RunStatus]
    values: Mapping[str, Values] = {}  # of the parameter `n`, once a step is complete


class Oracle:
    """Knows all definitions of a world, and the script."""

    def __init__(
        self, definitions: Iterable[Definition], script: Script, *, may_lack_functions: bool = False
    ) -> None:
        self._definitions = {each.workflow.id: each for each in definitions}
        self._script = script
        self._may_lack_functions = may_lack_functions  # for longer than a step waits for them

    def run(self, workflow_id: str, *, has_parent: bool) -> Allowed:
        """A fresh run. One that a step waits for may be stopped with that step."""
        definition = self._definitions[workflow_id]
        maestro = definition.workflow.follows_maestro
        found = self.level(definition.workflow.steps, 1, maestro=maestro)
        cuts: set[StepStatus] = set()
        if definition.workflow.timeout is not None:
            cuts.add(S.TIMED_OUT)
        if has_parent or self._is_replaced(definition):
            cuts.add(S.STOPPED)
        return cut(found, cuts, maestro=maestro)

    def iteration(self, workflow_id: str, steps: Sequence[AnyStep], number: int) -> Allowed:
        """An iteration of a loop: whatever cuts the run around it short cuts it, too."""
        maestro = self._definitions[workflow_id].workflow.follows_maestro
        return cut(self.level(steps, number, maestro=maestro), {S.STOPPED, S.TIMED_OUT}, maestro=maestro)

    @staticmethod
    def _is_replaced(definition: Definition) -> bool:
        strategy = definition.properties.run_strategy if definition.properties is not None else None
        return strategy is not None and strategy.rule in REPLACING

    # ----------------------------------------------------------------------------------------------- levels
    def level(self, steps: Sequence[AnyStep], iteration: int, *, maestro: bool) -> Allowed:
        """The steps of a level in the order of their edges: definitions list them so.

        `maestro`: whether the run that the level is part of follows Maestro.
        """
        ends: dict[str, Ends] = {}
        values: dict[str, Values] = {}
        edges: dict[tuple[str, str], frozenset[bool]] = {}
        if any(self._goes_back(each, iteration) for each in steps):
            return Allowed({each.id: ANYTHING for each in steps}, frozenset(SEVERITY))
        for each in steps:
            before = [other.id for other in steps if each.id in other.transition.successors]
            found: set[StepStatus] = set()
            if any(not status.is_complete for other in before for status in ends[other]):
                found.add(S.NOT_CREATED)
            if all(any(status.is_complete for status in ends[other]) for other in before):
                into = [edges[other, each.id] for other in before]
                if not before or any(True in taken for taken in into):
                    own, values[each.id] = self._ends(each, iteration, values, maestro=maestro)
                    found |= own
                if before and all(False in taken for taken in into):
                    found.add(S.UNSATISFIED)
            ends[each.id] = frozenset(found)
            for target, condition in each.transition.successors.items():
                edges[each.id, target] = _taken(condition, ends[each.id], values.get(each.id, frozenset()))
        ends = _stopped_by_others(steps, ends, maestro=maestro)
        return Allowed(ends, worst(ends.values(), maestro=maestro), values)

    def _goes_back(self, step: AnyStep, iteration: int) -> bool:
        return any(
            self._script.play(step.id, iteration, number).redirect is not None for number in range(1, 5)
        )

    def _ends(
        self, step: AnyStep, iteration: int, values: Mapping[str, Values], *, maestro: bool
    ) -> tuple[set[StepStatus], Values]:
        """How a step may end that has begun, and the values that its `n` may have then."""
        base = _first_values(step, values)
        if BROKEN in (step.params or {}).values():
            return {_without_params(step, maestro=maestro)}, base
        if isinstance(step, TypedStep) and step.type in {LOCAL, OUTSIDE}:
            return self._work(step, iteration, base, maestro=maestro)
        if isinstance(step, TypedStep):
            return self._plain(step), base
        found: set[StepStatus]
        match step:
            case ForeachStep():
                found = self._foreach(step, maestro=maestro)
            case WhileStep():
                found = self._while(step, maestro=maestro)
            case SubworkflowStep():
                found = self._subworkflow(step)
            case TemplateStep():
                template = self._definitions[str(step.sub_type)].workflow
                runs = self.level(template.steps, 1, maestro=maestro).runs
                found = {STEP_OF[status] for status in runs}
        if step.timeout is not None:
            found.add(S.TIMED_OUT)
        return {_as_mode_says(step, status, maestro=maestro) for status in found}, base

    def _plain(self, step: TypedStep) -> set[StepStatus]:
        refused = step.type == "Wait" and not self._script.approved[step.id]
        failed = refused or step.type == UNKNOWN
        return {_as_mode_says(step, S.FATALLY_FAILED, maestro=True) if failed else DONE}

    # ------------------------------------------------------------------------------------------------ work
    def _work(
        self, step: TypedStep, iteration: int, base: Values, *, maestro: bool
    ) -> tuple[set[StepStatus], Values]:
        """Every way through the attempts of a step, as far as its budgets go."""
        found: set[StepStatus] = set()
        values: set[int] = set()
        todo = [(1, 0, 0, 0)]  # attempt, and how many retries of each class were used
        policy = step.retry_policy
        assert policy is not None  # authors give every work one
        while todo:
            number, user, platform, timeout = todo.pop()
            play = self._script.play(step.id, iteration, number)
            for end in self._answers(step, play, maestro=maestro):
                if end is S.USER_FAILED and user < int(policy.error_retry_limit or 0):
                    todo.append((number + 1, user + 1, platform, timeout))
                elif end is S.PLATFORM_FAILED and platform < int(policy.platform_retry_limit or 0):
                    todo.append((number + 1, user, platform + 1, timeout))
                elif end is S.TIMEOUT_FAILED and timeout < int(policy.timeout_retry_limit or 0):
                    todo.append((number + 1, user, platform, timeout + 1))
                else:
                    found.add(_behind_the_work(step, _for_good(end), maestro=maestro))
                    values |= {play.n} if end is DONE and play.n is not None else base
        return found, frozenset(values)

    def _answers(self, step: TypedStep, play: Play, *, maestro: bool) -> set[StepStatus]:
        """How one attempt may end, before its retries are looked at."""
        found = set() if play.says is Says.NEVER else {_SAYS[play.says]}
        if play.added and play.says is Says.DONE:
            found = self._batch(play, maestro=maestro)
        if step.timeout is not None:
            found.add(S.TIMEOUT_FAILED)
        if self._may_lack_functions and step.type == LOCAL:
            found.add(S.FATALLY_FAILED)
        return found

    def _batch(self, play: Play, *, maestro: bool) -> set[StepStatus]:
        """Steps that the work has added: how many of them may fail is its tolerance."""
        below = self.level(play.added, 1, maestro=maestro)
        found = {STEP_OF[status] for status in below.runs & {R.STOPPED, R.TIMED_OUT}}
        for combination in product(*below.steps.values()):
            failed = sum(status not in _GOOD for status in combination)
            good = failed <= play.tolerance * len(play.added)
            found.add(DONE if good else S.FATALLY_FAILED)
        return found

    # --------------------------------------------------------------------------------------------- nesting
    def _foreach(self, step: ForeachStep, *, maestro: bool) -> set[StepStatus]:
        loop = (step.params or {})["loop_params"].value
        total = 1
        for each in loop.values():
            total *= len(each.value)
        found = {R.SUCCEEDED}
        for number in range(1, total + 1):
            one = self.level(step.steps, number, maestro=maestro).runs
            found = {max(pair, key=SEVERITY.index) for pair in product(found, one)}
        return {STEP_OF[status] for status in found}

    def _while(self, step: WhileStep, *, maestro: bool) -> set[StepStatus]:
        rounds = int(step.condition.rpartition(" ")[2])
        found: set[StepStatus] = set()
        for number in range(1, rounds + 1):
            if step.max_iterations is not None and number > step.max_iterations:
                return {*found, S.FATALLY_FAILED}
            runs = self.level(step.steps, number, maestro=maestro).runs
            found |= {STEP_OF[status] for status in runs - {R.SUCCEEDED}}
            if R.SUCCEEDED not in runs:
                return found
        return {*found, DONE}

    def _subworkflow(self, step: SubworkflowStep) -> set[StepStatus]:
        child = str((step.params or {})["subworkflow_id"].value)
        if child == MISSING:
            return {S.FATALLY_FAILED}
        if not step.sync:
            return {DONE}
        runs = self.run(child, has_parent=False).runs
        return {STEP_OF[status] for status in runs}


_SAYS: Final[Mapping[Says, StepStatus]] = {
    Says.DONE: DONE,
    Says.USER_ERROR: S.USER_FAILED,
    Says.PLATFORM_ERROR: S.PLATFORM_FAILED,
    Says.RAISES: S.PLATFORM_FAILED,
    Says.NONSENSE: S.PLATFORM_FAILED,
    Says.FATAL_ERROR: S.FATALLY_FAILED,
    Says.STOPPED: S.STOPPED,
    Says.TIMED_OUT: S.TIMED_OUT,
}
_FAILED_IN_MAESTRO: Final = frozenset({S.FATALLY_FAILED})
_FAILED: Final = frozenset({S.FATALLY_FAILED, S.TIMED_OUT, S.INTERNALLY_FAILED})
_ON_VALUES: Final = frozenset({"n > 2", "n <= 2"})
_GOOD: Final = frozenset({S.SUCCEEDED, S.SKIPPED, S.UNSATISFIED, S.DISABLED})


def _for_good(end: StepStatus) -> StepStatus:
    """What a failure is for which no try is left."""
    if end is S.TIMEOUT_FAILED:
        return S.TIMED_OUT
    return S.FATALLY_FAILED if end in {S.USER_FAILED, S.PLATFORM_FAILED} else end


def _as_mode_says(step: AnyStep, end: StepStatus, *, maestro: bool) -> StepStatus:
    """In Maestro a failure mode is for steps that fail, elsewhere also for those that time out."""
    failed = _FAILED_IN_MAESTRO if maestro else _FAILED
    ignored = step.failure_mode is FailureMode.IGNORE_FAILURE and end in failed
    return S.COMPLETED_WITH_ERROR if ignored else end


def _behind_the_work(step: AnyStep, end: StepStatus, *, maestro: bool) -> StepStatus:
    """What signals and edges make of an end that the work has come to. Outside of Maestro an expression that
    can not be evaluated is the fault of whoever wrote it.
    """
    broken = S.INTERNALLY_FAILED if maestro else S.FATALLY_FAILED
    if end is DONE and NO_SIGNAL in (step.signal_outputs or ()):
        end = broken
    end = _as_mode_says(step, end, maestro=maestro)
    undecidable = end.is_complete and UNDECIDABLE in step.transition.successors.values()
    return broken if undecidable else end


def _without_params(step: AnyStep, *, maestro: bool) -> StepStatus:
    """The end of a step whose parameters have no values. A condition that reads one can not be decided."""
    end = S.INTERNALLY_FAILED if maestro else S.FATALLY_FAILED
    if any(condition in _ON_VALUES for condition in step.transition.successors.values()):
        return end
    return _as_mode_says(step, end, maestro=maestro)


def _first_values(step: AnyStep, values: Mapping[str, Values]) -> Values:
    """What `n` may be before the work says otherwise: a literal, or one more than that of another step."""
    param = (step.params or {}).get("n")
    if param is None:
        return frozenset()
    if param.expression is None:
        return frozenset({int(param.value)})
    return frozenset(value + 1 for value in values[param.expression.partition("__")[0]])


def _taken(condition: str, ends: Ends, values: Values) -> frozenset[bool]:
    """Whether an edge may be taken, and whether it may not, once its step is complete."""
    found: set[bool] = set()
    if S.UNSATISFIED in ends:
        found.add(False)
    if any(status.is_complete and status is not S.UNSATISFIED for status in ends):
        if condition in {"true", NEEDS_A_VALUE}:
            found.add(True)
        elif condition == "1 > 2":
            found.add(False)
        else:
            found |= {(value > 2) is (condition == "n > 2") for value in values}
    return frozenset(found)


def _stopped_by_others(
    steps: Sequence[AnyStep], ends: Mapping[str, Ends], *, maestro: bool
) -> dict[str, Ends]:
    """A step that fails at once stops every other that is not before it, however far that one is."""
    widened = dict(ends)
    failed = _FAILED_IN_MAESTRO if maestro else _FAILED
    for step in steps:
        if step.failure_mode is FailureMode.FAIL_IMMEDIATELY and not failed.isdisjoint(ends[step.id]):
            spared = {step.id, *_before(steps, step.id)}
            for other in steps:
                if other.id not in spared:
                    late = {_as_mode_says(other, S.TIMED_OUT, maestro=maestro)} if other.timeout else set()
                    widened[other.id] = widened[other.id] | {S.STOPPED, S.NOT_CREATED} | late
    return widened


def _before(steps: Sequence[AnyStep], step_id: str) -> set[str]:
    """All steps from which there is a way to this one."""
    found: set[str] = set()
    todo = [step_id]
    while todo:
        target = todo.pop()
        new = {each.id for each in steps if target in each.transition.successors} - found
        found |= new
        todo += new
    return found


def worst(ends: Iterable[Ends], *, maestro: bool) -> frozenset[RunStatus]:
    """How a run may end whose steps may end so: it is as bad as the worst of them."""
    found = {R.SUCCEEDED}
    for each in ends:
        weights = {_weight(status, maestro=maestro) for status in each}
        found = {max(pair, key=SEVERITY.index) for pair in product(found, weights)}
    return frozenset(found)


def _weight(status: StepStatus, *, maestro: bool) -> RunStatus:
    """What a step makes of its run. Outside of Maestro one that timed out has failed."""
    weight = WEIGHT.get(status, R.SUCCEEDED)
    return R.FAILED if weight is R.TIMED_OUT and not maestro else weight


def cut(found: Allowed, cuts: set[StepStatus], *, maestro: bool) -> Allowed:
    """The same, if the run may be ended from outside in one of these ways at any moment."""
    runs = set(found.runs)
    for each in cuts:
        ends = [own | {each, S.NOT_CREATED} for own in found.steps.values()]
        # If the run times out, its steps time out with it: that is no failure of theirs.
        weighed = worst(ends, maestro=maestro or each is S.TIMED_OUT)
        runs |= {WEIGHT[each], *weighed} - {R.SUCCEEDED}  # who was cut short has not succeeded
    steps = (
        {name: ends | cuts | {S.NOT_CREATED} for name, ends in found.steps.items()} if cuts else found.steps
    )
    return Allowed(steps, frozenset(runs), found.values)
