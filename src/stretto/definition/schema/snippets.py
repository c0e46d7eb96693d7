"""What an editor shows of a type of step: a sentence, and a step to begin with."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.definition.misfits import is_names, param_types
from stretto.model.param import InternalParamMode, Params, ParamType
from stretto.model.step import NESTING_TYPES
from stretto.params import TYPE_DEFAULTS
from stretto.params.merge import is_literal_map

SENTENCES: Final[Mapping[str, str]] = {
    "NoOp": "Does nothing, and has succeeded.",
    "Sleep": "Waits for `sleep_seconds`.",
    "Wait": "Asks `assignees` the `prompt`, and waits until somebody answers, by a callback or an approval.",
    "Join": "Brings branches together: the same as NoOp.",
    "Shell": "Runs a command, or lines for the shell.",
    "Python": "Calls a Python function, or runs lines of Python.",
    "Http": "Sends a request.",
    "Kubernetes": "Runs a container in a cluster.",
    "Notebook": "Runs a notebook.",
    "Titus": "Runs a container on Titus.",
    "foreach": "Runs its steps once for each combination of the values of its `loop_params`.",
    "while": "Runs its steps again and again while its condition holds.",
    "subworkflow": "Runs another workflow.",
    "template": "Stands for the steps of a template.",
}
ID: Final = "my-step"
INNER: Final = ({"step": {"id": "inner", "type": "NoOp"}},)
NUMBERS: Final = {"type": "MAP", "value": {"i": {"type": "LONG_ARRAY", "value": [1, 2, 3]}}}
COUNTER: Final = {"type": "MAP", "value": {"i": {"type": "LONG", "value": 0}}}
# What no schema says.
OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "Sleep": {"params": {"sleep_seconds": {"type": "LONG", "value": 60}}},
    "foreach": {"params": {"loop_params": NUMBERS}, "steps": INNER},
    "while": {"condition": "i < 3", "params": {"loop_params": COUNTER}, "steps": INNER},
    "subworkflow": {
        "params": {
            "subworkflow_id": {"type": "STRING", "value": "my-workflow"},
            "subworkflow_version": {"type": "STRING", "value": "active"},
        }
    },
    "template": {"sub_type": "my-template"},
}
STAND_INS: Final[Mapping[ParamType, Any]] = {
    ParamType.LONG: 1,
    ParamType.DOUBLE: 1.5,
    ParamType.BOOLEAN: True,
    ParamType.MAP: {},
    ParamType.STRING_MAP: {},
}


def sentence_of(name: str, schema: Mapping[str, Any] | None) -> str | None:
    """What steps of a type do; None, if nobody says."""
    told = (schema or {}).get("description")
    return SENTENCES.get(name) or (told if isinstance(told, str) else None)


def snippet_of(name: str, schema: Mapping[str, Any] | None) -> str:
    """A step of a type in YAML, with the parameters that it can not do without."""
    from stretto.definition.yaml_printing import yaml_text  # noqa: PLC0415 - PyYAML takes a while

    own = OWN.get(name)
    if name in NESTING_TYPES:
        return yaml_text({name: {"id": ID, **(own or {})}})
    params = {**_wanted(TYPE_DEFAULTS.get(name, {})), **_needed(schema or {})}
    fields = {"id": ID, "type": name, **(own or ({"params": params} if params else {}))}
    return yaml_text({"step": fields})


def _wanted(params: Params) -> dict[str, Any]:
    """What the product itself asks for."""
    found: dict[str, Any] = {}
    for name, param in params.items():
        inner = _wanted(param.value) if is_literal_map(param) else {}
        if inner:
            found[name] = {"type": param.type.value, "value": inner}
        elif param.internal_mode is InternalParamMode.REQUIRED and param.value is None:
            found[name] = {"type": param.type.value, "value": _any(param.type)}
    return found


def _needed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The required parameters, and those of the first of several sets of names."""
    names = list(schema.get("required", ()))
    for keyword in ("oneOf", "anyOf"):
        sets = schema.get(keyword, ())
        if sets and is_names(sets[0]):
            names += sets[0]["required"]
    known = schema.get("properties", {})
    return {name: _stand_in(known.get(name, {})) for name in dict.fromkeys(names)}


def _stand_in(schema: Any) -> dict[str, Any]:
    """A parameter that fits, as far as its schema gives an example or a type."""
    notes = schema if isinstance(schema, Mapping) else {}
    kind = next(iter(param_types(schema) or ()), ParamType.STRING)
    value = _any(kind)
    for found in (notes.get("enum"), notes.get("examples"), [notes.get("default")]):
        if found and found[0] is not None:
            value = found[0]
            break
    return {"type": kind.value, "value": value}


def _any(kind: ParamType) -> Any:
    return STAND_INS.get(kind, [] if kind.is_array else "...")
