"""The words of the language. Positions are kept; what Java reserves and SEL does not use is refused."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from stretto.sel.errors import Kind, SelError
from stretto.sel.syntax.tokens import Token

RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """
        abstract boolean break byte case catch char class const continue default do double else extends
        false final finally float for goto if implements import instanceof int interface long native new
        null package private protected public return short static super switch synchronized this throw
        throws transient true try void volatile while
        """,
    )
)
LETTER: Final = (
    r"$_A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff"
    r"\u3040-\u318f\u3300-\u337f\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
)
EXPONENT: Final = "[eE][+-]?[0-9]+"
STRING_BODY: Final = r"(?:[^{quote}\\\n\r]|\\[ntbrf\\'\"]|\\[0-3][0-7][0-7]|\\[0-7][0-7]?)*"
OPEN_STRING: Final = {quote: re.compile(quote + STRING_BODY.format(quote=quote)) for quote in "'\""}

# The order matters where one word begins another: longest first.
WORDS: Final = re.compile(
    "|".join(
        (
            r"(?P<space>[ \t\n\r\f]+|//[^\n\r]*|/\*(?s:.*?)\*/)",
            rf"(?P<NAME>(?![0-9])[{LETTER}0-9]+)",
            rf"(?P<REAL>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:{EXPONENT})?[fFdD]?|[0-9]+{EXPONENT}[fFdD]?|(?!0[xX])[0-9]+[fFdD])",
            r"(?P<INTEGER>0[xX][0-9a-fA-F]+[lL]?|(?:0[0-7]*|[1-9][0-9]*)[lL]?)",
            *(rf"(?P<TEXT{n}>{OPEN_STRING[quote].pattern}{quote})" for n, quote in enumerate("'\"")),
            r"(?P<unclosed>/\*)",
            r"(?P<operator>>>>=|<<=|>>=|>>>|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^=!<>]=|[-+*/%&|^=!<>~?:;,.(){}\[\]])",
        )
    )
)


class Lexer:
    """Turns text into the terminals of the grammar; `fixed` are those that are always the same text."""

    def __init__(self, fixed: Mapping[str, str]) -> None:
        self._fixed = fixed

    def lex(self, text: str) -> Iterator[Token]:
        """Every word of the text with its offset; a `SelError` where there is none."""
        offset = 0
        while offset < len(text):
            match = WORDS.match(text, offset)
            if match is None or match.lastgroup == "unclosed":
                raise self._lexical(text, offset)
            if match.lastgroup != "space":
                yield Token(self._terminal(match), match.group(), offset)
            offset = match.end()

    def _terminal(self, match: re.Match[str]) -> str:
        group, word = str(match.lastgroup), match.group()
        if group == "operator" or word in RESERVED:
            return self._fixed.get(word, "REFUSED")
        return "TEXT" if group.startswith("TEXT") else group

    @staticmethod
    def _lexical(text: str, offset: int) -> SelError:
        if text.startswith("/*", offset):
            return SelError(Kind.LEXICAL, "This comment is never closed", at=len(text))
        if text[offset] in OPEN_STRING:
            begun = OPEN_STRING[text[offset]].match(text, offset)
            at = begun.end() if begun else offset
            what = "an escape that does not exist" if text.startswith("\\", at) else "the end of the line"
            return SelError(Kind.LEXICAL, f"The string runs into {what}", at=at)
        return SelError(Kind.LEXICAL, f"The character {text[offset]!r} has no meaning here", at=offset)
