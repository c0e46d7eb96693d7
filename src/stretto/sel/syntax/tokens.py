"""What the lexer makes of a text, and the parser takes."""

from typing import Final, NamedTuple

END: Final = "$END"


class Token(NamedTuple):
    """A word of a script: a terminal of the grammar, its text, and where it begins."""

    type: str
    text: str
    at: int
