"""Exceptions that a step raised, made again from what is stored of them."""

from stretto.flow.engine import StepError
from stretto.flow.engine.causes import exception_in


def test_a_class_that_is_not_known_here() -> None:
    gone = exception_in({"error": "Gone", "module": "no.such", "args": "[1]"}, "Gone: 1")
    assert isinstance(gone, StepError)
    assert str(gone) == "no.such.Gone: 1"
    no_error = exception_in({"error": "loads", "module": "pickle", "args": "[]"}, "")
    assert str(no_error) == "pickle.loads"
    old = exception_in({"error": "ValueError", "traceback": "Traceback"}, "ValueError: old")
    assert str(old) == "ValueError: old"
