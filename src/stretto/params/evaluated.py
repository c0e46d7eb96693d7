"""The parameters of a run or a step attempt with their results; default dates wait until somebody looks."""

from collections.abc import Iterator, Mapping
from typing import Final

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.params.context import RunFacts
from stretto.params.defaults.dates import BY_NAME, EARLIEST_TS, LATEST_TS, DateDefault, Origin
from stretto.params.sizes import check_size
from stretto.sel import SelError
from stretto.sel.dates.zones import zone

Definitions = Mapping[str, ParamDefinition]

INPUTS: Final[frozenset[str]] = frozenset().union(*(row.inputs for row in BY_NAME.values()))
DATE_SIZE: Final = 600  # bytes of JSON that a default date has at most


class Evaluated(Mapping[str, Parameter]):
    """Parameters by name, in the order of the merge. A default date that nobody reads is never computed."""

    __slots__ = ("_dates", "_definitions", "_origin", "_results", "_time")

    def __init__(
        self,
        definitions: Definitions,
        time: int,
        dates: Mapping[str, DateDefault] | None = None,
        origin: Origin | None = None,
    ) -> None:
        self._definitions = definitions
        self._results: dict[str, Parameter] = {}
        self._time = time
        self._dates = dates or {}
        self._origin = origin

    @classmethod
    def of_run(cls, definitions: Definitions, run: RunFacts, now_millis: int) -> "Evaluated":
        """A run's parameters before evaluation, of which default dates have (natively) their result."""
        origin, changed = _origin_of(definitions, run, now_millis)
        dates = {
            name: row
            for name, row in BY_NAME.items()
            if _is_untouched(definitions.get(name), row) and not row.inputs & changed
        }
        return cls(definitions, now_millis, dates, origin)

    def __getitem__(self, name: str) -> Parameter:
        found = self._results.get(name)
        return self._computed(name) if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._results or name in self._dates

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    @property
    def waiting(self) -> frozenset[str]:
        """The default dates that nobody has looked at yet."""
        return self._dates.keys() - self._results.keys()

    def put(self, name: str, param: Parameter) -> None:
        """Add a result. Only the evaluation that builds the set does this."""
        self._results[name] = param

    def check_size(self, limit: int) -> None:
        """Refuse a set that is too large to be stored; dates that wait count with their upper bound."""
        check_size(self._results, limit, reserve=DATE_SIZE * len(self.waiting))

    def _computed(self, name: str) -> Parameter:
        definition, row = self._definitions[name], self._dates[name]
        assert self._origin is not None  # noqa: S101 - there are dates only with an origin
        result = Parameter(
            type=row.type,
            expression=definition.expression,
            tags=definition.tags,
            mode=definition.mode,
            source=definition.source,
            evaluated_result=row.native(self._origin),
            evaluated_time=self._time,
        )
        self._results[name] = result
        return result


def _origin_of(definitions: Definitions, run: RunFacts, now_millis: int) -> tuple[Origin, set[str]]:
    """What the dates follow from, and which of their inputs are no longer what they are by default."""
    default_zone = run.first_trigger_timezone or "UTC"
    origin = Origin(now_millis, run.initiator_timezone or default_zone, default_zone)
    changed = {name for name in INPUTS if not _is_untouched(definitions.get(name), BY_NAME[name])}
    if "RUN_TS" in changed:
        given = definitions.get("RUN_TS")
        if given is not None and given.type is ParamType.LONG and given.value is not None:
            origin.run_ts = given.value
            changed.remove("RUN_TS")
    if not EARLIEST_TS <= origin.run_ts <= LATEST_TS:
        changed.add("RUN_TS")
    if not _is_zone(origin.cron_zone):
        changed.add("WORKFLOW_CRON_TIMEZONE")
    return origin, changed


def _is_untouched(definition: ParamDefinition | None, row: DateDefault) -> bool:
    return definition is not None and definition.expression == row.expression and definition.type is row.type


def _is_zone(name: str) -> bool:
    try:
        zone(name)
    except SelError:
        return False
    return True
