"""One kind of JSON text in a column."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import msgspec

from stretto.model.errors import Internal
from stretto.ports.failures import Poison
from stretto.store.sql.codec.exact import MARK
from stretto.store.sql.codec.forms import Form, form_of, lean_form

T = TypeVar("T")

BLOB_FROM: Final = 256 * 1024  # characters from which on a document leaves its row for the blob table
# Of one document: room for parameters of the highest `params.size`. A database may take less in one
# statement, and says so itself.
MOST_CHARACTERS: Final = 64 * 1024 * 1024

_MARKED: Final = f'"{MARK}'
_NUL: Final = "\\u0000"
_REAL_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # and not a backslash before `u0000`


def _as_dict(value: Any) -> Any:
    """Maps of other kinds (layers over each other, read-only ones) are written as plain ones."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON")


_encode: Final = msgspec.json.Encoder(enc_hook=_as_dict).encode


class Document(Generic[T]):
    """Values of one type <-> text. Made when it is first used: starting up should cost nothing."""

    def __init__(self, name: str, tp: Any, *, lean: bool = False, apart: str | None = None) -> None:
        self._name = name
        self._tp = tp
        self._lean = lean  # defaults are not written
        self._apart = apart  # a field that is not written here

    @cached_property
    def _form(self) -> Form:
        return lean_form(self._tp, self._apart) if self._lean else form_of(self._tp)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        return msgspec.json.Decoder(self._form.stored)

    def write(self, value: T) -> str:
        """The text of a value. Poison, if it holds what a database can not keep."""
        pack = self._form.pack
        try:
            text = str(_encode(value if pack is None else pack(value)), "utf-8")
        except (OverflowError, RecursionError, TypeError, UnicodeError, ValueError) as error:
            raise Poison(f"the {self._name} can not be stored: {error}") from error
        if _NUL in text and _REAL_NUL.search(text):
            raise Poison(f"the {self._name} can not be stored: it holds a NUL character")
        if len(text) > MOST_CHARACTERS:
            raise Poison(
                f"the {self._name} can not be stored: it has {len(text):,} characters, "
                f"the limit is {MOST_CHARACTERS:,}"
            )
        return text

    def read(self, text: str) -> T:
        """The value that was written."""
        try:
            stored = self._decoder.decode(text)
        except msgspec.MsgspecError as error:
            raise Internal(
                f"a stored {self._name} can not be read: {error}",
                hint="it was damaged, or written by a newer version of Stretto",
            ) from error
        form = self._form
        if form.unpack is not None and (form.odd or _MARKED in text):
            stored = form.unpack(stored)
        value: T = stored
        return value
