"""Find what a name refers to.

    in a run    another parameter of the run, else `signal__param`
    in a step   `step__param` or `signal__param`; else the step's own parameter if it is evaluated already,
                or a request overrides it, else the run's, else the step's own; one of the step's own that has
                no result yet is evaluated first. An override that names itself reads the run's.

What must be fetched is found as `Missing`; what nobody has, as UNKNOWN.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from stretto.model.param import ParamDefinition, Parameter
from stretto.model.suggest import did_you_mean
from stretto.params.context import StepFacts
from stretto.params.errors import Fault, ParamError
from stretto.params.modes import OVERRIDES
from stretto.params.references import StepReference, said, split_reference, step_hint
from stretto.params.scope import Bindings, Scope
from stretto.params.values import is_evaluated, is_null, to_sel
from stretto.sel import Missing, SelError


class Need(NamedTuple):
    """The name of a parameter of the same set that must be evaluated first."""

    name: str


class Unknown:
    """There is nothing of that name."""


class Blocked:
    """The parameter of that name itself waits for something."""


UNKNOWN: Final = Unknown()
BLOCKED: Final = Blocked()
Found = Any | Need | Missing | Unknown | Blocked


@dataclass(slots=True)
class Lookup:
    """The names that one set of parameters can see. `results` and `blocked` grow while it is evaluated."""

    params: Mapping[str, ParamDefinition]
    results: Mapping[str, Parameter]
    blocked: set[str]
    scope: Scope

    def find(self, user: str, name: str) -> Found:
        """The value for an expression of what `user` calls `name`."""
        if self.scope.step is None:
            return self._in_run(user, name)
        return self._in_step(user, name, self.scope.step)

    def overrides(self, user: str) -> list[str]:
        """The step's parameters that a request gives: `params` has them instead of the run's of that name."""
        if self.scope.step is None:
            return []
        return [name for name, param in self.params.items() if param.source in OVERRIDES and name != user]

    def everything(self) -> Bindings:
        """All parameters of the run: what `params` means to a step, apart from overrides."""
        if self.scope.step is None:
            return {}
        return {name: _value(param) for name, param in self.scope.workflow.items()}

    # ------------------------------------------------------------------------------------------- scopes
    def _in_run(self, user: str, name: str) -> Found:
        own = self._own(name)
        if own is UNKNOWN and self.scope.separator in name:
            signal, _, param = name.partition(self.scope.separator)
            return self._signal(user, name, StepReference(signal, param))
        return own

    def _in_step(self, user: str, name: str, step: StepFacts) -> Found:
        if self.scope.separator in name:
            return self._elsewhere(user, name, step)
        own = self._own(name)
        workflow = self.scope.workflow
        if isinstance(own, Need | Unknown) and name in workflow and not self._is_overridden(user, name):
            return _value(workflow[name])
        return own

    def _is_overridden(self, user: str, name: str) -> bool:
        param = self.params.get(name)
        return param is not None and param.source in OVERRIDES and name != user

    def _own(self, name: str) -> Found:
        if name in self.blocked:
            return BLOCKED
        if name in self.results:
            return _value(self.results[name])
        param = self.params.get(name)
        if param is None:
            return UNKNOWN
        if isinstance(param, Parameter) and (is_evaluated(param) or is_null(param)):
            return _value(param)
        return Need(name)

    # -------------------------------------------------------------------------------------- step__param
    def _elsewhere(self, user: str, name: str, step: StepFacts) -> Found:
        reference = self._read(user, name, step)
        if isinstance(reference, Missing):
            return reference
        if reference.step_id == step.step_id:
            own = self._own(reference.param)
            if own is UNKNOWN:
                raise _not_found(user, reference, (*step.params, *self.params))
            return own
        other = self.scope.context.step(reference.step_id)
        if other is None:
            return self._signal(user, name, reference)
        return other if isinstance(other, Missing) else _result_in(user, reference, other)

    def _read(self, user: str, name: str, step: StepFacts) -> StepReference | Missing:
        """The reading of `a___b` whose step exists."""
        readings = split_reference(name, self.scope.separator)
        if len(readings) == 1:
            return readings[0]
        known: list[StepReference] = []
        for reading in readings:
            other = None if reading.step_id == step.step_id else self.scope.context.step(reading.step_id)
            if isinstance(other, Missing):
                return other
            if other is not None or reading.step_id == step.step_id:
                known.append(reading)
        if len(known) == 1:
            return known[0]
        why = "both steps exist" if known else "there is neither"
        ids = " and ".join(f"[{reading.step_id}]" for reading in readings)
        message = f"Param [{user}]: the reference [{name}] may mean the steps {ids}, and {why}"
        raise ParamError(Fault.AMBIGUOUS_REFERENCE, user, message)

    def _signal(self, user: str, name: str, reference: StepReference) -> Found:
        try:
            return self.scope.functions.get_from_signal(reference.step_id, reference.param)
        except SelError as error:
            message = f"Failed to evaluate param [{user}]: there is no step or signal for [{name}]: {error}"
            run = self.scope.context.run
            message += said(step_hint(reference.step_id, (*run.step_ids, *run.trigger_signals)))
            raise ParamError(Fault.UNKNOWN_REFERENCE, user, message) from error


def _value(param: Parameter) -> Any:
    return to_sel(param.type, param.evaluated_result)


def _result_in(user: str, reference: StepReference, step: StepFacts) -> Any:
    param = step.params.get(reference.param)
    if param is None:
        raise _not_found(user, reference, step.params)
    if is_null(param):
        return None
    if not isinstance(param, Parameter) or not is_evaluated(param):
        message = (
            f"Param [{user}] refers to [{reference.param}] of step [{reference.step_id}], not evaluated yet"
        )
        raise ParamError(Fault.NOT_EVALUATED, user, message)
    return _value(param)


def _not_found(user: str, reference: StepReference, known: Iterable[str]) -> ParamError:
    message = f"Param [{user}] refers to [{reference.param}], which step [{reference.step_id}] does not have"
    message += said(did_you_mean(reference.param, known))
    return ParamError(Fault.UNKNOWN_REFERENCE, user, message)
