"""How an expression fails: one error class, with a `kind` for programs and a place for people."""

from enum import StrEnum


class Kind(StrEnum):
    """What went wrong. A caller decides by the kind; the message is for people."""

    PARSE = "parse"  # the text is not a script
    LEXICAL = "lexical"  # the text is not even words
    NUMBER_FORMAT = "number_format"  # a text that should be a number is not
    ILLEGAL_ARGUMENT = "illegal_argument"  # a value of the wrong type or outside its range
    UNSUPPORTED = "unsupported"  # no such class, method, field or operator
    CLASS_CAST = "class_cast"  # a condition, index or argument of the wrong type
    INDEX_OUT_OF_BOUNDS = "index_out_of_bounds"  # outside an array, or the operand stack is full
    ILLEGAL_STATE = "illegal_state"  # a limit was reached
    ARITHMETIC = "arithmetic"  # an integer divided by zero
    NULL_POINTER = "null_pointer"  # a method of something declared and never set
    NEGATIVE_ARRAY_SIZE = "negative_array_size"
    RUNTIME = "runtime"  # `break` or `continue` outside a loop
    MAESTRO_INVALID_EXPRESSION = "maestro_invalid_expression"  # the expression of a parameter failed
    MAESTRO_INTERNAL = "maestro_internal"  # a function of the engine failed


class SelError(Exception):
    """An expression that could not be read or evaluated, and where.

    `at` is the offset inside the text; `line` and `column` (both from 1) follow from it and are 0 while
    the place is unknown. `limit` names the limit that was reached, if that is what happened. `cause` is
    the error inside, when this one wraps another.
    """

    def __init__(self, kind: Kind, message: str, *, at: int | None = None, limit: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.at = at
        self.limit = limit
        self.line = 0
        self.column = 0
        self.cause: SelError | None = None

    def placed(self, at: int) -> "SelError":
        """The error at an offset, unless a more precise one is known already."""
        if self.at is None:
            self.at = at
        return self

    def located(self, line: int, column: int) -> "SelError":
        """The error with its place in the text, as people count."""
        self.line, self.column = line, column
        return self

    def wrapped(self, kind: Kind, message: str) -> "SelError":
        """An error of another kind, caused by this one, at the same place."""
        outer = SelError(kind, message, at=self.at, limit=self.limit).located(self.line, self.column)
        outer.cause = self
        return outer

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}: " if self.line else ""
        return f"{place}{self.message}"


def mismatch(expected: str, actual: str) -> SelError:
    """The error of a value that has another type than its place."""
    return SelError(Kind.ILLEGAL_ARGUMENT, f"Type mismatch: {expected} was expected, this is {actual}")


def class_cast(expected: str, actual: str) -> SelError:
    """The error of a condition, index or argument of the wrong type."""
    return SelError(Kind.CLASS_CAST, f"{expected} was expected, this is {actual}")
