"""Words of a closed set in a query parameter: one, or several with commas between them."""

from enum import StrEnum
from typing import TypeVar

from stretto.model.errors import InvalidRequest
from stretto.model.suggest import did_you_mean
from stretto.model.words import Word

E = TypeVar("E", bound=StrEnum)
W = TypeVar("W", bound=Word)


def word_in(tp: type[E], text: str, name: str) -> E:
    """The word of a closed set, in any case; `InvalidRequest` names the parameter and what it takes."""
    wanted = text.strip().casefold()
    found = next((word for word in tp if word.value.casefold() == wanted), None)
    if found is None:
        known = [word.value for word in tp]
        hint = did_you_mean(text, known) or f"one of {', '.join(known)}"
        raise InvalidRequest(f"Invalid {name} [{text[:80]}]", hint=hint)
    return found


def words_in(tp: type[W], text: str | None, name: str) -> tuple[W, ...]:
    """Several of them; nothing, if the parameter is not there."""
    return tuple(word_in(tp, each, name) for each in (text or "").split(",") if each.strip())
