"""`Json`: look into JSON texts, and make them.

A text and a path to a place in it, such as `Json.parse(order, 'lines', 0, 'price')`, give the value, the text
of the part, or the texts of its elements. Only what stands on the path is taken apart.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from stretto.sel.errors import Kind, SelError
from stretto.sel.library.arguments import text as text_argument
from stretto.sel.numbers import LONG_MAX, LONG_MIN, short_text, to_double
from stretto.sel.runtime.frame import VALUE_SIZE, Frame, Method
from stretto.sel.text import MAX_NESTING, described, json_text, tagged_float, too_nested
from stretto.sel.values import Array, BooleanArray, DoubleArray, LongArray, StringArray, Value

CHARACTERS_PER_VISIT: Final = 4  # reading JSON is more work than looking for a word
ROOM: Final = 8  # what a character of it may take while it is read, in characters
OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
ANYTHING: Final = msgspec.json.Decoder()
NUMBERS: Final = frozenset({int, float})
HOMOGENEOUS: Final[dict[type, type[Array]]] = {str: StringArray, int: LongArray, bool: BooleanArray}
TEXT: Final = msgspec.json.Encoder()


# ------------------------------------------------------------------------------------------------- reading
def parse(frame: Frame, _: Value, arguments: list[Value]) -> Value:
    """`Json.parse(text, path...)`: the value; lists of several kinds become lists of JSON texts."""
    return _value(frame, _read(ANYTHING, _part(frame, "parse", arguments)), 0)


def part(frame: Frame, _: Value, arguments: list[Value]) -> str:
    """`Json.part(text, path...)`: the JSON text of what stands there."""
    return _part(frame, "part", arguments).decode()


def texts(frame: Frame, _: Value, arguments: list[Value]) -> StringArray:
    """`Json.texts(text, path...)`: the JSON text of each element of the list there."""
    return StringArray(each.decode() for each in _elements(frame, _part(frame, "texts", arguments)))


def doubles(frame: Frame, _: Value, arguments: list[Value]) -> DoubleArray:
    """`Json.doubles(text, path...)`: the list of numbers there, whole ones too; null stays null."""
    found = _read(ANYTHING, _part(frame, "doubles", arguments))
    found = _with_floats(found) if isinstance(found, list) else found
    if not isinstance(found, list) or not all(each is None or type(each) in NUMBERS for each in found):
        raise _wrong("a list of numbers", found)
    frame.pay(VALUE_SIZE * len(found))
    return DoubleArray(None if each is None else to_double(each) for each in found)


def strings(frame: Frame, _: Value, arguments: list[Value]) -> StringArray:
    """`Json.strings(text, path...)`: the list of texts there; null stays null."""
    found = _read(ANYTHING, _part(frame, "strings", arguments))
    if not isinstance(found, list):
        raise _wrong("a list of texts", found)
    for position, each in enumerate(found):
        if each is not None and type(each) is not str:
            raise _wrong("a text", each, f"at position {position} of the list")
    frame.pay(VALUE_SIZE * len(found))
    return StringArray(found)


def size(frame: Frame, _: Value, arguments: list[Value]) -> int:
    """`Json.size(text, path...)`: how many elements, entries or characters it has."""
    found = _read(ANYTHING, _part(frame, "size", arguments))
    if isinstance(found, list | dict | str):
        return len(found)
    raise _wrong("a list, an object or a text", found)


def zipped(frame: Frame, _: Value, arguments: list[Value]) -> StringArray:
    """`Json.zip(text, ...)`: the JSON text of each row, with one element of every list."""
    lists = [_elements(frame, _bytes(frame, each)) for each in arguments]
    lengths = sorted({len(each) for each in lists})
    if len(lengths) > 1:
        found = " and ".join(map(str, lengths))
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"zip takes lists of one length, these have {found} elements")
    return _rows(frame, lists)


def zipped_by_name(frame: Frame, _: Value, arguments: list[Value]) -> StringArray:
    """`Json.zipNamed(name, text, ...)`: the same, and an error says which list has how many elements."""
    if len(arguments) % 2:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "zipNamed takes names and JSON texts in turn")
    names = [text_argument(each) for each in arguments[::2]]
    lists = [_elements(frame, _bytes(frame, each)) for each in arguments[1::2]]
    if len({len(each) for each in lists}) > 1:
        found = ", ".join(
            f"`{name}` has {len(each)} element{'' if len(each) == 1 else 's'}"
            for name, each in zip(names, lists, strict=True)
        )
        message = f"`.map(...)` goes through lists side by side, and {found}: give lists of one length"
        raise SelError(Kind.ILLEGAL_ARGUMENT, message)
    return _rows(frame, lists)


def _rows(frame: Frame, lists: list[list[bytes]]) -> StringArray:
    frame.pay(VALUE_SIZE * len(lists[0]) if lists else 0)
    return StringArray(f"[{b','.join(each).decode()}]" for each in zip(*lists, strict=True))


def _part(frame: Frame, name: str, arguments: list[Value]) -> bytes:
    if not arguments:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"{name} takes a JSON text, and the path to a place in it")
    given, *path = arguments
    found = _bytes(frame, given)
    for step in path:
        frame.spend(1 + len(found) // CHARACTERS_PER_VISIT)
        found = _entry(found, step)
    return found


def _text(frame: Frame, given: Value) -> str:
    """A JSON text. Outside of Maestro a value that is missing is the JSON text of null."""
    return "null" if given is None and frame.environment.exact else text_argument(given)


def _bytes(frame: Frame, given: Value) -> bytes:
    text = _text(frame, given)
    frame.spend(1 + len(text) // CHARACTERS_PER_VISIT)
    frame.afford(ROOM * len(text))
    return text.encode(errors="surrogatepass")


def _entry(text: bytes, step: Value) -> bytes:
    """The text of an entry of an object, or of an element of a list; counted from the end if negative."""
    if type(step) is str:
        entries = _read(OBJECT, text)
        if step in entries:
            return bytes(entries[step])
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"The JSON object has no {step!r}")
    if type(step) is not int:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"A path has names and positions, this is {described(step)}")
    elements = _read(LIST, text)
    if -len(elements) <= step < len(elements):
        return bytes(elements[step])
    raise SelError(
        Kind.INDEX_OUT_OF_BOUNDS, f"The JSON list has {len(elements)} elements, none at position {step}"
    )


def _elements(frame: Frame, text: bytes) -> list[bytes]:
    elements = _read(LIST, text)
    frame.pay(VALUE_SIZE * len(elements) + 2 * len(text))
    return [bytes(each) for each in elements]


def _read(decoder: "msgspec.json.Decoder[Any]", text: bytes) -> Any:
    try:
        return decoder.decode(text)
    except RecursionError:
        raise too_nested() from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        shown = text[:50].decode(errors="replace")
        raise SelError(
            Kind.ILLEGAL_ARGUMENT, f"`{shown}` is not the JSON that was expected: {error}"
        ) from None


def _value(frame: Frame, found: Any, depth: int) -> Value:
    """Plain data as the values of the language."""
    if depth > MAX_NESTING:
        raise too_nested()
    frame.pay(VALUE_SIZE)
    if type(found) is dict:
        number = tagged_float(found)
        if number is not None:
            return number
        return {key: _value(frame, each, depth + 1) for key, each in found.items()}
    if type(found) is list:
        return _array(frame, found)
    if type(found) is int and not _fits(frame, found):
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"{short_text(found)} does not fit into a LONG")
    return found


def _fits(frame: Frame, number: int) -> bool:
    return frame.environment.exact or LONG_MIN <= number <= LONG_MAX


def _with_floats(found: list[Any]) -> list[Any]:
    """The elements of a list, with the numbers that JSON has no word for."""
    return [number if (number := tagged_float(each)) is not None else each for each in found]


def _array(frame: Frame, found: list[Any]) -> Array:
    """An array of the one type that all elements have; numbers become doubles together, null stays null."""
    frame.pay(VALUE_SIZE * len(found))
    plain, kinds = found, set(map(type, found))
    if dict in kinds:
        plain = _with_floats(found)
        kinds = set(map(type, plain))
    kinds.discard(type(None))
    if found and not kinds:
        return StringArray(found)
    if len(kinds) == 1 and (kind := HOMOGENEOUS.get(next(iter(kinds)))) is not None:
        if kind is LongArray and not all(each is None or _fits(frame, each) for each in found):
            raise SelError(Kind.ILLEGAL_ARGUMENT, "A number of the list does not fit into a LONG")
        return kind(found)
    if kinds and kinds <= NUMBERS:
        return DoubleArray(None if each is None else to_double(each) for each in plain)
    made = StringArray(TEXT.encode(each).decode() for each in found)
    frame.pay_text(sum(map(len, made)))
    return made


def _wrong(wanted: str, found: Any, where: str = "there") -> SelError:
    names = {list: "a list", dict: "an object", str: "a text", type(None): "null", bool: "a flag"}
    return SelError(
        Kind.ILLEGAL_ARGUMENT, f"{wanted} was expected {where}, this is {names.get(type(found), 'a number')}"
    )


# ------------------------------------------------------------------------------------------------- writing
def text(frame: Frame, _: Value, value: Value) -> str:
    """`Json.text(value)`."""
    return json_text(value, frame.pay_text, exact=frame.environment.exact)


def made_object(frame: Frame, _: Value, arguments: list[Value]) -> str:
    """`Json.object(name, text, ...)`: the JSON text of an object, of names and JSON texts."""
    if len(arguments) % 2:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "object takes names and JSON texts in turn")
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    entries = [
        f"{json_text(text_argument(name), frame.pay_text)}:{_checked(frame, each)}" for name, each in pairs
    ]
    return "{" + ",".join(entries) + "}"


def made_array(frame: Frame, _: Value, arguments: list[Value]) -> str:
    """`Json.array(text, ...)`: the JSON text of a list, of JSON texts or of one array of them."""
    if len(arguments) == 1 and arguments[0] is None and frame.environment.exact:
        return "null"  # an array that is missing
    if len(arguments) == 1 and isinstance(arguments[0], StringArray):
        arguments = ["null" if each is None else each for each in arguments[0]]
    return "[" + ",".join(_checked(frame, each) for each in arguments) + "]"


def _checked(frame: Frame, given: Value) -> str:
    """A text that is JSON."""
    made = _text(frame, given)
    _read(ANYTHING, _bytes(frame, made))
    frame.pay_text(len(made))
    return made


METHODS: Final[dict[str, Method]] = {"text/1": text}
VARIADIC: Final[dict[str, Callable[..., Value]]] = {
    "parse": parse,
    "part": part,
    "texts": texts,
    "doubles": doubles,
    "strings": strings,
    "size": size,
    "zip": zipped,
    "zipNamed": zipped_by_name,
    "object": made_object,
    "array": made_array,
}
