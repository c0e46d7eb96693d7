"""Documents that are too large for their rows, or shared by many.

The row keeps an empty text, and the document is in `large_doc`, under the key of the row. What is there of an
older, larger document of the same row is not looked at, and goes with the row. Parameters that iterations
share are there, too, under the key of the run around them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from stretto.model.param import Parameter
from stretto.store.sql.codec import PARAMS
from stretto.store.sql.database import Transaction
from stretto.store.sql.decoding import decoded
from stretto.store.sql.statement import RUN_KEY, Bulk, Row, Statement, Way, ints, names_of, same, texts

LARGE_KEY: Final = (*RUN_KEY, *texts("part", "step_id"), *ints("attempt_no"))
PUT_LARGE: Final = Bulk(
    way=Way.PUT,
    table="large_doc",
    key=6,
    fields=(*LARGE_KEY, *texts("doc")),
    changes=frozenset({"doc"}),
)
DELETE_LARGE: Final = Bulk(way=Way.DELETE, table="large_doc", key=3, fields=RUN_KEY)
READ_LARGE: Final = Statement(
    lambda d: (
        f"SELECT {names_of(LARGE_KEY, 'large_doc.')}, doc FROM {d.listed('keys', LARGE_KEY)} named "
        f"JOIN large_doc ON {same(LARGE_KEY, 'large_doc', 'named')}"
    )
)
RUN_PARAMS: Final = "run_params"
_WIDTHS: Final = {"run": 3, RUN_PARAMS: 3, "attempt": 5, "run_loop": 5}  # of the keys

LargeKey = tuple[Any, ...]


class Large:
    """Sorts out large documents on their way into the tables."""

    def __init__(self, blob_from: int) -> None:
        self._blob_from = blob_from
        self.rows: dict[LargeKey, str] = {}

    def kept(self, part: str, key: Sequence[Any], doc: str) -> str:
        """What is written into the row itself."""
        if len(doc) < self._blob_from:
            return doc
        self.rows[_large_key(part, key)] = doc
        return ""

    def kept_params(self, key: Sequence[Any], params: str | None) -> str | None:
        """The same of the parameters of a run, if they are written at all."""
        return None if params is None else self.kept(RUN_PARAMS, key, params)

    def share(self, root: Sequence[Any], digest: str, doc: str) -> None:
        """Parameters that many iterations share, beside the run around them."""
        self.rows[base_key(root, digest)] = doc

    def sorted_rows(self) -> list[Row]:
        return [(*key, doc) for key, doc in sorted(self.rows.items())]


def _large_key(part: str, key: Sequence[Any]) -> LargeKey:
    step_id, number = key[3:5] if _WIDTHS[part] == 5 else ("", 0)
    return (*key[:3], part, step_id, number)


async def filled(tx: Transaction, part: str, rows: Iterable[Row]) -> list[Row]:
    """Attempts or loops with their documents, which stand behind the columns of the key."""
    width = _WIDTHS[part]
    found = list(rows)
    empty = {place: _large_key(part, row) for place, row in enumerate(found) if not row[width]}
    docs = await _read(tx, set(empty.values()))
    for place, key in empty.items():
        found[place] = (*found[place][:width], docs[key], *found[place][width + 1 :])
    return found


async def filled_runs(tx: Transaction, rows: Iterable[Row]) -> list[Row]:
    """Runs (the columns of `rows.runs.ROW`) with their documents. In place of the digest of shared parameters
    stand the parameters themselves: they are read once for all iterations that have them.
    """
    found = list(rows)
    odd = [place for place, row in enumerate(found) if not row[3] or row[4] == "" or row[5] is not None]
    wanted: set[LargeKey] = set()
    for row in (found[place] for place in odd):
        wanted.update(key for key in _missing_in(row) if key is not None)
    docs = await _read(tx, wanted)
    shared: dict[LargeKey, Mapping[str, Parameter]] = {}
    for place in odd:
        row = found[place]
        doc, params, base = _missing_in(row)
        own = row[4] if params is None else docs[params]
        if base is not None and base not in shared:
            (shared[base],) = await decoded(tx, [(docs[base],)], lambda row: PARAMS.read(row[0]))
        below = None if base is None else shared[base]
        found[place] = (*row[:3], row[3] if doc is None else docs[doc], own, below, *row[6:])
    return found


def _missing_in(row: Row) -> tuple[LargeKey | None, LargeKey | None, LargeKey | None]:
    """Where the document of a run, its parameters, and what these are over, have to be looked for."""
    return (
        None if row[3] else _large_key("run", row),
        _large_key(RUN_PARAMS, row) if row[4] == "" else None,
        None if row[5] is None else base_key(row[13:16], row[5]),
    )


def base_key(root: Sequence[Any], digest: str) -> LargeKey:
    """Where parameters are that many iterations share."""
    return (*root, digest, "", 0)


async def _read(tx: Transaction, keys: set[LargeKey]) -> dict[LargeKey, str]:
    rows = await tx.all(READ_LARGE, keys=sorted(keys)) if keys else ()
    return {tuple(row[:6]): row[6] for row in rows}
