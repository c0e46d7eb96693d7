"""What depends on the database: numbers that no column can hold, pages, actions, events."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.api.databases import database_url
from tests.api.serving import LOOP, Served, noop, served, sleep

from stretto.actions.reading.listing import cursor_of
from stretto.api.cursors import cursor_text
from stretto.ports.places import GROUPS

HUGE = "9" * 30


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Takes the place of the server in memory."""
    with served(url=database_url(request, tmp_path_factory.mktemp("database"))) as made:
        made.push("w")
        made.push("views", noop("a", "each"), LOOP)
        for name in ("w", "views"):
            made.start(name)
            made.ended(name)
        yield made


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/workflows/w/versions/{HUGE}", 404),
        (f"/workflows/w/versions/pagination?first=1&cursor={HUGE}", 400),
        (f"/workflows/w/versions/pagination?last=1&cursor={HUGE}", 400),
        (f"/workflows/w/instances/{HUGE}", 400),
        (f"/workflows/w/instances?first=1&cursor={HUGE}", 400),
        (f"/workflows/w/instances/1/runs/{HUGE}", 404),
        (f"/workflows/w/instances/1/runs/{HUGE}/steps", 404),
        (f"/workflows/w/instances/1/runs?last=1&cursor={HUGE}", 400),
        (f"/workflows/w/instances/1/runs/1/steps/a/attempts/{HUGE}", 404),
        (f"/signals/x/instances/{HUGE}", 200),
        (f"/views/flatten/workflows/w/instances/1/runs/1/steps/a/iterations/{HUGE}", 400),
        ("/workflows/w/instances/9223372036854775807", 404),
    ],
)
def test_numbers_that_no_database_knows(server: Served, path: str, status: int) -> None:
    server.get(path, status)


@pytest.mark.parametrize(
    "path",
    [
        "/workflows?q=W&has=SUCCEEDED&active=true&include=recent,counts,p50,next,outcomes",
        "/workflows?q=%25_!&has=CREATED&tag=x",
        "/instances?workflow=w&version=1&initiator=MANUAL&sort=create_time&include=count",
        "/instances?parent=w/1/1:a&include=count",
        "/instances?initiator=TIME&since=5&include=count",
        "/instances/histogram?tag=x&roots=true",
        "/instances/histogram?buckets=7",
        "/overview?window=31d",
        "/search?q=w/1/1",
        "/search?q=%F0%9F%90%98",
    ],
)
def test_reads_over_all_workflows(server: Served, path: str) -> None:
    server.get(path)


@pytest.mark.parametrize(
    "path", ["/workflows?q=%00", "/search?q=a%00b", "/instances?owner=%00", "/workflows/a%00/overview"]
)
def test_what_no_database_takes_is_refused(server: Served, path: str) -> None:
    assert "NUL" in server.get(path, 400)["message"]


LARGEST = 2**63 - 1
BASE = "/workflows/views/instances/1"


def test_what_live_views_read(server: Served) -> None:
    assert server.get("/workflows/views/versions/1/graph")["parents"] == [-1, -1, 1]
    state = server.get(f"{BASE}/runs/1/state")
    assert (state["codes"], state["children"]["counts"]) == ("ss", [{"s": 3}])
    assert server.get(f"{BASE}/state?scope=aggregated")["codes"] == "ss"
    beyond = cursor_text(dict.fromkeys(range(GROUPS), 2**62 - 1))  # of another database: all is told
    assert server.get(f"{BASE}/state?since={beyond}") == state
    server.get(f"{BASE}/state?since={cursor_text(dict.fromkeys(range(GROUPS), 2**62))}", 400)
    grid = server.get("/workflows/views/grid")
    assert [run["codes"] for run in grid["runs"]] == ["ss"]
    assert grid["page_info"]["has_next_page"] is False
    tree = server.get(f"{BASE}/runs/1/tree?depth=2")["elements"]
    assert [(each["path"], each["counts"]) for each in tree] == [(f"each[{n}]", {"s": 1}) for n in (1, 2, 3)]
    flat = f"/views/flatten{BASE}/runs/1/steps"
    assert server.get(f"{flat}/each/iterations/map?buckets=2")["counts"] == {"s": [2, 1]}
    for sort, ranks in (("failed_first", ["11", "12", "13"]), ("latest", ["13", "12", "11"])):
        page = server.get(f"{flat}/inner?first=5&sort={sort}")
        assert [each["iteration_rank"] for each in page["elements"]] == ranks
    assert len(server.get(f"{flat}/inner?first=5&sort=longest")["elements"]) == 3
    assert server.get("/workflows/views/stats")["steps"]["counts"] == [1, 1]


@pytest.mark.parametrize(
    ("path", "numbers"),
    [
        ("/workflows/w/grid?", 2),
        ("/workflows/w/instances/1/runs/1/tree?", 2),
        ("/workflows/views/instances/1/runs/1/tree?depth=3&", 4),
        ("/views/flatten/workflows/views/instances/1/runs/1/steps/inner?first=5&sort=longest&", 3),
        ("/views/flatten/workflows/views/instances/1/runs/1/steps/inner?first=5&sort=failed_first&", 2),
    ],
)
def test_cursors_that_nobody_gave(server: Served, path: str, numbers: int) -> None:
    for number in (0, 1, LARGEST):
        server.get(f"{path}cursor={cursor_of([number] * numbers)}")
    server.get(f"{path}cursor={cursor_of([LARGEST + 1] * numbers)}", 400)
    server.get(f"{path}cursor={cursor_of([-1] * numbers)}", 400)


def test_a_run_is_read_held_and_ended(server: Served) -> None:
    assert server.get("/workflows/w/instances?first=5")["total_count"] == 1
    assert server.get("/workflows/w/instances/1/steps/a")["runtime_state"]["status"] == "SUCCEEDED"
    server.push("held", sleep("s"))
    server.start("held")
    server.step_is("held", "s", "RUNNING")
    assert server.get("/instances?workflow=held&status=IN_PROGRESS")["elements"][0]["workflow_id"] == "held"
    assert server.get("/workflows?prefix=he&include=recent")["elements"][0]["recent"]
    assert server.put("/workflows/held/instances/1/steps/s/actions/stop")["step_runtime_state"]
    server.ended("held", 1, "STOPPED")


def test_events_come_from_the_log_of_the_database(server: Served) -> None:
    server.push("heard")
    with server.client.stream("GET", "/api/v3/events?topic=workflow:heard") as response:
        parts = response.iter_text()
        assert "hello" in next(parts)
        server.start("heard")
        told = ""
        while '"new_status":"SUCCEEDED"' not in told:
            told += next(parts)


def test_one_of_several_identical_requests_acts(server: Served) -> None:
    """The others get its answer, also those that come at the same moment."""
    server.push("many-times", sleep("s"))
    server.start("many-times")
    server.step_is("many-times", "s", "RUNNING")
    path = "/workflows/many-times/instances/1"
    together = threading.Barrier(8)

    def stop(_number: int) -> str:
        with httpx.Client(base_url=server.url, headers={"user": "ann"}, timeout=60) as client:
            together.wait()
            made = client.put(f"/api/v3{path}/actions/stop?request_id=one&reason=enough")
            assert made.status_code == 200, made.text
            return made.text

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(stop, range(8)))
    assert len(set(answers)) == 1
    server.ended("many-times", status="STOPPED")
    lines = [each for each in server.get(path)["timeline"] if "asked to stop" in str(each)]
    assert len(lines) == 1
