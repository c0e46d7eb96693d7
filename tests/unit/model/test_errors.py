"""The tree of errors: ids and statuses are promises to clients."""

from collections.abc import Iterator

import pytest

from stretto.model import errors
from stretto.model.details import ErrorStatus
from stretto.model.errors import InvalidDefinition, StrettoError
from stretto.model.problem import Problem

PROMISED = {
    "error": (500, "INTERNAL_ERROR", False),
    "bad-request": (400, "BAD_REQUEST", False),
    "invalid-definition": (400, "BAD_REQUEST", False),
    "wrong-state": (400, "BAD_REQUEST", False),
    "unauthenticated": (401, "UNAUTHORIZED", False),
    "forbidden": (403, "FORBIDDEN", False),
    "not-found": (404, "NOT_FOUND", False),
    "timed-out": (408, "REQUEST_TIMEOUT", True),
    "conflict": (409, "CONFLICT", False),
    "precondition": (412, "PRECONDITION_FAILED", False),
    "unprocessable": (422, "UNPROCESSABLE_ENTITY", False),
    "internal": (500, "INTERNAL_ERROR", False),
    "unavailable": (503, "INTERNAL_ERROR", True),
}


def tree(root: type[StrettoError] = StrettoError) -> Iterator[type[StrettoError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from tree(child)


def test_ids_are_unique_and_stable() -> None:
    found = [(each.id, (each.status, each.maestro_status, each.retryable)) for each in tree()]
    assert len(found) == len(PROMISED)
    assert dict(found) == PROMISED


@pytest.mark.parametrize("error", list(tree()), ids=lambda each: each.__name__)
def test_the_drawing_and_the_words_know_each_error(error: type[StrettoError]) -> None:
    assert error.maestro_status in set(ErrorStatus)
    line = next(line for line in (errors.__doc__ or "").splitlines() if f" {error.__name__} " in f" {line} ")
    assert error is StrettoError or (error.id in line and str(error.status) in line)


def test_an_error_carries_what_a_caller_needs() -> None:
    error = errors.NotFound("no workflow `x`", details=["a", "b"], hint="did you mean `y`?")
    assert str(error) == error.message == "no workflow `x`"
    assert (error.details, error.hint) == (("a", "b"), "did you mean `y`?")


def test_an_invalid_definition_lists_every_problem() -> None:
    one = Problem(code="c", path="a", message="is wrong")
    assert str(InvalidDefinition([one])) == "the definition has 1 problem: a: is wrong [c]"
    many = InvalidDefinition([one, one, one], source="request")
    assert str(many) == "the request has 3 problems: a: is wrong [c] (and 2 more)"
    assert many.problems == (one, one, one)
    assert many.details == ("a: is wrong [c]",) * 3
