"""Numbers that no database can hold, wherever a client may send one: refused, and never a failure of ours."""

from base64 import urlsafe_b64encode

import msgspec
import pytest
from tests.api.serving import Served

LARGE = [2**62, 2**63 - 1, 2**63, 2**64, 10**30]


@pytest.fixture(scope="module")
def places(server: Served) -> list[tuple[str, list[str]]]:
    """Every address that is read from, with the names of its parameters."""
    server.push("numbers")
    server.start("numbers")
    server.ended("numbers")
    found = server.client.get("/openapi.json").json()["paths"]
    return [
        (path, [each["name"] for each in ways["get"].get("parameters", ()) if each["in"] == "query"])
        for path, ways in found.items()
        if "get" in ways and not path.endswith("/events")
    ]


@pytest.mark.parametrize("number", LARGE)
def test_no_number_in_an_address_or_a_query_is_a_failure(
    server: Served, places: list[tuple[str, list[str]]], number: int
) -> None:
    asked = 0
    for path, names in places:
        at = path.replace("{workflow_id}", "numbers").replace("{step_id}", "a")
        at = "/".join(str(number) if "{" in each else each for each in at.split("/"))
        for query in ({}, *({name: str(number)} for name in names), {"first": "5", "cursor": str(number)}):
            answer = server.client.get(at, params=query)
            assert answer.status_code < 500, (at, query, answer.text)
            asked += 1
    assert asked > 200


@pytest.mark.parametrize("way", ["first", "last"])
@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 10**30])
@pytest.mark.parametrize(
    "path",
    ["/workflows/numbers/instances", "/workflows/numbers/instances/1/runs"],
)
@pytest.mark.usefixtures("places")
def test_a_cursor_that_no_id_can_have_is_refused(server: Served, path: str, number: int, way: str) -> None:
    found = server.get(f"{path}?{way}=5&cursor={number}", 400)
    assert f"Invalid cursor [{number}]" in str(found)


@pytest.mark.parametrize("number", [2**63, 2**64 - 1])
@pytest.mark.usefixtures("places")
def test_a_large_number_inside_of_a_cursor_is_refused(server: Served, number: int) -> None:
    events = urlsafe_b64encode(msgspec.msgpack.encode([number] + [0] * 127)).decode()
    assert server.client.get(f"/api/v3/events?cursor={events}").status_code == 400
    page = urlsafe_b64encode(msgspec.json.encode([number, "numbers", number, 1])).decode()
    for path in ("/runs", "/workflows", "/bulk", "/approvals"):
        assert server.client.get(f"/api/v3{path}?first=5&cursor={page}").status_code in {400, 404}, path
