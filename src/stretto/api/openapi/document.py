"""Routes -> the OpenAPI document."""

import inspect
from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Annotated, Any, Final, get_args, get_origin

from litestar.params import HeaderParameter
from litestar.response import Stream

import stretto
from stretto.api.body import MEDIA_TYPES
from stretto.api.openapi.schemas import PLACE, ApiSchemas
from stretto.api.routing import (
    ERRORS,
    FORM,
    LONGEST_ID,
    LONGEST_REASON,
    MEDIA,
    MOST,
    READS,
    USER,
    Route,
    shown_path,
)
from stretto.api.tagged import NOT_MODIFIED, Tagged
from stretto.definition.reading.read import Format
from stretto.definition.schema.records import Schema
from stretto.model.details import Details
from stretto.model.workflow import Definition

DONE: Final = "Done."
TEXT: Final = "text/plain"
PAGING: Final[dict[str, Schema]] = {
    "first": {"type": "integer", "minimum": 1, "maximum": 200},
    "last": {"type": "integer", "minimum": 1, "maximum": 200},
    "cursor": {"type": "string"},
}
ASKING: Final[dict[str, Schema]] = {
    "dry_run": {"type": "boolean"},
    "reason": {"type": "string", "maxLength": LONGEST_REASON},
    "request_id": {"type": "string", "maxLength": LONGEST_ID},
}
# What stands behind the `?` for a parameter that gathers several.
GATHERED: Final = {"page": PAGING, "part": PAGING, "asking": ASKING}
SCALARS: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0, "maximum": MOST},
}
BOUNDS: Final = {"ge": "minimum", "le": "maximum"}
PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "RFC 9457: what never came to an action.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "request_id": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "instance", "request_id"],
}


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """OpenAPI 3.1 of these routes."""
    schemas = ApiSchemas()
    refused = {
        "application/json": {"schema": schemas.of(Details)},
        "application/problem+json": {"schema": {"$ref": f"{PLACE}Problem"}},
    }
    errors = {
        "4XX": {"description": "Refused: the body says why.", "content": refused},
        "5XX": {"description": "Not possible now, or our fault.", "content": refused},
    }
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = _operation(route, schemas, errors)
        ways = [(path, method) for path in sorted(route.paths) for method in sorted(route.http_methods)]
        for number, (path, method) in enumerate(ways):
            own = operation if number == 0 else {**operation, "operationId": f"{_name(route)}_{number}"}
            paths.setdefault(shown_path(path), {})[method.lower()] = own
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Stretto",
            "version": stretto.__version__,
            "description": "The REST API of Maestro, and what Stretto adds to it.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": {**schemas.definitions(), "Problem": PROBLEM}},
    }


def _operation(route: Route, schemas: ApiSchemas, errors: dict[str, Any]) -> dict[str, Any]:
    opt = route.opt or {}
    text = " ".join((inspect.getdoc(route.fn) or "").split())
    made: dict[str, Any] = {
        "operationId": _name(route),
        "summary": text,
        "tags": [_module(route)],
        "parameters": [*parameters(route)],
        "responses": {**_answers(route, schemas), **_own_errors(opt.get(ERRORS), schemas, errors)},
    }
    if any(each["name"] == "range" for each in made["parameters"]):
        made["responses"]["206"] = made["responses"]["200"]
    if opt.get(USER):
        name: Schema = {"type": "string", "minLength": 1}
        made["parameters"].append({"name": "user", "in": "header", "required": True, "schema": name})
    if opt.get(READS) is not None:
        own_form = (
            opt[FORM] is Format.YAML and opt[READS] is Definition
        )  # Maestro's YAML, which has other keys
        schema = {"type": "object"} if own_form else schemas.of(opt[READS])
        content = {MEDIA_TYPES[opt[FORM]]: {"schema": schema}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _own_errors(tp: Any, schemas: ApiSchemas, errors: dict[str, Any]) -> dict[str, Any]:
    """The same refusals, with the body that a surface has for them."""
    if tp is None:
        return errors
    content = {"application/json": {"schema": schemas.of(tp)}}
    return {name: {**each, "content": content} for name, each in errors.items()}


def _module(route: Route) -> str:
    surface, _, name = str(route.fn.__module__).removeprefix("stretto.api.").rpartition(".")
    return (name if surface == "routes" else f"{surface}-{name}").replace("_", "-")


def _name(route: Route) -> str:
    return f"{_module(route).replace('-', '_')}_{route.fn.__name__}"


def _answers(route: Route, schemas: ApiSchemas) -> dict[str, Any]:
    tp = inspect.signature(route.fn).return_annotation
    media = (route.opt or {}).get(MEDIA)
    if media:
        texts = {each: {"schema": {} if each.endswith("json") else SCALARS[str]} for each in media}
        return {str(route.status_code): {"description": DONE, "content": texts}}
    if get_origin(tp) is not Tagged:
        return {str(route.status_code): _answer(tp, schemas)}
    known = {"description": "The client has it already: nothing is sent."}
    return {str(route.status_code): _answer(get_args(tp)[0], schemas), str(NOT_MODIFIED): known}


def _answer(tp: Any, schemas: ApiSchemas) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if tp is None or NoneType in get_args(tp):
        content[TEXT] = {"schema": {"type": "string", "maxLength": 0}}
    if tp is str:
        content[TEXT] = {"schema": {"type": "string"}}
    elif tp is Stream:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    elif get_origin(tp) is not None and str(tp).startswith("litestar"):
        content["application/json"] = {"schema": {"type": "object"}}
    elif tp is not None:
        content["application/json"] = {"schema": schemas.of(tp)}
    return {"description": DONE, "content": content}


def parameters(route: Route) -> Iterator[dict[str, Any]]:
    """Those of the path, of the query and of the headers."""
    path = min(route.paths)
    for name, field in inspect.signature(route.fn).parameters.items():
        if name in GATHERED:
            for each, schema in GATHERED[name].items():
                yield {"name": each, "in": "query", "required": False, "schema": schema}
        elif f"{{{name}:" in path:
            yield {"name": name, "in": "path", "required": True, "schema": _scalar(field.annotation)}
        elif name not in {"call", "given"}:
            notes = getattr(field.annotation, "__metadata__", ())
            yield {
                "name": spelling(name, field.annotation),
                "in": "header" if any(isinstance(note, HeaderParameter) for note in notes) else "query",
                "required": field.default is inspect.Parameter.empty,
                "schema": _scalar(field.annotation),
            }


def spelling(name: str, annotation: Any) -> str:
    """The name that a query has for a parameter."""
    given = [note.name for note in getattr(annotation, "__metadata__", ()) if getattr(note, "name", None)]
    return str(given[0]) if given else name


def _scalar(annotation: Any) -> Schema:
    """The schema of a parameter; one that may be left out is not sent as null."""
    tp = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    members = [each for each in get_args(tp) if each is not NoneType] or [tp]
    if get_origin(members[0]) is list:
        return {"type": "array", "items": SCALARS[str]}
    schema = SCALARS[members[0]]
    bounds: Schema = {}
    for note in getattr(annotation, "__metadata__", ()):
        bounds |= {name: getattr(note, word) for word, name in BOUNDS.items() if getattr(note, word, None)}
    return {**schema, **bounds}
