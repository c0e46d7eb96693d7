"""What live views read: graphs, states and grids."""

import gzip
import json
import random
from typing import Any

import pytest
from tests.api.serving import LOOP, Served, noop, shell, sleep

from stretto.actions.reading import states
from stretto.actions.reading.states import StateView
from stretto.api.cursors import cursor_text
from stretto.model.status import RunStatus
from stretto.model.wire import codec_of, to_json
from stretto.ports.events import Trimmed


def test_the_graph_of_a_version(server: Served) -> None:
    first, second = noop("a", "b"), noop("b", "each")
    first["step"]["transition"]["successors"]["b"] = "1 > 0"
    server.push("drawn", first, second, LOOP)
    for version in ("1", "latest", "active", "default"):
        found = server.get(f"/workflows/drawn/versions/{version}/graph")
        assert found == {
            "workflow_id": "drawn",
            "workflow_version_id": 1,
            "ids": ["a", "b", "each", "inner"],
            "kinds": ["NoOp", "NoOp", "foreach", "NoOp"],
            "names": [],
            "stages": [],
            "parents": [-1, -1, -1, 2],
            "edge_from": [0, 1],
            "edge_to": [1, 2],
            "conditions": ["1 > 0", ""],
        }


def test_who_has_a_graph_gets_it_only_once(server: Served) -> None:
    server.push("kept")
    path = "/api/v3/workflows/kept/versions/latest/graph"
    first = server.client.get(path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = server.client.get(path, headers={"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert "stretto-cursor" in again.headers
    assert server.client.get(path, headers={"if-none-match": '"other"'}).json() == first.json()
    server.push("kept", noop("a"), noop("b"))
    changed = server.client.get(path, headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/workflows/nobody/versions/1/graph", 404, "Cannot find workflow [nobody]"),
        ("/workflows/wrong/versions/99/graph", 404, "Cannot find workflow version [wrong][99]"),
        ("/workflows/wrong/versions/newest/graph", 400, "write active, latest, default or a version number"),
        ("/workflows/wrong/instances/1/runs/9/tree", 404, "Cannot find workflow instance run"),
        ("/workflows/wrong/instances/1/runs/1/tree?cursor=x", 400, "Invalid cursor [x]"),
        ("/workflows/wrong/instances/1/runs/1/tree?last=5", 400, "use first, and end_cursor to go on"),
        ("/workflows/nobody/stats", 404, "Cannot find workflow [nobody]"),
        (
            "/workflows/wrong/stats?window=soon",
            400,
            "Invalid window [soon] (write a duration such as 24h or 7d)",
        ),
        ("/workflows/wrong/stats?window=0", 400, "Invalid window [0]"),
        ("/workflows/wrong/stats?window=99999999999d", 400, "Invalid window [99999999999d]"),
        ("/workflows/nobody/grid", 404, "Cannot find workflow [nobody]"),
        ("/workflows/wrong/grid?cursor=x", 400, "Invalid cursor [x]"),
        ("/workflows/wrong/instances/99/state", 404, "Cannot find workflow instance [wrong][99]"),
        ("/workflows/wrong/instances/1/runs/9/state", 404, "Cannot find workflow instance run [wrong][1][9]"),
        ("/workflows/wrong/instances/1/runs/x/state", 400, "write latest or a number"),
        ("/workflows/wrong/instances/1/state?scope=all", 400, "Invalid scope [all] (one of run, aggregated)"),
        ("/workflows/wrong/instances/1/state?since=7", 400, "Invalid cursor [7]"),
        ("/workflows/wrong/instances/1/state?since=", 400, "Invalid cursor []"),
    ],
)
def test_what_is_not_there(server: Served, path: str, status: int, said: str) -> None:
    server.push("wrong")
    server.start("wrong")
    answer: Any = server.get(path, status)
    assert said in answer["message"]


def test_the_state_of_a_run(server: Served) -> None:
    server.push("stated", noop("a", "b"), shell("b", "exit 3", "c"), noop("c"))
    server.start("stated")
    run = server.ended("stated", 1, "FAILED")
    found = server.get("/workflows/stated/instances/1/runs/1/state")
    assert found == server.get("/workflows/stated/instances/1/state?scope=RUN")
    assert (found["codes"], found["attempts"]) == ("sF.", [1, 1, 0])
    assert (found["status"], found["workflow_version_id"]) == ("FAILED", 1)
    assert (found["start_time"], found["end_time"]) == (run["start_time"], run["end_time"])
    assert found["starts"][2] == found["durations"][2] == -1
    assert min(found["starts"][:2]) >= 0
    assert found["children"] == {"places": [], "refs": [], "totals": [], "counts": []}
    over_all = server.get("/workflows/stated/instances/1/state?scope=aggregated")
    assert (over_all["codes"], over_all["runs"]) == ("sF.", [1, 1, 0])


def end_of_log(server: Served) -> str:
    return cursor_text(server.run(server.app.parts.store.newest_seqs()))


def test_only_what_has_changed_since_then(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.push("moving", noop("a", "b"), sleep("b", 3_600, "c"), noop("c"), LOOP)
    server.start("moving")
    server.step_is("moving", "b", "RUNNING")
    server.step_is("moving", "each", "SUCCEEDED")
    path = "/workflows/moving/instances/1/state"
    whole = server.get(path)
    assert (whole["codes"], "places" in whole) == ("sr.s", False)
    assert (whole["children"]["totals"], whole["children"]["counts"]) == ([3], [{"s": 3}])
    now = end_of_log(server)
    nothing = server.get(f"{path}?since={now}")
    assert (nothing["places"], nothing["codes"], nothing["starts"]) == ([], "", [])
    assert nothing["children"]["places"] == []
    server.put("/workflows/moving/instances/1/steps/b/actions/skip")
    server.ended("moving")
    changed = server.get(f"{path}?since={now}")
    assert (changed["places"], changed["codes"], changed["status"]) == ([1, 2], "ks", "SUCCEEDED")
    anew = server.get(f"{path}?since={now}&scope=aggregated")  # the run has ended: that may change it all
    assert (anew["codes"], "places" in anew) == ("skss", False)
    monkeypatch.setattr(states, "MOST_COMMITS", 1)  # behind too many commits nobody looks for changes
    assert server.get(f"{path}?since={now}")["codes"] == "skss"


def test_who_follows_the_changes_knows_the_whole(server: Served) -> None:
    """A reader that puts changes into what it has read ends with what a fresh reader sees."""
    chains = [
        shell(f"s{row}{place}", "exit 1" if (row, place) == (3, 2) else "sleep 0.02", *_next(row, place))
        for row in range(8)
        for place in range(4)
    ]
    server.push("followed", *chains)
    server.start("followed")
    path = "/api/v3/workflows/followed/instances/1/runs/1/state"
    columns = ("codes", "starts", "durations", "attempts")
    response = server.client.get(path)
    known = {name: list(response.json()[name]) for name in columns}
    whole = partial = 0
    while True:
        response = server.client.get(path, params={"since": response.headers["stretto-cursor"]})
        found = response.json()
        whole, partial = whole + ("places" not in found), partial + ("places" in found)
        for name in columns:
            for place, value in zip(found.get("places", range(32)), found[name], strict=True):
                known[name][place] = value
        if found["status"] == "FAILED":
            break
    fresh = server.get("/workflows/followed/instances/1/runs/1/state")
    assert known == {name: list(fresh[name]) for name in columns}
    assert (whole, partial > 0) == (0, True)
    assert fresh["codes"].count("F") == 1


def _next(row: int, place: int) -> list[str]:
    return [f"s{row}{place + 1}"] if place < 3 else []


def test_what_is_no_longer_kept_is_told_in_full(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def trimmed(_cursor: Any, *, most: int) -> Any:
        raise Trimmed(frozenset({most}))

    server.push("old")
    server.start("old")
    server.ended("old")
    monkeypatch.setattr(server.app.parts.store, "read_log", trimmed)
    found = server.get(f"/workflows/old/instances/1/state?since={end_of_log(server)}")
    assert (found["codes"], "places" in found) == ("s", False)


def test_what_goes_on_below_a_step_is_always_told(server: Served) -> None:
    loop = {"foreach": {**LOOP["foreach"], "steps": [sleep("s")]}}
    server.push("below", sleep("c"))
    names = {"subworkflow_id": "below", "subworkflow_version": "latest"}
    params = {name: {"value": value, "type": "STRING"} for name, value in names.items()}
    server.push("around", loop, {"subworkflow": {"id": "sub", "transition": {}, "params": params}}, noop("z"))
    server.start("around")
    server.step_is("below", "c", "RUNNING")
    server.until("/workflows/around/instances/1/state", lambda found: found["codes"] == "rrs")
    path = "/workflows/around/instances/1/state"
    server.until(path, lambda found: found["children"]["counts"][1:] == [{"r": 1}])
    found = server.get(f"{path}?since={end_of_log(server)}")
    assert (found["places"], found["codes"]) == ([0, 1], "rr")
    below = found["children"]
    assert (below["places"], below["refs"][1], below["totals"]) == ([0, 1], "below/1/1", [3, -1])
    assert server.get(f"/workflows/{below['refs'][0]}/instances/2/state")["codes"] == "r"
    server.put("/workflows/around/instances/1/actions/stop")
    server.ended("around", 1, "STOPPED")
    assert server.get(path)["codes"] == "SSs"


def test_steps_that_came_while_it_ran(server: Served) -> None:
    server.push("pattern", noop("x", "y"), shell("y", "exit 1", "z"), noop("z"))
    server.push("from_pattern", noop("a", "t"), {"template": {"id": "t", "sub_type": "pattern"}})
    server.start("from_pattern")
    server.ended("from_pattern", 1, "FAILED")
    found = server.get("/workflows/from_pattern/instances/1/state")
    assert found["codes"] == "sF"
    assert found["children"]["places"] == []
    (added,) = found["added"]
    assert (added["place"], added["codes"]) == (1, "sF.")
    graph = added["graph"]
    assert (graph["ids"], graph["edge_from"], graph["edge_to"]) == (["x", "y", "z"], [0, 1], [1, 2])
    assert server.get(f"/workflows/{graph['workflow_id']}/instances/1/state")["codes"] == "sF."
    assert server.get(f"/workflows/{graph['workflow_id']}/versions/1/graph")["ids"] == graph["ids"]
    (below,) = server.get("/workflows/from_pattern/instances/1/runs/1/tree?depth=9")["elements"]
    assert (below["path"], below["kind"], below["counts"]) == ("t[1]", "template", {"s": 1, "F": 1})
    place = server.get(f"/workflows/from_pattern/instances/1/runs/1/resolve?path={below['path']}.y")
    assert (place["workflow_id"], place["step_id"]) == (graph["workflow_id"], "y")


@pytest.mark.parametrize("runs", ["0", "101", "x"])
def test_a_grid_has_some_runs_and_not_too_many(server: Served, runs: str) -> None:
    server.push("bounded")
    assert "runs" in server.get(f"/workflows/bounded/grid?runs={runs}", 400)["detail"]


def test_the_grid_of_a_workflow(server: Served) -> None:
    server.push("grown", noop("a", "b"), noop("b"))
    server.start("grown")
    server.push("grown", noop("c", "a"), shell("a", "exit 1", "d"), noop("d"))
    server.start("grown")
    server.ended("grown", 1)
    server.ended("grown", 2, "FAILED")
    found = server.get("/workflows/grown/grid")
    assert found["steps"] == ["c", "a", "d", "b"]
    assert [(run["workflow_instance_id"], run["codes"]) for run in found["runs"]] == [
        (2, "sF.-"),
        (1, "-s-s"),
    ]
    assert [run["workflow_version_id"] for run in found["runs"]] == [2, 1]
    first = server.get("/workflows/grown/grid?runs=1")
    assert (first["steps"], first["page_info"]["has_next_page"]) == (["c", "a", "d"], True)
    rest = server.get(f"/workflows/grown/grid?cursor={first['page_info']['end_cursor']}")
    assert (rest["steps"], [run["codes"] for run in rest["runs"]]) == (["a", "b"], ["ss"])
    assert (rest["page_info"]["has_previous_page"], rest["page_info"]["has_next_page"]) == (True, False)


def test_stats_over_http(server: Served) -> None:
    server.push("measured", noop("a", "b"), shell("b", "exit 1"))
    server.start("measured")
    server.ended("measured", 1, "FAILED")
    found = server.get("/workflows/measured/stats?window=1 hour")
    assert found["runs"] == {"count": 1, "failed": 1, "failure_rate": 1}
    assert (found["steps"]["ids"], found["steps"]["failure_rates"]) == (["a", "b"], [0, 1])


def test_iterations_over_http(server: Served) -> None:
    loop = {"foreach": {**LOOP["foreach"], "steps": [shell("inner", "test ${i} -ne 8")], "concurrency": 3}}
    server.push("looped", loop, noop("plain"))
    server.start("looped")
    server.ended("looped", 1, "FAILED")
    base = "/views/flatten/workflows/looped/instances/1/runs/1/steps"
    found = server.get(f"{base}/each/iterations/map?buckets=1")
    assert (found["step_id"], found["total"], found["width"]) == ("each", 3, 3)
    assert found["counts"]["F"] == [1]
    for query, ranks in (
        ("sort=failed_first", ["12"]),
        ("sort=LATEST&q=9", ["13"]),
        ("error=exit", ["12"]),
        ("sort=longest&q=8", ["12"]),
    ):
        elements = server.get(f"{base}/inner?first=5&{query}")["elements"]
        assert [each["iteration_rank"] for each in elements][: len(ranks)] == ranks, query
    refused = {
        "inner?first=5&sort=fast": "Invalid sort [fast]",
        "inner?last=5&sort=longest": "is read from its beginning on",
        "plain/iterations/map": "is neither a loop nor inside one",
    }
    for path, said in refused.items():
        assert said in server.get(f"{base}/{path}", 400)["message"]
    server.get(f"{base}/nothing/iterations/map", 404)
    assert "buckets" in server.get(f"{base}/each/iterations/map?buckets=0", 400)["detail"]


# ---------------------------------------------------------------------------------------------------- sizes
STEPS = 10_000
MOST_BYTES = 200_000  # of graph and state together, as they are sent


def test_ten_thousand_steps_are_small(server: Served) -> None:
    dice = random.Random(7)  # noqa: S311 - the same graph each time

    def behind(place: int) -> range:
        return range(place + 1, min(place + 300, STEPS))

    chain = [
        noop(f"step_{place:05}", *{f"step_{target:05}" for target in dice.sample(behind(place), 2)})
        for place in range(STEPS - 2)
    ]
    server.push("large", *chain, *(noop(f"step_{place:05}") for place in (STEPS - 2, STEPS - 1)))
    server.start("large")
    server.ended("large")
    sizes = {}
    for name, path in (("graph", "versions/1/graph"), ("state", "instances/1/runs/1/state")):
        with server.client.stream("GET", f"/api/v3/workflows/large/{path}") as response:
            sent = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == "gzip"
        sizes[name] = len(sent)
        body = json.loads(gzip.decompress(sent))
        assert len(body["ids" if name == "graph" else "codes"]) == STEPS
    assert sum(sizes.values()) < MOST_BYTES, sizes


def test_ten_thousand_different_times_are_small() -> None:
    """A run whose steps all took a while of their own has more to say than one that was over at once."""
    dice = random.Random(8)  # noqa: S311 - the same times each time
    codes = dice.choices("srF.u", weights=(90, 3, 3, 3, 1), k=STEPS)
    view = StateView(
        workflow_id="large",
        workflow_instance_id=1,
        workflow_run_id=1,
        workflow_version_id=1,
        status=RunStatus.FAILED,
        create_time=1,
        origin=1,
        codes="".join(codes),
        starts=tuple(sorted(dice.randint(0, 3_600_000) for _ in range(STEPS))),
        durations=tuple(int(dice.lognormvariate(7, 1)) for _ in range(STEPS)),
        attempts=tuple(dice.choices((1, 2, 3), weights=(95, 4, 1), k=STEPS)),
        children=states.Children(),
        added=(),
    )
    assert len(gzip.compress(to_json(codec_of(StateView).encode(view)), 4)) < MOST_BYTES / 2
