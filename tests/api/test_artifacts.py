"""What step attempts left behind, listed and read in parts."""

import json

import pytest
from tests.api.serving import LOOP, Served, noop

from stretto.api.ranges import content

BASE = "/workflows/left/instances/1/runs/1/steps"


@pytest.fixture(scope="module", autouse=True)
def left(server: Served) -> None:
    server.push("left", noop("a"), LOOP)
    server.start("left")
    server.ended("left")


def test_the_artifacts_of_an_attempt(server: Served) -> None:
    (line,) = server.get(f"{BASE}/each/attempts/1/artifacts")
    assert (line["key"], line["type"]) == ("maestro_foreach", "FOREACH")
    response = server.client.get(f"/api/v3{BASE}/each/attempts/latest/artifacts/maestro_foreach/content")
    assert len(response.content) == line["size"]
    assert response.headers["content-disposition"] == "attachment"
    assert response.headers["content-security-policy"] == "sandbox"
    assert response.headers["accept-ranges"] == "bytes"
    assert response.json() == server.get(f"{BASE}/each/attempts/1")["artifacts"]["maestro_foreach"]
    assert server.get(f"{BASE}/a/attempts/1/artifacts") == []


def test_parts_of_an_artifact(server: Served) -> None:
    path = f"/api/v3{BASE}/each/attempts/1/artifacts/maestro_foreach/content"
    whole = server.client.get(path).content
    pieces = []
    for first in range(0, len(whole), 100):
        response = server.client.get(path, headers={"range": f"bytes={first}-{first + 99}"})
        assert response.status_code == 206
        last = min(first + 99, len(whole) - 1)
        assert response.headers["content-range"] == f"bytes {first}-{last}/{len(whole)}"
        assert "content-encoding" not in response.headers
        pieces.append(response.content)
    assert json.loads(b"".join(pieces)) == json.loads(whole)
    beyond = server.client.get(path, headers={"range": "bytes=99999-"})
    assert beyond.status_code == 416
    assert beyond.headers["content-range"] == f"bytes */{len(whole)}"


@pytest.mark.parametrize(
    ("asked", "status", "found"),
    [
        (None, 200, b"0123456789"),
        ("bytes=-", 200, b"0123456789"),
        ("bytes=0-1,3-4", 200, b"0123456789"),
        ("lines=0-1", 200, b"0123456789"),
        ("bytes=0-0", 206, b"0"),
        ("bytes=7-", 206, b"789"),
        ("bytes=-3", 206, b"789"),
        ("bytes=-99", 206, b"0123456789"),
        ("bytes=8-99", 206, b"89"),
    ],
)
def test_ranges(asked: str | None, status: int, found: bytes) -> None:
    response = content(b"0123456789", "text/plain", asked, {})
    assert (response.status_code or 200, response.content) == (status, found)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("each/attempts/9/artifacts", 404),
        ("each/attempts/x/artifacts", 400),
        ("nothing/attempts/1/artifacts", 404),
        ("a/attempts/1/artifacts/maestro_http/content", 404),
        ("each/attempts/1/artifacts/maestro%2Fhttp/content", 404),
    ],
)
def test_wrong_requests(server: Served, path: str, status: int) -> None:
    server.get(f"{BASE}/{path}", status)


def test_what_there_is_instead(server: Served) -> None:
    found = server.get(f"{BASE}/each/attempts/1/artifacts/other/content", 404)
    assert "there are: maestro_foreach" in found["message"]
