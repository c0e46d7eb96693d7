"""Parameters of runs, apart from the rest of their records.

They are most of a record, and change seldom: a commit writes them only where they are news. It knows by their
identity, because containers inside a record are replaced, never changed: what was loaded or committed last
for a run is what its row says, as nobody else writes there meanwhile.

The parameters of an iteration are few of its own over those of the run around it, the same for all of them.
These (`base`) are kept once beside the run, by the digest of their text.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from stretto.engine.records import RunKey, RunRecord
from stretto.model.param import Parameter
from stretto.store.sql.codec import EVALUATED, OWN_PARAMS, PARAMS
from stretto.store.sql.lengths import digest_of

K = TypeVar("K")
V = TypeVar("V")

MOST_RUNS: Final = 4_096  # whose parameters are remembered
MOST_BASES: Final = 256


class Base(NamedTuple):
    """Parameters that many iterations share."""

    params: Mapping[str, Parameter]
    digest: str
    text: str


class Written(NamedTuple):
    """What is written of a run's parameters: none of it, if all are None."""

    own: str | None = None
    base: Base | None = None


class Recent(OrderedDict[K, V], Generic[K, V]):
    """The newest entries, and no more."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def note(self, key: K, value: V) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


class KnownParams:
    """What the rows of runs say, as far as it is remembered."""

    def __init__(self) -> None:
        self._runs: Recent[RunKey, object] = Recent(MOST_RUNS)
        self._bases: Recent[int, Base] = Recent(MOST_BASES)
        self._kept: Recent[tuple[RunKey, str], None] = Recent(MOST_RUNS)

    def stored(self, records: Iterable[RunRecord]) -> None:
        """The rows of these runs say what their records do."""
        for record in records:
            if record.status.is_terminal:
                self._runs.pop(record.key, None)
            else:
                self._runs.note(record.key, record.params)

    def kept(self, root: RunKey, base: Base) -> None:
        """A base is kept beside a run."""
        self._kept.note((root, base.digest), None)

    def is_kept(self, root: RunKey, base: Base) -> bool:
        return (root, base.digest) in self._kept

    def written(self, record: RunRecord, *, iteration: bool) -> Written:
        """What is news about the parameters of a run."""
        if self._runs.get(record.key) is record.params:
            return Written()
        own, base = _layers(record.params) if iteration else ({}, None)
        if base is None or EVALUATED in own:
            return Written(PARAMS.write(record.params))
        return Written(OWN_PARAMS.write(own), self._base(base))

    def _base(self, params: Mapping[str, Parameter]) -> Base:
        """The object is held here, so that its identity is not given to another one."""
        known = self._bases.get(id(params))
        if known is None:
            text = PARAMS.write(params)
            known = Base(params, digest_of(text), text)
        self._bases.note(id(params), known)
        return known


def _layers(params: Any) -> tuple[dict[str, Parameter], Mapping[str, Parameter] | None]:
    """An iteration's own parameters, of all loops around it, and those of the run at the bottom."""
    own: dict[str, Parameter] = {}
    while hasattr(params, "_base"):
        own = {**params._own, **own}  # noqa: SLF001 - the layers have no other names
        params = params._base  # noqa: SLF001
    return own, params if own else None
