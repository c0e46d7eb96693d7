"""Regular expressions in Java's syntax, on an engine whose time is linear in the text."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from stretto.sel.errors import Kind, SelError
from stretto.sel.runtime.frame import CHARACTER_SIZE, VALUE_SIZE, Frame
from stretto.sel.values import StringArray

MAX_PATTERN: Final = 2_000
MAX_MEMORY: Final = 1 << 20  # for one compiled expression
CHARACTERS_PER_VISIT: Final = 8  # how much text the engine scans in about the time of one visit
VISITS_PER_MATCH: Final = 256
OPEN_ENDED: Final = re.compile(r"[*+]|\{\d+,\}")  # a match may then be looked for as far as the text goes

# Java's construct, and why or into what it is translated.
REFUSED: Final = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "\\k": "a back reference",
    "\\G": "\\G",
    "\\X": "\\X",
    **{f"\\{digit}": "a back reference" for digit in "123456789"},
}
ESCAPES: Final = {
    "\\h": r"[ \t\x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}]",
    "\\R": r"(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])",
    "\\Z": r"(?:\n?\z)",
    "\\e": r"\x1b",
}
POSIX: Final = {
    "Lower": "lower",
    "Upper": "upper",
    "ASCII": "ascii",
    "Alpha": "alpha",
    "Digit": "digit",
    "Alnum": "alnum",
    "Punct": "punct",
    "Graph": "graph",
    "Print": "print",
    "Blank": "blank",
    "Cntrl": "cntrl",
    "XDigit": "xdigit",
    "Space": "space",
}
CATEGORIES: Final = {"Alphabetic": "L", "Letter": "L", "Uppercase": "Lu", "Lowercase": "Ll", "Digit": "Nd"}
SYNTAX: Final = re.compile(
    r"\\Q.*?(?:\\E|$)"  # quoted
    r"|\\(?P<negated>[pP])\{(?:Is)?(?P<property>\w+)\}"
    r"|\\u(?P<unicode>[0-9a-fA-F]{4})|\\0(?P<octal>[0-3]?[0-7]{1,2})|\\c(?P<control>[@-_a-z])"
    r"|(?P<name>\(\?<(?=[a-zA-Z]))|\(\?(?:<?[=!]|>)"
    r"|\\.|[*+?}](?P<possessive>\+)|&&|.",
    re.DOTALL,
)


def _translated(pattern: str) -> str:
    """The pattern in the engine's syntax; an error for what it can not do."""
    return "".join(_construct(match) for match in SYNTAX.finditer(pattern))


def _construct(match: re.Match[str]) -> str:
    found = match.group()
    if found in REFUSED or match["possessive"] or found == "&&":
        what = REFUSED.get(found, "a possessive quantifier" if match["possessive"] else "an intersection")
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"A regular expression can not have {what} here: {found}")
    if match["name"]:
        return "(?P<"
    if match["property"]:
        return _property(match["property"], negated=match["negated"] == "P")
    if match["unicode"] or match["octal"]:
        code = int(match["unicode"], 16) if match["unicode"] else int(match["octal"], 8)
        return rf"\x{{{code:x}}}"
    if match["control"]:
        return rf"\x{{{ord(match['control'].upper()) ^ 64:x}}}"
    return ESCAPES.get(found, found)


def _property(name: str, *, negated: bool) -> str:
    if name in POSIX:
        return f"[[:{'^' if negated else ''}{POSIX[name]}:]]"
    return f"\\{'P' if negated else 'p'}{{{CATEGORIES.get(name, name)}}}"


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """The compiled expression, or an error that says what is wrong with it."""
    if len(pattern) > MAX_PATTERN:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"A regular expression has more than {MAX_PATTERN} characters")
    import re2  # noqa: PLC0415 - most scripts have no regular expression

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        return re2.compile(_translated(pattern), options)
    except re2.error as error:
        reason = (
            error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error.args[0]
        )
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"This is not a regular expression: {reason}") from None
    except UnicodeEncodeError:
        raise SelError(
            Kind.ILLEGAL_ARGUMENT, "A regular expression can not contain half a character"
        ) from None


def matches(frame: Frame, pattern: str, text: str) -> Iterator[Any]:
    """Every match in turn, each paid for by what is left to scan."""
    try:
        found = compiled(pattern).finditer(text)
        frame.spend(len(text) // CHARACTERS_PER_VISIT + 1)
        scans_far = OPEN_ENDED.search(pattern) is not None
        for match in found:
            yield match
            ahead = len(text) - match.end() if scans_far else 0
            frame.spend(ahead // CHARACTERS_PER_VISIT + VISITS_PER_MATCH)
    except UnicodeEncodeError:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "Half a character can not be searched") from None


def split(frame: Frame, text: str, pattern: str, limit: int) -> StringArray:
    """`String.split`: at most `limit` parts if positive; without trailing empty parts if zero."""
    parts: list[str] = []
    start = 0
    for match in matches(frame, pattern, text):
        if match.end() == 0:  # a match of nothing at the beginning splits nothing off
            continue
        if len(parts) == limit - 1:
            break
        parts.append(text[start : match.start()])
        frame.pay(VALUE_SIZE + CHARACTER_SIZE * (match.start() - start))
        start = match.end()
    if start == 0 and not parts:
        return StringArray([text])
    parts.append(text[start:])
    if limit == 0:
        while parts and not parts[-1]:
            parts.pop()
    return StringArray(parts)


def replace_all(frame: Frame, text: str, pattern: str, replacement: str) -> str:
    """`String.replaceAll`: `$1` and `${name}` are groups, a backslash makes the next character plain."""
    pieces: list[str] = []
    end = length = 0
    template = None
    for match in matches(frame, pattern, text):
        template = template or _template(replacement, match.re)
        inserted = "".join(part if isinstance(part, str) else match.group(part[0]) or "" for part in template)
        length += match.start() - end + len(inserted)
        frame.afford(length)
        pieces += (text[end : match.start()], inserted)
        end = match.end()
    return "".join((*pieces, text[end:]))


def _template(replacement: str, expression: Any) -> list[str | tuple[int]]:
    """The parts of a replacement: texts, and groups as (number,)."""
    parts: list[str | tuple[int]] = [""]
    for match in re.finditer(
        r"\\(.)|\$\{(\w+)\}|\$(\d+)|([\\$])|([^\\$]+)", replacement, re.DOTALL | re.ASCII
    ):
        escaped, name, number, stray, plain = match.groups()
        if stray or (name and name not in expression.groupindex):
            raise SelError(
                Kind.ILLEGAL_ARGUMENT, f"The replacement {replacement!r} is wrong at {match.group()!r}"
            )
        if name:
            parts.append((expression.groupindex[name],))
        elif number:
            group, rest = _group_number(number, expression.groups)
            parts += ((group,), rest)
        else:
            parts.append(escaped or plain)
    return parts


def _group_number(digits: str, groups: int) -> tuple[int, str]:
    """As many digits as name an existing group, and the rest, which is text."""
    length = 1
    while length < len(digits) and int(digits[: length + 1]) <= groups:
        length += 1
    if int(digits[:length]) > groups:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"The regular expression has no group {digits[:length]}")
    return int(digits[:length]), digits[length:]
