"""Following a run on a server from the command line, and the words for its loops."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.api.serving import Served, noop, served

from stretto.cli.remote import watching
from stretto.cli.remote.watching import Wish, watch
from stretto.cli.showing.loops import BadIteration, LoopSight, loop_text
from stretto.cli.target import Given, server_of
from stretto.client import Changed, Client, Resync
from stretto.engine.records import RunKey
from stretto.model.response import StartResponse, StartStatus


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


def test_who_is_interrupted_leaves_the_run_alone(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_args: Any) -> None:
        raise KeyboardInterrupt

    remote = server_of(Given(None, (), server.url, user="ann"))
    made = StartResponse(
        workflow_id="w",
        workflow_version_id=1,
        workflow_instance_id=7,
        workflow_run_id=2,
        status=StartStatus.CREATED,
    )
    with Client(server.url) as client:
        monkeypatch.setattr(client, "wait", interrupted, raising=False)
        assert watch(client, remote, made, Wish(wait=True)) == 130
    said = capsys.readouterr().err
    assert (
        said
        == f"w/7/2 goes on there; it is stopped by: stretto stop w/7/2 --user ann --server {server.url}\n"
    )


def test_who_missed_something_looks_again(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "missed"
    server.push(name, noop("a"))
    with Client(server.url, user="ann") as client:
        run = client.wait(client.start(name))
        happened = [
            Resync(cursor="c", reason="x"),
            Changed(cursor="c", at=1, events=()),
            Resync(cursor="c", reason="x"),
        ]
        monkeypatch.setattr(client, "follow_run", lambda *_args, **_rest: iter(happened), raising=False)
        watching._follow(client, RunKey(name, run.workflow_instance_id, 1), None)
    assert capsys.readouterr().out.count("a SUCCEEDED") == 1


def test_of_many_iterations_some_are_named() -> None:
    bad = tuple(BadIteration(number, f"i={number}") for number in range(1, 6))
    loop = LoopSight(step_id="each", total=100, ended=50, failed=9, bad=bad)
    assert loop_text(loop).endswith("each[5] (i=5), 4 more")
    assert loop_text(msgspec.structs.replace(loop, bad=())) == "50 of 100 iterations, 9 failed"
    assert loop_text(
        LoopSight(step_id="each", total=None, ended=3, failed=1, bad=(BadIteration(3),))
    ).endswith("1 failed: each[3]")
