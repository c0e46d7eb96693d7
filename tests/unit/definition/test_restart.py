"""Restarts: where they begin, what they cover, when they are done."""

import pytest

from stretto.definition.graph import Graph
from stretto.definition.restart import covered_steps, incomplete_steps, is_done, waiting_roots
from stretto.model.errors import InvalidRequest
from stretto.model.status import StepStatus

GRAPH = Graph({"a": ["c"], "b": ["c", "d"], "c": [], "d": []})


def test_incomplete_steps_ended_badly_or_never_began() -> None:
    statuses = {"a": StepStatus.SUCCEEDED, "b": StepStatus.FATALLY_FAILED, "c": StepStatus.RUNNING}
    assert incomplete_steps(GRAPH, statuses) == {"b", "d"}


def test_roots_that_wait() -> None:
    assert waiting_roots(GRAPH, "a") == ["b"]
    with pytest.raises(InvalidRequest, match=r"stepId \[c\] should be one of root nodes"):
        waiting_roots(GRAPH, "c")


def test_covered_steps() -> None:
    assert covered_steps(GRAPH, "b", ["b"]) == {"b", "d"}
    assert covered_steps(GRAPH, "b", ["a", "b"]) == {"a", "b", "c", "d"}


def test_done() -> None:
    assert not is_done(GRAPH, {})
    assert is_done(GRAPH, dict.fromkeys("abcd", True))
    assert is_done(GRAPH, {"a": False, "b": True, "d": True})
    assert is_done(GRAPH, {"b": True, "d": True}, restarted="b")
    assert not is_done(GRAPH, {"b": True}, restarted="b")
    assert is_done(GRAPH, {"a": False, "b": True, "d": True}, restarted="b")
