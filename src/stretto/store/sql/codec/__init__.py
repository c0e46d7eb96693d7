"""Records <-> JSON text in rows: what is read equals what was written.

    ATTEMPT.write(record) -> text          Poison, if the text could not be stored everywhere
    ATTEMPT.read(text) -> record

msgspec does the work. Before it, one pass puts what JSON has no word for (exact decimals, tuples in open
values, maps with odd keys, free artifacts) into words of our own: objects with one key that begins with `~`.
Most records have nothing of that, and are written as they are.
"""

from stretto.store.sql.codec.brief import EVALUATED
from stretto.store.sql.codec.document import BLOB_FROM, MOST_CHARACTERS, Document
from stretto.store.sql.codec.documents import (
    ATTEMPT,
    BODIES,
    BREAKPOINT,
    BULK_ITEM,
    BULK_JOB,
    COUNTS,
    EVENTS,
    FUNCTION,
    FUNCTION_NAMES,
    GRANTS,
    LOOP,
    MATCH_PARAMS,
    OUTCOME,
    OWN_PARAMS,
    PARAMS,
    PROPERTIES,
    RUN,
    SEQS,
    SIGNAL,
    SIGNAL_TRIGGER,
    SUMMARY,
    SUSPICION,
    TAG,
    TEMPLATE,
    TIME_TRIGGER,
    USER,
    VERSION,
    WORKFLOW_CHANGE,
)

__all__ = [
    "ATTEMPT",
    "BLOB_FROM",
    "BODIES",
    "BREAKPOINT",
    "BULK_ITEM",
    "BULK_JOB",
    "COUNTS",
    "EVALUATED",
    "EVENTS",
    "FUNCTION",
    "FUNCTION_NAMES",
    "GRANTS",
    "LOOP",
    "MATCH_PARAMS",
    "MOST_CHARACTERS",
    "OUTCOME",
    "OWN_PARAMS",
    "PARAMS",
    "PROPERTIES",
    "RUN",
    "SEQS",
    "SIGNAL",
    "SIGNAL_TRIGGER",
    "SUMMARY",
    "SUSPICION",
    "TAG",
    "TEMPLATE",
    "TIME_TRIGGER",
    "USER",
    "VERSION",
    "WORKFLOW_CHANGE",
    "Document",
]
