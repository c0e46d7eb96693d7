"""Bodies that come compressed, answers that must not be, and methods that every path has."""

import asyncio
import gzip
from typing import Any

import httpx
import pytest
from tests.api.serving import JSON, Served, served

from stretto.api.encodings import PART, decoded, without_refused
from stretto.api.settings import ServerSettings
from stretto.model.errors import InvalidRequest

SIGNAL = b'{"name": "zipped"}'
LIST = "/api/v3/workflows"


def announced(server: Served, body: bytes, encoding: str) -> httpx.Response:
    headers = {**JSON, "content-encoding": encoding}
    return server.client.post("/api/v3/signals", content=body, headers=headers)


# ---------------------------------------------------------------------------------------------- requests
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_a_compressed_body_is_read(server: Served, encoding: str) -> None:
    body = gzip.compress(SIGNAL.replace(b"zipped", encoding.encode()))
    assert announced(server, body, encoding).status_code == 200


def test_a_body_may_say_that_it_is_not_compressed(server: Served) -> None:
    assert announced(server, SIGNAL, "identity").status_code == 200


def test_what_is_not_gzip_is_refused_as_that(server: Served) -> None:
    refused = announced(server, SIGNAL, "gzip")
    assert (refused.status_code, refused.json()["status"]) == (400, "BAD_REQUEST")
    assert "is not gzip" in refused.json()["message"]


def test_a_compressed_body_that_is_cut_off_is_refused(server: Served) -> None:
    refused = announced(server, gzip.compress(SIGNAL)[:-4], "gzip")
    assert (refused.status_code, "not complete" in refused.json()["message"]) == (400, True)


def test_another_encoding_is_refused_with_the_one_that_is_taken(server: Served) -> None:
    refused = announced(server, SIGNAL, "br")
    assert (refused.status_code, refused.headers["accept-encoding"]) == (415, "gzip")
    assert "[br]" in refused.json()["detail"]


def test_little_that_becomes_much_is_too_large() -> None:
    with served(settings=ServerSettings(body=100_000)) as small:
        refused = announced(small, gzip.compress(b" " * 50_000_000), "gzip")
    assert refused.status_code == 413


def parts_of(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """What a reader of a compressed body gets."""

    async def read() -> list[dict[str, Any]]:
        given = iter(messages)

        async def receive() -> Any:
            return next(given)

        scope = {"headers": [(b"content-encoding", b"gzip"), (b"content-length", b"9"), (b"x", b"y")]}
        parts = decoded(scope, receive)
        assert scope["headers"] == [(b"x", b"y")]
        found: list[dict[str, Any]] = []
        while not found or found[-1]["type"] == "http.request":
            found.append(dict(await parts()))
        return found

    return asyncio.run(read())


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 5 * PART])
def test_parts_come_in_any_size_and_leave_in_a_limited_one(size: int) -> None:
    zipped = gzip.compress(b"a" * size)
    sent = [
        {"type": "http.request", "body": zipped[at : at + 9], "more_body": True}
        for at in range(0, len(zipped), 9)
    ]
    found = parts_of(*sent, {"type": "http.request"}, {"type": "http.disconnect"})
    assert b"".join(each.get("body", b"") for each in found) == b"a" * size
    assert all(len(each.get("body", b"")) <= PART for each in found)
    assert [each["more_body"] for each in found[:-1]] == [True] * (len(found) - 2) + [False]


def test_who_goes_away_has_sent_nothing() -> None:
    assert parts_of({"type": "http.disconnect"}) == [{"type": "http.disconnect"}]


def test_an_empty_body_is_nothing_that_gzip_has_made() -> None:
    with pytest.raises(InvalidRequest, match="not complete"):
        parts_of({"type": "http.request", "body": b"", "more_body": False})


# ----------------------------------------------------------------------------------------------- answers
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"gzip;q=0", b""),
        (b"gzip; q=0.000, br", b" br"),
        (b"gzip;q=0.5,identity;q=0", b"gzip;q=0.5"),
        (b"gzip, deflate", b"gzip, deflate"),
    ],
)
def test_what_is_refused_is_no_wish(given: bytes, kept: bytes) -> None:
    assert without_refused([(b"accept-encoding", given), (b"a", b"b;q=0")]) == [
        (b"accept-encoding", kept),
        (b"a", b"b;q=0"),
    ]


def test_an_answer_is_not_compressed_against_the_will_of_the_client(server: Served) -> None:
    answer = server.client.get("/openapi.json", headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in answer.headers


# ----------------------------------------------------------------------------------------------- methods
@pytest.mark.parametrize("path", ["/health", "/ready", LIST, "/api/v1/workflows", "/openapi.json"])
def test_head_is_get_without_the_body(server: Served, path: str) -> None:
    head, whole = server.client.head(path), server.client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]


def test_head_of_what_is_not_there(server: Served) -> None:
    assert server.client.head("/api/v3/workflows/nowhere/overview").status_code == 404


def test_a_stream_has_no_head(server: Served) -> None:
    assert server.client.head("/api/v3/events").status_code == 405


def test_options_say_all_that_a_path_takes(server: Served) -> None:
    answer = server.client.options(LIST)
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
    assert server.client.delete(LIST).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    action = server.client.options("/api/v3/workflows/any/actions/deactivate")
    assert action.headers["allow"] == "OPTIONS, POST, PUT"
    assert server.client.options("/nowhere").status_code == 404


# ------------------------------------------------------------------------------------- the task engine's
def test_what_has_no_route_has_the_envelope_of_its_surface(server: Served) -> None:
    lost = server.client.get("/api/v1/nowhere")
    assert (lost.status_code, lost.json()["code"]) == (404, 404)
    wrong = server.client.patch("/api/v1/workflows")
    assert (wrong.json()["code"], wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert server.client.get("/nowhere").json()["detail"] == "There is nothing at this address"
