"""Gathering what the iterations of a loop over a parameter leave: linear on each database, counted in the
characters of documents that are read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from tests.api.databases import database_url
from tests.api.serving import Served, noop, served

from stretto.engine.records import RunKey
from stretto.store.sql.codec.document import Document

SMALL: Final = 750
LARGE: Final = 2 * SMALL
LINEAR: Final = 2.6  # times as much for twice the work
LONGS: Final = "LONG_ARRAY"


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(url=database_url(request, tmp_path_factory.mktemp("database"))) as made:
        yield made


def foreach(loop_id: str, name: str, items: str, *steps: Any) -> dict[str, Any]:
    over = {"type": "MAP", "value": {name: {"type": LONGS, "expression": items}}}
    return {
        "foreach": {"id": loop_id, "transition": {}, "params": {"loop_params": over}, "steps": list(steps)}
    }


def reading(step_id: str, kind: str, expression: str, *successors: str) -> dict[str, Any]:
    step = noop(step_id, *successors)
    step["step"]["params"] = {"v": {"type": kind, "expression": expression}}
    return step


def push(server: Served, workflow_id: str, *steps: Any) -> None:
    first, *others = steps
    ((_kind, body),) = first.items()
    body["transition"] = {"successors": {_id(each): "true" for each in others[:1]}}
    numbers = {"type": LONGS, "value": [1]}
    workflow = {"id": workflow_id, "params": {"numbers": numbers}, "steps": list(steps)}
    server.post(
        "/workflows", {"properties": {"owner": "ann", "run_strategy": "PARALLEL"}, "workflow": workflow}
    )


def _id(step: dict[str, Any]) -> str:
    ((_kind, body),) = step.items()
    return str(body["id"])


@contextmanager
def characters(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many characters of documents are decoded in the block."""
    found = [0]
    read = Document.read

    def count(self: Document[Any], text: str) -> Any:
        found[0] += len(text)
        return read(self, text)

    with monkeypatch.context() as patched:
        patched.setattr(Document, "read", count)
        yield found


def ran(server: Served, workflow_id: str, size: int) -> int:
    """The instance of a run over so many numbers, once it has succeeded."""
    given = {"numbers": {"type": LONGS, "value": list(range(size))}}
    instance: int = server.start(workflow_id, run_params=given)["workflow_instance_id"]
    server.wait_for(RunKey(workflow_id, instance, 1))
    return instance


SHAPES: Final[dict[str, list[dict[str, Any]]]] = {
    "loop": [
        foreach("each", "i", "return numbers;", reading("inner", "LONG", "return i * 2;")),
        reading("after", LONGS, "return params.getFromForeach('each', 'inner', 'v');"),
    ],
    "nested": [
        foreach(
            "outer", "k", "return new long[]{1};", foreach("each", "i", "return numbers;", noop("inner"))
        ),
        noop("after"),
    ],
    "output": [
        reading("before", LONGS, "return numbers;"),
        foreach("each", "i", "return before__v;", reading("inner", "LONG", "return i + 1;")),
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_read_grows_with_the_loop(
    server: Served, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    push(server, shape, *SHAPES[shape])
    counts, instance = [], 0
    for size in (SMALL, LARGE):
        with characters(monkeypatch) as found:
            instance = ran(server, shape, size)
        counts.append(found[0])
    assert counts[1] <= LINEAR * counts[0], counts
    if shape == "loop":
        after = server.get(f"/workflows/{shape}/instances/{instance}/steps/after")
        assert after["params"]["v"]["evaluated_result"] == [2 * number for number in range(LARGE)]


def test_a_page_of_iterations_reads_what_they_share_once(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(server, "paged", *SHAPES["loop"])
    counts = []
    for size in (SMALL, LARGE):
        path = f"/views/flatten/workflows/paged/instances/{ran(server, 'paged', size)}/runs/1/steps/inner"
        with characters(monkeypatch) as found:
            assert len(server.get(path, params={"first": 100})["elements"]) == 100
        counts.append(found[0])
    longer = len(str(list(range(LARGE)))) - len(str(list(range(SMALL))))
    assert counts[1] - counts[0] < 10 * longer, counts
