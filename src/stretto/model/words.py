"""Closed sets of words. Maestro reads most of them in any case and writes them in one."""

from enum import StrEnum
from typing import Self


class Word(StrEnum):
    """An enum whose members are found whatever the case of the text."""

    @classmethod
    def noun(cls) -> str:
        """What messages call a member; empty: the name of the class, in words."""
        return ""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        wanted = value.casefold()
        return next((member for member in cls if member.casefold() == wanted), None)
