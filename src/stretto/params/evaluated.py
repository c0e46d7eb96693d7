"""The parameters of a run or a step attempt with their results; defaults wait until somebody looks."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.params.context import RunFacts, StepFacts
from stretto.params.defaults.native import (
    BY_NAME,
    EARLIEST_TS,
    INPUTS,
    LATEST_TS,
    STEP_BY_NAME,
    NativeDefault,
    Origin,
)
from stretto.params.sizes import check_size
from stretto.sel import SelError
from stretto.sel.dates.zones import zone

Definitions = Mapping[str, ParamDefinition]

NATIVE_SIZE: Final = 600  # bytes of JSON that a native default has at most
NONE_NATIVE: Final[Mapping[str, NativeDefault]] = {}
NONE_GIVEN: Final[Definitions] = {}


class Evaluated(Mapping[str, Parameter]):
    """Parameters by name, in the order of the merge. A native default that nobody reads is never computed."""

    __slots__ = ("_definitions", "_native", "_origin", "_results", "_time")

    def __init__(
        self,
        definitions: Definitions,
        time: int,
        native: Mapping[str, NativeDefault] = NONE_NATIVE,
        origin: Origin | None = None,
    ) -> None:
        self._definitions = definitions
        self._results: dict[str, Parameter] = {}
        self._time = time
        self._native = native
        self._origin = origin

    @classmethod
    def of_run(cls, definitions: Definitions, run: RunFacts, now_millis: int) -> "Evaluated":
        """A run's parameters before evaluation, of which the untouched defaults have their result."""
        origin = Origin(run, now_millis)
        native = _untouched(definitions, BY_NAME)
        changed = _changed_inputs(INPUTS - native.keys(), definitions, origin)
        if changed:
            native = {name: row for name, row in native.items() if not row.inputs & changed}
        return cls(definitions, now_millis, native, origin)

    @classmethod
    def of_step(
        cls, definitions: Definitions, run: RunFacts, step: StepFacts, now_millis: int
    ) -> "Evaluated":
        """A step's parameters before evaluation, of which the facts about it have their result."""
        # Its parameters may lead back to the run that keeps this, and then nobody would ever let go of it.
        bare = step if type(step.params) is dict else replace(step, params=NONE_GIVEN)
        origin = Origin(run, now_millis, bare)
        facts = _untouched(definitions, STEP_BY_NAME)
        known = {name: row for name, row in facts.items() if row.native(origin) is not None}
        return cls(definitions, now_millis, known, origin)

    def __getitem__(self, name: str) -> Parameter:
        found = self._results.get(name)
        return self._computed(name) if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._results or name in self._native

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def unsettled(self) -> list[tuple[str, ParamDefinition]]:
        """The parameters that have no result yet and are no native defaults."""
        native, results = self._native, self._results
        return [
            (name, param)
            for name, param in self._definitions.items()
            if name not in native and name not in results
        ]

    @property
    def waiting(self) -> frozenset[str]:
        """The defaults that nobody has looked at yet."""
        return frozenset(self._native.keys() - self._results.keys())

    def put(self, name: str, param: Parameter) -> None:
        """Add a result. Only the evaluation that builds the set does this."""
        self._results[name] = param

    def check_size(self, limit: int) -> None:
        """Refuse a set that is too large to be stored; defaults that wait count with their upper bound."""
        check_size(self._results, limit, reserve=NATIVE_SIZE * (len(self) - len(self._results)))

    def _computed(self, name: str) -> Parameter:
        row, definition = self._native[name], self._definitions[name]
        assert self._origin is not None  # noqa: S101 - only a set with an origin has native defaults
        computed = Parameter(
            type=row.type,
            expression=definition.expression,
            tags=definition.tags,
            mode=definition.mode,
            source=definition.source,
            evaluated_result=row.native(self._origin),
            evaluated_time=self._time,
        )
        self._results[name] = computed
        return computed


def _untouched(definitions: Definitions, rows: Mapping[str, NativeDefault]) -> dict[str, NativeDefault]:
    """The defaults that nobody changed and that have no result yet."""
    return {
        name: row
        for name, row in rows.items()
        if type(found := definitions.get(name)) is ParamDefinition
        and found.expression == row.expression
        and found.validator is None
    }


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
