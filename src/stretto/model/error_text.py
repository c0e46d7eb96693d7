"""Errors and odd values as texts that every database takes."""

from typing import Final

VOWELS: Final = frozenset("aeiou")

MOST_CHARACTERS: Final = 4_000


def text_of_error(error: BaseException) -> str:
    """Type and text of an error, fit to be stored; no traceback."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - whoever wrote the error wrote this, too
        text = "its text can not be shown"
    return storable(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def error_type(module: str, name: str) -> str:
    """The class of an error: `module.Name`, or only the name of one that Python itself has."""
    return name if module in {"", "builtins"} else f"{module}.{name}"


def message_in(text: str, name: str) -> str:
    """The message in what `text_of_error` made of an error of a class."""
    return text.removeprefix(name.rpartition(".")[2]).removeprefix(": ")


def text_of_value(value: object) -> str:
    """A value as its class shows it, fit to be stored."""
    try:
        return storable(repr(value))
    except BaseException:  # noqa: BLE001 - see above
        return f"a {type(value).__name__}"


def storable(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text of bounded length, without NUL and halves of characters."""
    cut = text if len(text) <= most else f"{text[:most]} ..."
    return cut.replace("\0", "\\0").encode(errors="backslashreplace").decode()


def a_name(name: str) -> str:
    """The name of a class in a sentence, with its article: "an `int`", "a `list`"."""
    return f"{'an' if name[:1].lower() in VOWELS else 'a'} `{name}`"
