"""References: what a step returns while a workflow is traced. They stand for values that are not known yet.

A reference can be handed on, computed with, compared, and looked into. Everything that would need the value
now (`if`, `for`, `len`, f-strings) is refused with a message that says what to write instead.
"""

from typing import Any, NoReturn

from stretto.flow import operators
from stretto.flow.errors import TraceError
from stretto.flow.fields import entry_of, members_of
from stretto.flow.nodes import Node
from stretto.flow.order import run_after
from stretto.flow.trace import Value


class Ref:
    """A value that a run will have. `_node` is the step whose result it is, if it is one."""

    __slots__ = ("_node", "_value")
    _value: Value
    _node: Node | None

    def __init__(self, value: Value, node: Node | None = None) -> None:
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_node", node)

    def stretto_value(self) -> Value:
        """What it stands for."""
        return self._value

    def stretto_node(self) -> Node | None:
        """The step that it is the result of."""
        return self._node

    def after(self, *others: Any) -> "Ref":
        """The step runs after these, too, although it needs nothing of them."""
        run_after(self, others)
        return self

    def __repr__(self) -> str:
        return f"<{self._value.label}, not known yet>"

    # -------------------------------------------------------------------------------------------- looking
    def __getattr__(self, name: str) -> "Ref":
        if name.startswith("__"):
            raise AttributeError(name)
        return Ref(members_of(self._value, name))

    def __getitem__(self, key: Any) -> "Ref":
        return Ref(entry_of(self._value, key))

    def __iter__(self) -> Any:
        count = operators.fixed_length(self._value)
        if count is None:
            raise _not_known(
                self, "its elements can not be gone through", "write `step.map(...)` or `with foreach(...)`"
            )
        return iter([self[index] for index in range(count)])

    # ------------------------------------------------------------------------------------------- computing
    def __add__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "+", other))

    def __radd__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "+", other, swapped=True))

    def __sub__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "-", other))

    def __rsub__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "-", other, swapped=True))

    def __mul__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "*", other))

    def __rmul__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "*", other, swapped=True))

    def __truediv__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "/", other))

    def __rtruediv__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "/", other, swapped=True))

    def __floordiv__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "//", other))

    def __rfloordiv__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "//", other, swapped=True))

    def __mod__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "%", other))

    def __rmod__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "%", other, swapped=True))

    def __pow__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "**", other))

    def __rpow__(self, other: Any) -> "Ref":
        return Ref(operators.compute(self._value, "**", other, swapped=True))

    def __abs__(self) -> "Ref":
        return Ref(operators.absolute(self._value))

    def __neg__(self) -> "Ref":
        return Ref(operators.compute(self._value, "-", 0, swapped=True))

    # ------------------------------------------------------------------------------------------- comparing
    def __eq__(self, other: object) -> "Ref":  # type: ignore[override]
        return Ref(operators.compare(self._value, "==", other))

    def __ne__(self, other: object) -> "Ref":  # type: ignore[override]
        return Ref(operators.compare(self._value, "!=", other))

    def __lt__(self, other: Any) -> "Ref":
        return Ref(operators.compare(self._value, "<", other))

    def __le__(self, other: Any) -> "Ref":
        return Ref(operators.compare(self._value, "<=", other))

    def __gt__(self, other: Any) -> "Ref":
        return Ref(operators.compare(self._value, ">", other))

    def __ge__(self, other: Any) -> "Ref":
        return Ref(operators.compare(self._value, ">=", other))

    def __and__(self, other: Any) -> "Ref":
        return Ref(operators.combine(self._value, "&&", other))

    def __rand__(self, other: Any) -> "Ref":
        return Ref(operators.combine(self._value, "&&", other, swapped=True))

    def __or__(self, other: Any) -> "Ref":
        return Ref(operators.combine(self._value, "||", other))

    def __ror__(self, other: Any) -> "Ref":
        return Ref(operators.combine(self._value, "||", other, swapped=True))

    def __invert__(self) -> "Ref":
        return Ref(operators.inverted(self._value))

    # ------------------------------------------------------------------------------------------ not known
    def __bool__(self) -> bool:
        way_out = "write `with when(...):` instead of `if`, and `&`, `|`, `~` instead of `and`, `or`, `not`"
        raise _not_known(self, "Python can not branch on it", way_out)

    def __len__(self) -> int:
        raise _not_known(self, "its length can not be counted", "write `size(...)`, or count it in a step")

    def __contains__(self, item: object) -> bool:
        raise _not_known(self, "it can not be searched", "look for the element in a step that returns a bool")

    def __hash__(self) -> int:
        raise _not_known(self, "it can not be a key", "make the dict or set in a step")

    def __str__(self) -> str:
        raise _not_known(self, "it has no text", 'write `"..." + x`, `text(...)`, or make the text in a step')

    def __format__(self, spec: str) -> str:
        return str(self)

    def __int__(self) -> int:
        raise _not_known(
            self, "it is not a number yet", "convert it in a step, or annotate the step that makes it"
        )

    def __float__(self) -> float:
        raise _not_known(
            self, "it is not a number yet", "convert it in a step, or annotate the step that makes it"
        )

    def __index__(self) -> int:
        raise _not_known(
            self, "it is not a number yet", "do what needs the number (`range`, an index) in a step"
        )

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise _not_known(self, "it can not be called", "do that in a step, which gets the value")

    def __await__(self) -> NoReturn:
        raise _not_known(
            self, "there is nothing to wait for", "leave out the `await`: steps wait for each other"
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise _not_known(self, "it can not be changed", "return a changed copy from a step")

    def __setitem__(self, key: Any, value: object) -> None:
        raise _not_known(self, "it can not be changed", "return a changed copy from a step")

    def __enter__(self) -> NoReturn:
        raise _not_known(self, "it can not be opened", "open and close things in one step")

    def __exit__(self, *_error: object) -> None: ...


def _not_known(ref: Ref, problem: str, way_out: str) -> TraceError:
    value = ref.stretto_value()
    return TraceError(f"{value.label} is not known while the workflow is traced, so {problem}", way_out)


class NoResult:
    """What a step that returns nothing gives: others can run after it, and that is all."""

    __slots__ = ("_label", "_node")

    def __init__(self, node: Node, label: str) -> None:
        self._node = node
        self._label = label

    def stretto_node(self) -> Node:
        return self._node

    def stretto_value(self) -> Value:
        raise TraceError(
            f"{self._label} is nothing: the step is annotated `-> None`", "annotate what it returns"
        )

    def after(self, *others: Any) -> "NoResult":
        """The step runs after these, too, although it needs nothing of them."""
        run_after(self, others)
        return self

    def __repr__(self) -> str:
        return f"<{self._label}: nothing>"
