"""Compiled expressions: read once, evaluated as often as one likes."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from stretto.sel.environment import DEFAULT, Environment
from stretto.sel.errors import Kind, SelError
from stretto.sel.runtime.frame import CHARACTER_SIZE, VALUE_SIZE, AbsentError, Frame
from stretto.sel.runtime.statements import compile_script
from stretto.sel.syntax import tree
from stretto.sel.syntax.names import Names, names_of
from stretto.sel.syntax.parser import parse
from stretto.sel.syntax.source import Source, utf16_length
from stretto.sel.values import Value

SHORT: Final = 200
"""Most expressions are shorter. A long one takes much memory compiled, so fewer of them are kept."""
NO_BINDINGS: Final[Mapping[str, Any]] = {}


class Expression:
    """A script, ready to be evaluated. It holds no state: evaluations share nothing."""

    __slots__ = ("_code", "_literals", "_source", "names", "text")

    def __init__(self, text: str) -> None:
        self._source = Source(text)
        self.text = text
        script = parse(self._source)  # not kept: thousands of trees would slow the garbage collector down
        self.names: Names = names_of(script)
        self._literals = _literal_memory(script)
        self._code = compile_script(script)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def evaluate(
        self, bindings: Mapping[str, Any] = NO_BINDINGS, environment: Environment = DEFAULT
    ) -> Value:
        """The result of the script: a value of any SEL type, VOID, `Thrown`, or the host's `Missing`.

        A `SelError` says what failed and where. Bindings are plain Python values (str, int, float, bool,
        None, lists, dicts); they are copied when the script first uses them, and never changed.
        """
        frame = Frame(bindings, environment)
        try:
            if self._literals > frame.room:
                frame.pay(self._literals)
            return self._code(frame)
        except SelError as error:
            raise self._source.located(error) from None
        except AbsentError as absent:
            return absent.missing
        except RecursionError:
            raise too_deep() from None
        finally:
            if environment.budget is not None:
                frame.charge(environment.budget)


def _literal_memory(script: tree.Script) -> int:
    """What the literals of a script weigh: they are made before it runs."""
    total, open_nodes = 0, [*tree.children(script)]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, tree.Literal):
            length = utf16_length(node.value) if isinstance(node.value, str) else 0
            total += VALUE_SIZE + CHARACTER_SIZE * length
        open_nodes += tree.children(node)
    return total


def too_deep() -> SelError:
    """The error of an expression that does not fit on what its caller left of Python's stack."""
    return SelError(Kind.ILLEGAL_STATE, "There is no room on the stack for this expression", limit="stack")


def _compile(text: str) -> Expression:
    try:
        return Expression(text)
    except RecursionError:
        raise too_deep() from None


_short = lru_cache(maxsize=2048)(_compile)
_long = lru_cache(maxsize=64)(_compile)


def compile_expression(text: str, length: int = DEFAULT.limits.length) -> Expression:
    """The compiled form of a script, from a cache by text; a `SelError` if it is none, or too long."""
    size = len(text) if text.isascii() else utf16_length(text)
    if size >= length:
        raise SelError(
            Kind.ILLEGAL_ARGUMENT,
            f"The expression is {size} characters long; the limit is {length}",
            limit="length",
        )
    return _short(text) if size <= SHORT else _long(text)
