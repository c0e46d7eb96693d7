"""The API described by itself: the document, the page, and requests made up from the document."""

import json
import os
import re
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.api.serving import LOOP, Served, noop
from tests.api.test_refusals import NEEDS_A_USER

from stretto.api.openapi.document import document
from stretto.api.routes import API, HEALTH
from stretto.api.routing import USER, shown_path

DOCUMENT = json.loads(json.dumps(document((*HEALTH, *API))))
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
PLACEHOLDER = re.compile(r"\{[^}]+\}")
EXAMPLES = int(os.environ.get("EXAMPLES", "8"))  # of each operation


# ---------------------------------------------------------------------------------------------- document
def test_the_document_is_served(server: Served) -> None:
    response = server.client.get("/openapi.json")
    assert response.json() == DOCUMENT
    assert DOCUMENT["openapi"] == "3.1.0"


def test_every_route_is_in_the_document() -> None:
    routes = {
        (method.lower(), path)
        for route in (*HEALTH, *API)
        for path in route.paths
        for method in route.http_methods
    }
    found = {(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert found == {(method, shown_path(path)) for method, path in routes}
    names = [each["operationId"] for methods in DOCUMENT["paths"].values() for each in methods.values()]
    assert len(set(names)) == len(names)


def test_every_reference_leads_somewhere() -> None:
    known = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(DOCUMENT))) <= known
    for name, schema in DOCUMENT["components"]["schemas"].items():
        whole = {**schema, "components": DOCUMENT["components"]}
        assert jsonschema_rs.validator_for(whole) is not None, name


def test_who_must_name_a_user_is_written_down() -> None:
    """The routes that say so are those that refuse whoever does not."""
    asked = {(method, re.sub(r"\?.*", "", f"/api/v3{path}")) for method, path, _body in NEEDS_A_USER}
    patterns = [
        (
            route.http_methods,
            re.compile(PLACEHOLDER.sub("[^/]+", shown_path(path)) + "$"),
            (route.opt or {})[USER],
        )
        for route in API
        for path in route.paths
    ]
    for method, path in asked:
        assert any(needs for verbs, pattern, needs in patterns if method in verbs and pattern.match(path)), (
            path
        )
    yaml = {"/api/v3/workflows/yaml", "/api/v3/workflows/actions/validate/yaml", "/api/v3/job-templates/yaml"}
    tried = [
        any(method in verbs and pattern.match(path) for method, path in asked)
        for verbs, pattern, needs in patterns
        if needs and pattern.pattern.rstrip("$") not in yaml
    ]
    assert all(tried)


@pytest.mark.parametrize("path", ["/docs", "/"])
def test_the_page_needs_nothing_from_elsewhere(server: Served, path: str) -> None:
    response = server.client.get(path)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert not re.search(r"(src|href)=.(https?:)?//", response.text)
    assert "openapi.json" in response.text


# ----------------------------------------------------------------------------------------- made-up requests
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
ENDLESS = {"/api/v3/events"}  # a stream: whoever reads it to its end waits for ever
OPERATIONS = [
    each.ok()
    for each in SCHEMA.get_all_operations()
    if isinstance(each, Ok) and each.ok().path not in ENDLESS
]


def test_every_operation_can_be_made_up() -> None:
    every = sum(len(methods) for methods in DOCUMENT["paths"].values())
    assert len(OPERATIONS) == every - len(ENDLESS)


@pytest.fixture(scope="module", autouse=True)
def world(server: Served) -> None:
    """Something to find: the ids that made-up requests often have, too."""
    for name in ("w", "0", "a"):
        server.push(name, noop("a"), LOOP)
        server.start(name)
        server.ended(name)
    ids = [{"workflow_id": "w", "workflow_instance_id": 1}]
    server.post("/bulk", {"action": "STOP", "ids": ids, "request_id": "some"})
    server.post("/signals", {"name": "a"})
    server.post("/tag-permits", {"tag": "a", "max_allowed": 1})


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each.method.upper()} {each.path}")
def test_whatever_is_asked_is_answered_as_described(server: Served, operation: Any) -> None:
    @seed(20261116)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        response = case.call(base_url=server.url)
        case.validate_response(response, checks=CHECKS)

    ask()


REAL = [
    "/api/v3/workflows/w/versions/1?enriched=true",
    "/api/v3/workflows/w/versions/pagination?first=2",
    "/api/v3/workflows/w/versions/1/graph",
    "/api/v3/workflows/w/versions/1/source?format=json",
    "/api/v3/workflows/w/versions/1/form",
    "/api/v3/workflows/w/versions/diff?from=1",
    "/api/v3/workflows/w/overview",
    "/api/v3/workflows/w/timeline",
    "/api/v3/workflows/w/properties-snapshot/latest",
    "/api/v3/workflows/w/instances/1",
    "/api/v3/workflows/w/instances/1/runs/1?aggregated=true",
    "/api/v3/workflows/w/instances/1/runs?first=1",
    "/api/v3/workflows/w/instances?first=1",
    "/api/v3/workflows/w/instances?first=1&fields=status,params",
    "/api/v3/workflows/w/instances/1/steps?fields=runtime_state",
    "/api/v3/workflows/w/instances/1/steps",
    "/api/v3/workflows/w/instances/1/steps/each",
    "/api/v3/workflows/w/instances/1/runs/1/steps/a/attempts/1",
    "/api/v3/workflows/w/instances/1/runs/1/steps/each/attempts/1/artifacts",
    "/api/v3/workflows/w/instances/1/runs/1/steps/each/attempts/1/artifacts/maestro_foreach/content",
    "/api/v3/workflows/instances/action-map",
    "/api/v3/workflows/steps/instances/action-map",
    "/api/v3/signals/a/instances/1",
    "/api/v3/tag-permits/a",
    "/api/v3/job-templates",
    "/api/v3/workflows?include=recent,outcomes,next",
    "/api/v3/instances?first=3",
    "/api/v3/workflows/w/instances/1/runs/1/state",
    "/api/v3/workflows/w/instances/1/state?scope=aggregated",
    "/api/v3/workflows/w/grid",
    "/api/v3/workflows/w/stats?window=1h",
    "/api/v3/views/flatten/workflows/w/instances/1/runs/1/steps/inner?first=2&sort=longest",
    "/api/v3/views/flatten/workflows/w/instances/1/runs/1/steps/each/iterations/map?buckets=2",
    "/api/v3/workflows/w/instances/1/runs/1/tree?depth=2",
    "/api/v3/workflows/w/instances/1/why",
    "/api/v3/workflows/w/instances/1/steps/a/why",
    "/api/v3/workflows/w/instances/1/runs/1/why",
    "/api/v3/workflows/w/instances/1/runs/1/steps/a/why",
    "/api/v3/workflows/w/instances/1/runs/1/steps/a/attempts",
    "/api/v3/workflows/w/instances/1/runs/1/resolve?path=each[1].inner",
    "/api/v3/workflows/w/properties-snapshot",
    "/api/v3/breakpoints",
    "/api/v3/signals",
    "/api/v3/tag-permits",
    "/api/v3/nodes",
    "/api/v3/quarantine",
    "/api/v3/step-types",
    "/api/v3/bulk",
    "/api/v3/bulk/some",
    "/api/v3/bulk/some/items",
    "/api/v3/me",
    "/api/v3/views/flatten/workflows/w/instances/1/runs/1/steps/inner?first=2",
    "/api/v3/views/flatten/workflows/w/instances/1/runs/1/steps/inner/iterations/1",
    "/api/v3/views/flatten/workflows/w/instances/1/runs/1/steps/inner/summary?statusCount=true",
]


@pytest.mark.parametrize("path", REAL)
def test_real_answers_are_as_described(server: Served, path: str) -> None:
    """Made-up requests find little: these find everything that has a large answer."""
    response = server.client.get(path)
    assert response.status_code == 200
    plain = path.partition("?")[0]
    fits = [
        each
        for each in DOCUMENT["paths"]
        if "get" in DOCUMENT["paths"][each] and re.fullmatch(PLACEHOLDER.sub("[^/]+", each), plain)
    ]
    best = max(fits, key=lambda each: (-each.count("{"), len(each)))
    answer = DOCUMENT["paths"][best]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema_rs.validate({**answer, "components": DOCUMENT["components"]}, response.json())


def test_the_least_and_the_most_of_a_number_are_said(server: Served) -> None:
    told = server.client.get("/openapi.json").json()["paths"]["/api/v1/instances"]["get"]["parameters"]
    limit, offset = (
        next(each["schema"] for each in told if each["name"] == name) for name in ("limit", "offset")
    )
    assert (limit["minimum"], limit["maximum"]) == (1, 100)
    assert (offset["minimum"], offset["maximum"]) == (0, 10_000)
