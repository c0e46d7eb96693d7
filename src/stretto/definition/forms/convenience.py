"""Short forms that documents about Maestro print, brought into its real form.

    foreach, while    `loop_params` beside `steps`         -> the param `loop_params`
    subworkflow       `workflow_id`, `version`             -> the params `subworkflow_id` and `..._version`
    any array param   `"expression": "[1, 2, 3]"`          -> the literal value
    tags              `{"name": ..., "permit_count": n}`   -> `permit`

Conditions as objects or bare booleans are read by the codec of conditions; `Titus` is a type like others.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from stretto.definition.reading.located import derive

Body = dict[str, Any]

SUBWORKFLOW_KEYS: Final = {
    "workflow_id": "subworkflow_id",
    "version": "subworkflow_version",
    "subworkflow_id": "subworkflow_id",
    "subworkflow_version": "subworkflow_version",
}


def expand_step(kind: str, body: Body) -> Body:
    """A step's body in its real form; the same object if there is nothing to do."""
    expand = _BY_KIND.get(kind)
    if expand is not None:
        body = expand(body)
    if isinstance(body.get("params"), dict):
        body = _replaced(body, "params", expand_params(body["params"]))
    if isinstance(body.get("tags"), list):
        body = _replaced(body, "tags", expand_tags(body["tags"]))
    return body


def _replaced(body: Body, key: str, value: Any) -> Body:
    return body if value is body[key] else derive(body, {**body, key: value})


def _loop(body: Body) -> Body:
    if "loop_params" not in body:
        return body
    loops = body["loop_params"]
    if isinstance(loops, dict):
        loops = derive(body, {"value": loops, "type": "MAP"}, value="loop_params")
    return _with_params(body, {"loop_params": loops}, {"loop_params": "loop_params"})


def _subworkflow(body: Body) -> Body:
    given = {SUBWORKFLOW_KEYS[key]: key for key in SUBWORKFLOW_KEYS if key in body}
    if not given:
        return body
    made = {
        name: derive(body, {"value": _text(body[key]), "type": "STRING"}, value=key)
        for name, key in given.items()
    }
    return _with_params(body, made, given)


def _text(value: Any) -> Any:
    return str(value) if type(value) is int else value


def _with_params(body: Body, made: Body, origin: dict[str, str]) -> Body:
    """Move fields of the body into its params; a param of that name that is there already wins."""
    old = body.get("params")
    if old is not None and not isinstance(old, dict):
        return body
    params = derive(body, {**made, **(old or {})}, **origin)
    rest = {key: value for key, value in body.items() if key not in origin.values()}
    return derive(body, {**rest, "params": params})


_BY_KIND: Final[dict[str, Callable[[Body], Body]]] = {
    "foreach": _loop,
    "while": _loop,
    "subworkflow": _subworkflow,
}


def expand_params(params: Body) -> Body:
    """Expressions that are only a JSON list become literals, also inside maps."""
    changed = {
        name: made
        for name, param in params.items()
        if isinstance(param, dict) and (made := _expand_param(param)) is not param
    }
    return derive(params, {**params, **changed}) if changed else params


def _expand_param(param: Body) -> Body:
    text = param.get("expression")
    kind = param.get("type")
    if isinstance(text, str) and isinstance(kind, str) and kind.upper().endswith("_ARRAY"):
        literal = _json_list(text)
        if literal is not None:
            rest = {key: value for key, value in param.items() if key != "expression"}
            return derive(param, {"value": literal, **rest}, value="expression")
    if isinstance(param.get("value"), dict) and isinstance(kind, str) and kind.upper() == "MAP":
        return _replaced(param, "value", expand_params(param["value"]))
    return param


def _json_list(text: str) -> list[Any] | None:
    stripped = text.strip().removesuffix(";").strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    try:
        value = json.loads(stripped, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def expand_tags(tags: list[Any]) -> list[Any]:
    if not any(isinstance(tag, dict) and "permit_count" in tag for tag in tags):
        return tags
    return [_expand_tag(tag) if isinstance(tag, dict) else tag for tag in tags]


def _expand_tag(tag: Body) -> Body:
    if "permit_count" not in tag or "permit" in tag:
        return tag
    made = {"permit" if key == "permit_count" else key: value for key, value in tag.items()}
    return derive(tag, made, permit="permit_count")
