"""Short forms that documents about Maestro print, brought into its real form.

    foreach, while    `loop_params` beside `steps`         -> the param `loop_params`
    subworkflow       `workflow_id`, `version`             -> the params `subworkflow_id` and `..._version`
    any array param   `"expression": "[1, 2, 3]"`          -> the literal value
    tags              `{"name": ..., "permit_count": n}`   -> `permit`

Conditions as objects or bare booleans are read by the codec of conditions; `Titus` is a type like others.
"""

import json
from decimal import Decimal
from typing import Any, Final

from stretto.definition.reading.located import at_key, derive, derive_list, gather
from stretto.model.problem import Code, Place, problem_at
from stretto.model.wire import Sink

Body = dict[str, Any]

LOOP_KEYS: Final = {"loop_params": "loop_params"}
# Kind of step -> its fields that are really params, with the names that they have there.
PARAM_FIELDS: Final[dict[str, dict[str, str]]] = {
    "foreach": LOOP_KEYS,
    "while": LOOP_KEYS,
    "subworkflow": {
        "subworkflow_id": "subworkflow_id",
        "subworkflow_version": "subworkflow_version",
        "workflow_id": "subworkflow_id",
        "version": "subworkflow_version",
    },
}


def expand_step(kind: str, body: Body, at: Place, sink: Sink) -> Body:
    """A step's body in its real form; the same object if there is nothing to do."""
    fields = PARAM_FIELDS.get(kind)
    if fields is not None and not fields.keys().isdisjoint(body):
        body = _move_to_params(body, fields, at, sink)
    params = body.get("params")
    if isinstance(params, dict):
        body = _replaced(body, "params", expand_params(params))
    tags = body.get("tags")
    if isinstance(tags, list):
        body = _replaced(body, "tags", expand_tags(tags))
    return body


def _replaced(body: Body, key: str, value: Any) -> Body:
    return body if value is body[key] else derive(body, {**body, key: value})


def _move_to_params(body: Body, fields: dict[str, str], at: Place, sink: Sink) -> Body:
    """Fields of the body become params. Null means that a field is not there."""
    old = body.get("params")
    old = {} if old is None else old
    if not isinstance(old, dict):
        return derive(body, {key: value for key, value in body.items() if key not in fields})
    made: Body = {}
    origin: dict[str, str] = {}
    for key, name in fields.items():
        if body.get(key) is None:
            continue
        if name in old or name in made:
            message = f"`{name}` is given twice: as the field `{key}`, and as `{origin.get(name, 'params')}`"
            sink.append(at_key(problem_at((at, key), Code.CONFLICT, message, "give it once"), body, key))
            continue
        made[name] = _param(body, key, name)
        origin[name] = key
    params = derive(body, made, **origin)
    for name in old:
        params = gather(params, name, old[name], old, name)
    rest = {key: value for key, value in body.items() if key not in fields}
    return derive(body, {**rest, "params": params})


def _param(body: Body, key: str, name: str) -> Any:
    value = body[key]
    if name == "loop_params":
        whole = not isinstance(value, dict) or isinstance(value.get("type"), str)
        return value if whole else derive(body, {"value": value, "type": "MAP"}, value=key)
    text = str(value) if type(value) is int else value
    return derive(body, {"value": text, "type": "STRING"}, value=key)


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
    if isinstance(text, str):
        return _literal(param, text) if "[" in text else param
    value = param.get("value")
    if isinstance(value, dict) and _type(param) == "MAP":
        return _replaced(param, "value", expand_params(value))
    return param


def _type(param: Body) -> str:
    kind = param.get("type")
    return kind.upper() if isinstance(kind, str) else ""


def _literal(param: Body, text: str) -> Body:
    """SEL has no such lists, so an expression of this form can mean only one thing."""
    value = _json_list(text) if _type(param).endswith("_ARRAY") else None
    if value is None or param.get("value") is not None:
        return param
    rest = {key: item for key, item in param.items() if key not in {"expression", "value"}}
    return derive(param, {"value": value, **rest}, value="expression")


def _json_list(text: str) -> list[Any] | None:
    stripped = text.strip().removesuffix(";").strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    try:
        value = json.loads(stripped, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def expand_tags(tags: list[Any]) -> list[Any]:
    if not any(isinstance(tag, dict) and "permit_count" in tag for tag in tags):
        return tags
    return derive_list(tags, [_expand_tag(tag) if isinstance(tag, dict) else tag for tag in tags])


def _expand_tag(tag: Body) -> Body:
    if "permit_count" not in tag or "permit" in tag:
        return tag
    made = {"permit" if key == "permit_count" else key: value for key, value in tag.items()}
    return derive(tag, made, permit="permit_count")
