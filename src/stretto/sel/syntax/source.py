"""The text of a script: its Unicode escapes decoded, and offsets turned into places for people."""

import re
from typing import Final

from stretto.sel.errors import Kind, SelError

# A backslash counts as an escape only after an even number of backslashes; consuming pairs sees to that.
ESCAPE: Final = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|(u+)|.)", re.DOTALL)
SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined_surrogates(text: str) -> str:
    """The text with each pair of surrogates made the one character it stands for."""
    if text.isascii() or SURROGATE_PAIR.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def utf16_length(text: str) -> int:
    """The length as Java counts it: a character beyond U+FFFF counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def concatenation(before: str, after: str) -> str:
    """Two texts as one. A pair of surrogates can only come about where they meet."""
    if before[-1:] >= "\ud800" and SURROGATE_PAIR.fullmatch(before[-1:] + after[:1]):
        return before[:-1] + joined_surrogates(before[-1:] + after[:1]) + after[1:]
    return before + after


class Source:
    """A script's text as written, and `decoded`, as the lexer reads it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._moved: list[tuple[int, int]] = []  # (offset in decoded, what to add to get one in the text)
        self.decoded = self._decode() if "\\u" in text else text

    def _decode(self) -> str:
        """A Unicode escape becomes its character before anything else happens, in comments too."""
        parts: list[str] = []
        end = length = 0
        for match in ESCAPE.finditer(self.text):
            code, malformed = match.groups()
            if malformed:
                error = SelError(Kind.LEXICAL, "A Unicode escape needs four hexadecimal digits")
                raise error.located(*self.place(match.start() + 1))
            if code is None:
                continue
            parts += (self.text[end : match.start()], chr(int(code, 16)))
            length += match.start() - end + 1
            end = match.end()
            self._moved.append((length, end - length))
        parts.append(self.text[end:])
        return "".join(parts)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset in the text as written."""
        before = self.text[:offset]
        line = before.count("\n") + 1
        return line, offset - (before.rfind("\n") + 1) + 1

    def located(self, error: SelError) -> SelError:
        """The error with line and column, if its offset in `decoded` is known."""
        if error.at is None or error.line:
            return error
        moved = 0
        for start, distance in self._moved:
            if start > error.at:
                break
            moved = distance
        return error.located(*self.place(error.at + moved))
