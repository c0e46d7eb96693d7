"""The parameters of a run or a step attempt with their results; some wait until somebody looks."""

from collections.abc import ItemsView, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.params.context import RunFacts, StepFacts
from stretto.params.defaults.native import EARLIEST_TS, INPUTS, LATEST_TS, NativeDefault, Origin
from stretto.params.prepared import NATIVE_SIZE, Definitions, Open, Prepared
from stretto.params.requests import check_size, rough_size
from stretto.sel import SelError
from stretto.sel.dates.zones import zone

NO_RESULTS: Final[Mapping[str, Parameter]] = {}


class Evaluated(Mapping[str, Parameter]):
    """Parameters by name, in the order of the merge. A native default that nobody reads is never computed,
    and a literal becomes a record only if somebody reads it.
    """

    __slots__ = ("_native", "_origin", "_prepared", "_results", "_time", "size")

    def __init__(
        self,
        prepared: Prepared,
        time: int,
        native: Mapping[str, NativeDefault],
        origin: Origin,
        results: Mapping[str, Parameter] = NO_RESULTS,
    ) -> None:
        self._prepared = prepared
        self._results = {**prepared.given, **results}
        self._time = time
        self._native = native
        self._origin = origin
        self.size = 0  # at most so many bytes as JSON, once it was checked

    @classmethod
    def of_run(cls, prepared: Prepared, run: RunFacts, now_millis: int) -> "Evaluated":
        """A run's parameters before evaluation, of which the untouched defaults have their result."""
        origin = Origin(run, now_millis)
        native: Mapping[str, NativeDefault] = prepared.native
        changed = _changed_inputs(INPUTS - native.keys(), prepared.definitions, origin)
        if changed:
            native = {name: row for name, row in native.items() if not row.inputs & changed}
        return cls(prepared, now_millis, native, origin)

    @classmethod
    def of_step(cls, prepared: Prepared, run: RunFacts, step: StepFacts, now_millis: int) -> "Evaluated":
        """A step's parameters before evaluation, of which the facts about it have their result."""
        origin = Origin(run, now_millis, step)
        native: Mapping[str, NativeDefault] = prepared.native
        if run.instance_id is None or step.step_attempt_id is None or step.uuid is None:
            native = {name: row for name, row in native.items() if row.native(origin) is not None}
        return cls(prepared, now_millis, native, origin)

    def __getitem__(self, name: str) -> Parameter:
        found = self._results.get(name)
        return self._computed(name) if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._results or name in self._prepared.literals or name in self._native

    def __iter__(self) -> Iterator[str]:
        return iter(self._prepared.definitions)

    def __len__(self) -> int:
        return len(self._prepared.definitions)

    def items(self) -> ItemsView[str, Parameter]:
        """All of them, in one go."""
        return {name: self[name] for name in self._prepared.definitions}.items()

    def unsettled(self) -> list[Open]:
        """The parameters that must be evaluated: also defaults that do not follow from facts here."""
        prepared, native = self._prepared, self._native
        if len(native) == len(prepared.native):
            return prepared.open
        left = {each.name: each for each in prepared.open}
        for name in prepared.native.keys() - native.keys():
            left[name] = Open(name, prepared.definitions[name])
        return [left[name] for name in prepared.definitions if name in left]

    @property
    def waiting(self) -> frozenset[str]:
        """The defaults that nobody has looked at yet."""
        return frozenset(self._native.keys() - self._results.keys())

    def put(self, name: str, param: Parameter) -> None:
        """Add a result. Only the evaluation that builds the set does this."""
        self._results[name] = param

    def changed(self, results: Mapping[str, Parameter]) -> "Evaluated":
        """The same set, with other results for some of its parameters."""
        return Evaluated(self._prepared, self._time, self._native, self._origin, {**self._results, **results})

    def without(self, names: AbstractSet[str]) -> "Evaluated":
        """The same set, less some parameters that have no result."""
        before = self._prepared
        kept = {name: param for name, param in before.definitions.items() if name not in names}
        return Evaluated(Prepared(kept, before.native), self._time, self._native, self._origin, self._results)

    def check_size(self, limit: int) -> None:
        """Refuse a set that is too large to be stored; defaults that wait count with their upper bound."""
        prepared, results = self._prepared, self._results
        self.size = prepared.size + rough_size(results)
        if self.size <= limit:
            return
        reserve = NATIVE_SIZE * len(self._native.keys() - results.keys())
        check_size({**{name: self[name] for name in prepared.literals}, **results}, limit, reserve=reserve)

    def _computed(self, name: str) -> Parameter:
        literal = self._prepared.literals.get(name)
        if literal is not None:
            computed = msgspec.structs.replace(literal, evaluated_time=self._time)
        else:
            computed = self._fact(self._native[name], self._prepared.definitions[name])
        self._results[name] = computed
        return computed

    def _fact(self, row: NativeDefault, definition: ParamDefinition) -> Parameter:
        return Parameter(
            type=row.type,
            expression=definition.expression,
            tags=definition.tags,
            mode=definition.mode,
            source=definition.source,
            evaluated_result=row.native(self._origin),
            evaluated_time=self._time,
        )


def _changed_inputs(touched: frozenset[str], definitions: Definitions, origin: Origin) -> frozenset[str]:
    """The inputs that native functions can not work with: changed by somebody, or beyond their range."""
    changed = set(touched)
    given = definitions.get("RUN_TS")
    if given is not None and given.type is ParamType.LONG and given.value is not None:
        origin.run_ts = given.value
        changed.discard("RUN_TS")
    if not EARLIEST_TS <= origin.run_ts <= LATEST_TS:
        changed.add("RUN_TS")
    if not _is_zone(origin.cron_zone):
        changed.add("WORKFLOW_CRON_TIMEZONE")
    return frozenset(changed)


def _is_zone(name: str) -> bool:
    try:
        zone(name)
    except SelError:
        return False
    return True
