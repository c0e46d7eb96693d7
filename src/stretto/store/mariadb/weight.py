"""How much is sent at once: a server reads so many bytes and no more (`max_allowed_packet`)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from stretto.ports.failures import Poison
from stretto.store.sql.lengths import TAG_LENGTH
from stretto.store.sql.statement import TEXT, Bulk, Row

WIDEST: Final = 4  # bytes of a character
VALUE: Final = 20  # bytes of a number, and those that are sent with each text


def length_of(values: Iterable[Any]) -> int:
    """Bytes on their way to the server, or a few more."""
    return sum(
        VALUE + (len(value.encode(errors="replace")) if isinstance(value, str) else 0) for value in values
    )


def most_of(bulk: Bulk, rows: Sequence[Row]) -> int:
    """Bytes that the rows surely do not exceed, found in little time: keys are short, whatever they are."""
    texts = [place for place, field in enumerate(bulk.fields) if field.kind is TEXT]
    keys = sum(place < bulk.key for place in texts)
    long = sum(len(row[place] or "") for place in texts[keys:] for row in rows)
    return WIDEST * (long + TAG_LENGTH * keys * len(rows)) + VALUE * len(bulk.all_fields) * len(rows)


def too_large(values: Iterable[Any], limit: int) -> Poison:
    """The server would not even read it."""
    return Poison(
        f"{length_of(values):,} bytes can not be stored at once: the server takes {limit:,}",
        hint="raise max_allowed_packet on the server",
    )
