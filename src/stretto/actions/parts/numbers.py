"""Numbers that a user writes where a word could stand, too: `latest`, `7`."""

from typing import Final

HIGHEST: Final = 2**63 - 1  # that a database can hold
DIGITS: Final = len(str(HIGHEST))


def number_in(text: str) -> int | None:
    """The whole number that a text is; None if it is none. What is beyond all numbers is the highest one:
    nothing has it, and a database need not be asked for what it can not hold.
    """
    if not (text.isascii() and text.isdigit()):
        return None
    return min(int(text), HIGHEST) if len(text) <= DIGITS else HIGHEST
