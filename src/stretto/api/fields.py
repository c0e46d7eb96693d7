"""The fields of an answer that a query asks for."""

import msgspec

from stretto.actions.reading.fields import Fields, optional_fields
from stretto.model.errors import InvalidRequest
from stretto.model.suggest import did_you_mean


def fields_in(tp: type[msgspec.Struct], text: str | None) -> Fields:
    """The names in a text, with commas between them; `InvalidRequest` lists those that there are."""
    if text is None:
        return None
    wanted = {each.strip() for each in text.split(",")} - {""}
    known = [each.name for each in msgspec.structs.fields(tp)]
    for unknown in sorted(wanted.difference(known)):
        close = did_you_mean(unknown, known)
        raise InvalidRequest(
            f"Invalid field [{unknown[:80]}]",
            hint=f"{close + ' ' if close else ''}the fields are {', '.join(optional_fields(tp))};"
            " those that say what it is about always come",
        )
    return frozenset(wanted)
