"""How many statements lists send to the database: not one more for each row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.api.serving import LOOP, Served, noop, served, shell, sleep
from tests.ports.statement_counts import CountedSqlite

MANY: Final = 40
WIDE: Final = {"run_strategy": {"rule": "PARALLEL", "workflow_concurrency": 2 * MANY}}
FROM_START: Final = {"restart_policy": "RESTART_FROM_BEGINNING"}
MOST: Final = 6


def looped(step_id: str) -> dict[str, Any]:
    return {"foreach": {**LOOP["foreach"], "id": step_id, "steps": [noop(f"in_{step_id}")]}}


def child(step_id: str) -> dict[str, Any]:
    params = {name: {"value": value, "type": "STRING"} for name, value in CHILD.items()}
    return {"subworkflow": {"id": step_id, "transition": {}, "params": params}}


CHILD: Final = {"subworkflow_id": "child", "subworkflow_version": "latest"}


def wide(step_id: str, width: int) -> dict[str, Any]:
    numbers = {"value": list(range(width)), "type": "LONG_ARRAY"}
    params = {"loop_params": {"type": "MAP", "value": {"i": numbers}}}
    return {"foreach": {"id": step_id, "transition": {}, "params": params, "steps": [noop("inner")]}}


def waiting_for_signal(step_id: str) -> dict[str, Any]:
    return {
        "step": {
            "id": step_id,
            "type": "NoOp",
            "transition": {},
            "signal_dependencies": [{"name": "ready"}],
        }
    }


def restarted(server: Served, workflow_id: str, times: int) -> None:
    """An instance with so many runs more."""
    for number in range(times):
        path = f"/workflows/{workflow_id}/instances/1/actions/restart"
        server.post(path, FROM_START)
        run = f"/workflows/{workflow_id}/instances/1/runs/{number + 2}"
        server.until(run, lambda found: found["status"] == "SUCCEEDED")


def fill(server: Served) -> dict[str, str]:
    """Forty of everything; the inline workflows by what they are."""
    server.push("child", **WIDE)
    server.push("plain", **WIDE)
    server.push("wide", wide("each", MANY), **WIDE)
    server.push("failing", shell("a", "exit 1"), **WIDE)
    server.push("often")
    server.push("again", looped("each"))
    for width in (1, 10, MANY):
        server.push(f"steps{width}", *(noop(f"s{n}") for n in range(width)))
        server.push(f"loops{width}", *(looped(f"l{n}") for n in range(width)))
        server.push(f"children{width}", *(child(f"c{n}") for n in range(width)))
        for kind in ("steps", "loops", "children"):
            server.start(f"{kind}{width}")
    held = sleep("held", 86_400)
    held["step"]["tags"] = [{"name": "hot"}]
    server.push("limited", held, **WIDE)
    server.push("signalled", waiting_for_signal("w"), **WIDE)
    server.post("/tag-permits", {"tag": "hot", "max_allowed": MANY})
    for name in ("often", "again", "wide"):
        server.start(name)
        server.ended(name)
    for number in range(MANY):
        server.start("plain")
        server.start("signalled")
        server.start("limited")
        server.start("limited")
        scheduled(server, f"other{number}")
        server.push("versions")
        server.post("/signals", {"name": "done", "params": {"n": number}})
        server.post("/tag-permits", {"tag": f"t{number}", "max_allowed": 5})
    restarted(server, "often", MANY - 1)
    restarted(server, "again", 9)
    for number in range(MANY):
        server.ended("plain", number + 1)
    for path in ("tag-permits/hot/holders", "tag-permits/hot/waiters", "signals/ready/waiters"):
        server.until(f"/{path}?first={MANY}", lambda page: len(page["elements"]) == MANY)
    for width in (1, 10, MANY):
        for kind in ("steps", "loops", "children"):
            server.ended(f"{kind}{width}")
    return {name: inline(server, name, "each") for name in ("wide", "again")}


def scheduled(server: Served, workflow_id: str) -> None:
    workflow = {
        "id": workflow_id,
        "steps": [noop("a")],
        "time_triggers": [{"type": "CRON", "cron": "0 0 1 1 *"}],
    }
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})


def inline(server: Served, workflow_id: str, step_id: str) -> str:
    found = server.get(f"/workflows/{workflow_id}/instances/1/steps/{step_id}")
    return str(found["artifacts"]["maestro_foreach"]["foreach_workflow_id"])


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    with served(url=f"sqlite:///{path}") as server:
        return path, fill(server)


class Reader:
    """A server without a node, whose statements are counted."""

    def __init__(self, server: Served, database: CountedSqlite, names: dict[str, str]) -> None:
        self.server = server
        self._database = database
        self._names = names

    def count(self, path: str, *, rows: int | None = None) -> int:
        """The statements of one request, once everything is warm: the server itself looks at the database,
        too, now and then.
        """
        where = path.format(**self._names)
        counts = []
        for _ in range(4):
            before = self._database.statements()
            found = self.server.get(where)
            counts.append(self._database.statements() - before)
            if rows is not None:
                assert len(found["elements"]) == rows, where
        return min(counts)


@pytest.fixture
def reader(filled: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    path, names = filled
    database = CountedSqlite(path, monkeypatch)
    with served(url=database.url, node=False) as server:
        yield Reader(server, database, names)


@pytest.mark.parametrize(
    "path",
    [
        "/workflows?prefix=other",
        "/instances",
        "/instances?status=SUCCEEDED,FAILED&include=count",
        "/workflows/plain/instances?aggregated=true",
        "/workflows/plain/instances?fields=status",
        "/workflows/{wide}/instances",
        "/workflows/often/instances/1/runs",
        "/workflows/versions/versions/pagination",
        "/tag-permits",
        "/tag-permits/hot/holders",
        "/tag-permits/hot/waiters",
        "/signals/done/instances",
        "/signals/ready/waiters",
        "/schedules",
    ],
)
def test_a_page_costs_the_same_however_long_it_is(reader: Reader, path: str) -> None:
    joint = "&" if "?" in path else "?"
    counts = {rows: reader.count(f"{path}{joint}first={rows}", rows=rows) for rows in (1, 10, MANY)}
    assert max(counts.values()) <= MOST, counts


def test_recent_runs_cost_a_statement_for_sixteen_workflows(reader: Reader) -> None:
    """MariaDB walks along no more indexes in one."""
    path = "/workflows?prefix=other&include=recent,counts,outcomes,p50,next&first={}"
    counts = [reader.count(path.format(rows), rows=rows) for rows in (1, 16, MANY)]
    assert counts[0] == counts[1] == counts[2] - 2 <= MOST, counts


def test_iterations_that_were_restarted_cost_what_others_do(reader: Reader) -> None:
    counts = [reader.count(f"/workflows/{{again}}/instances?first={rows}", rows=rows) for rows in (1, 3)]
    assert max(counts) <= MOST, counts


@pytest.mark.parametrize("kind", ["steps", "loops", "children"])
@pytest.mark.parametrize("of", ["/runs/1/steps", "/steps"])
def test_the_steps_of_a_run_cost_the_same_however_many_they_are(reader: Reader, kind: str, of: str) -> None:
    counts = [reader.count(f"/workflows/{kind}{width}/instances/1{of}") for width in (1, 10, MANY)]
    assert len(set(counts)) == 1, counts
    assert max(counts) <= MOST + 1, counts
