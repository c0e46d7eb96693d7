"""Evaluate a set of parameters: each after what it refers to, in whatever order they are written.

    evaluate(params, scope)                 -> Evaluated | MissingKeys
    evaluate_one(name, param, scope, ...)   -> Parameter | MissingKeys     a condition, a loop parameter
    evaluate_text(name, text, scope, ...)   -> str | MissingKeys           a timeout, an e-mail address

Promise: no I/O; the same parameters, scope and moment give the same results. Failure: a `ParamError`. What
must be fetched first comes back as `MissingKeys`, all keys of the set at once; names that nothing has are
reported together, too. A moment with a budget makes the evaluation a trial: a parameter that needs more than
its share, and those that read it, are not among the results.
"""

from collections.abc import Callable, Mapping
from typing import Final

from stretto.model.errors import Unprocessable
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.params.compute import compute
from stretto.params.context import MissingKeys
from stretto.params.convert import Converted
from stretto.params.errors import Fault, ParamError, out_of_range, too_expensive
from stretto.params.evaluated import Evaluated
from stretto.params.literals import bare_value
from stretto.params.lookup import BLOCKED, UNKNOWN, Found, Lookup, Need
from stretto.params.prepared import Open, Prepared
from stretto.params.references import ALL_PARAMS, Reference, is_text, references_of, unknown_hint
from stretto.params.requests import DEFAULT_LIMITS, ParamLimits
from stretto.params.scope import Bindings, Scope
from stretto.params.validators import check_value
from stretto.sel import BUDGET, Missing

Definitions = Mapping[str, ParamDefinition]
NO_PARAMS: Final[Definitions] = {}


def evaluate(
    params: Definitions | Prepared, scope: Scope, limits: ParamLimits = DEFAULT_LIMITS
) -> Evaluated | MissingKeys:
    """The parameters with their results, or what must be fetched before they can have them."""
    run, now_millis = scope.context.run, scope.moment.now_millis
    if scope.step is None:
        prepared = params if isinstance(params, Prepared) else Prepared.of_run(params)
        results = Evaluated.of_run(prepared, run, now_millis)
    else:
        prepared = params if isinstance(params, Prepared) else Prepared.of_step(params)
        results = Evaluated.of_step(prepared, run, scope.step, now_millis)
    if prepared.beyond is not None and run.follows_maestro:
        raise out_of_range(*prepared.beyond)
    unsettled = results.unsettled()
    if unsettled:
        evaluation = _Evaluation(prepared.definitions, results, results.put, scope)
        for each in unsettled:
            if not evaluation.is_settled(each.name):
                evaluation.settle(each)
        missing = evaluation.missing()
        if missing is not None:
            return missing
        if evaluation.blocked:
            results = results.without(evaluation.blocked)
    results.check_size(limits.size)
    return results


def evaluate_one(
    name: str, param: ParamDefinition, scope: Scope, params: Definitions = NO_PARAMS
) -> Parameter | MissingKeys:
    """One more parameter, which may refer to a set: a condition, for instance."""
    results: dict[str, Parameter] = {}
    evaluation = _Evaluation(params, results, results.__setitem__, scope)
    evaluation.settle(Open(name, param))
    return evaluation.missing() or results[name]


def evaluate_text(name: str, text: str, scope: Scope, params: Definitions = NO_PARAMS) -> str | MissingKeys:
    """A text field of a definition with its variables replaced; `Unprocessable` if that is not possible."""
    try:
        found = evaluate_one(name, ParamDefinition(type=ParamType.STRING, value=text), scope, params)
    except ParamError as error:
        message = f"Failed to read the field [{name}] of {scope.place}: {error}"
        raise Unprocessable(message, details=error.details) from error
    return found if isinstance(found, MissingKeys) else str(found.evaluated_result)


class _Frame:
    """One parameter on its way: what it still has to look up, and what it has found."""

    __slots__ = ("bindings", "blocked", "name", "param", "references", "unknown")

    def __init__(self, what: Open) -> None:
        self.name, self.param, known = what
        references = references_of(self.name, self.param) if known is None else known
        self.references: list[Reference] = [*reversed(references)]  # the next one is last
        self.bindings: Bindings = {}
        self.unknown: list[str] = []
        self.blocked = False


class _Evaluation:
    """The evaluation of one set. Frames are kept in a list: a long chain of references is no recursion."""

    def __init__(
        self,
        params: Definitions,
        results: Mapping[str, Parameter],
        put: Callable[[str, Parameter], None],
        scope: Scope,
    ) -> None:
        self._params = params
        self._results = results
        self._put = put
        self._scope = scope
        self.blocked: set[str] = set()  # those that wait for a key, or need more than a trial may use
        self._lookup = Lookup(params, results, self.blocked, scope)
        self._keys: dict[object, None] = {}
        self._unknown: list[_Frame] = []

    def settle(self, what: Open) -> None:
        """Evaluate a parameter, and before it whatever it needs."""
        first = _Frame(what)
        if not first.references:
            self._finish(first)
            return
        frames, active = [first], {what.name: None}
        while frames:
            frame = frames[-1]
            need = self._bind(frame)
            if need is None:
                self._finish(frames.pop())
                del active[frame.name]
            elif need in active:
                raise self._cycle([*active], need)
            else:
                active[need] = None
                frames.append(_Frame(Open(need, self._params[need])))

    def is_settled(self, name: str) -> bool:
        """Whether somebody needed the parameter before."""
        return name in self._results or name in self.blocked

    def missing(self) -> MissingKeys | None:
        """What must be fetched; an error if parameters refer to what does not exist."""
        if self._unknown:
            raise self._unknown_names()
        return MissingKeys(tuple(self._keys)) if self._keys else None

    def _bind(self, frame: _Frame) -> str | None:
        """Look up what is left to look up; the name of a parameter that must come first."""
        while frame.references:
            reference = frame.references[-1]
            if reference == ALL_PARAMS:
                need = self._bind_all(frame)
                if need is not None:
                    return need
            else:
                found = self._lookup.find(frame.name, reference.name)
                if isinstance(found, Need):
                    return found.name
                self._note(frame, reference, found)
            frame.references.pop()
        return None

    def _bind_all(self, frame: _Frame) -> str | None:
        """All that `params` means; the name of an override that must come first."""
        for name in self._lookup.overrides(frame.name):
            found = self._lookup.find(frame.name, name)
            if isinstance(found, Need):
                return found.name
            self._note(frame, Reference(name, optional=True), found)
        frame.bindings = {**self._lookup.everything(), **frame.bindings}
        return None

    def _note(self, frame: _Frame, reference: Reference, found: Found) -> None:
        if isinstance(found, Missing):
            self._keys[found.key] = None
            frame.blocked = True
        elif found is BLOCKED:
            frame.blocked = True
        elif found is not UNKNOWN:
            frame.bindings[reference.name] = found
        elif not reference.optional:
            frame.unknown.append(reference.name)

    def _finish(self, frame: _Frame) -> None:
        """Compute the parameter, unless it has to wait or lacks something."""
        if frame.unknown:
            self._unknown.append(frame)
        if not frame.blocked and not frame.unknown:
            try:
                computed = compute(frame.name, frame.param, frame.bindings, self._scope)
                if isinstance(computed, Converted):
                    self._put(frame.name, self._parameter(frame, computed))
                    return
                self._keys[computed.key] = None
            except ParamError as error:
                if error.limit != BUDGET:
                    raise
                budget = self._scope.moment.budget
                if budget is not None and not budget.is_trial:
                    raise too_expensive(frame.name) from error
        self.blocked.add(frame.name)

    def _parameter(self, frame: _Frame, computed: Converted) -> Parameter:
        param = frame.param
        notes = check_value(frame.name, param, computed.value, self._scope.environment)
        return Parameter(
            type=param.type,
            value=bare_value(param),
            expression=param.expression,
            validator=param.validator,
            tags=param.tags,
            mode=param.mode,
            source=param.source,
            meta={**param.meta, **computed.notes, **notes},
            evaluated_result=computed.value,
            evaluated_time=self._scope.moment.now_millis,
        )

    # ------------------------------------------------------------------------------------------ errors
    def _cycle(self, path: list[str], again: str) -> ParamError:
        cycle = [*path[path.index(again) :], again]
        message = (
            f"In {self._scope.place}, param [{again}] contains a cyclic reference chain: {' -> '.join(cycle)}"
        )
        if self._scope.step is not None and len(set(cycle)) == 1:  # it means the run's, and there is none
            hint = unknown_hint(again, in_text=is_text(self._params[again]))
            message = f"{message}: nothing outside of the step has the name [{again}]; {hint}"
        return ParamError(Fault.CYCLE, again, message, details=cycle)

    def _unknown_names(self) -> ParamError:
        lines = [
            f"param [{frame.name}] refers to {', '.join(f'[{name}]' for name in frame.unknown)}"
            for frame in self._unknown
        ]
        first = self._unknown[0]
        kind = None if self._scope.step is None else self._scope.step.type
        hint = unknown_hint(first.unknown[0], in_text=is_text(first.param), step_type=kind)
        message = f"In {self._scope.place}, {'; '.join(lines)}: nothing has that name; {hint}"
        return ParamError(Fault.UNKNOWN_REFERENCE, first.name, message, details=lines)
