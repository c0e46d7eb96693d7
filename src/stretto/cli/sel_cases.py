"""Cases of expressions, one JSON object each, and their answers: `stretto sel --jsonl`."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from stretto.sel import (
    Environment,
    Kind,
    Limits,
    Missing,
    SelError,
    Value,
    compile_expression,
    evaluate_maestro,
    type_of,
)
from stretto.sel.wire import from_wire, to_wire

LIMITS: Final = frozenset(field.name for field in fields(Limits))
MAX_ENTRIES: Final = 1_000_000  # of one answer: maps inside maps can be much larger written than held


class CaseError(Exception):
    """A case that makes no sense, whatever its script."""


class TableHost:
    """A host that answers from a table: method -> [{"args", "returns" or "throws"}]."""

    def __init__(self, table: Mapping[str, list[dict[str, Any]]]) -> None:
        self._table = table

    def call(self, method: str, arguments: tuple[str, ...]) -> Any:
        """Answer a call that the table has; UNSUPPORTED for any other."""
        for row in self._table.get(method, ()):
            if tuple(row["args"]) == arguments:
                if "throws" in row:
                    raise SelError(Kind.MAESTRO_INTERNAL, str(row["throws"]))
                return from_wire(row["returns"])
        raise SelError(Kind.UNSUPPORTED, f"The host has no answer to {method}{list(arguments)}")


def answer(case: Mapping[str, Any], around: Environment) -> dict[str, Any]:
    """The answer to a case: its id, and `type` and `value` or `error`.

    `around` is what the case does not say itself: the time, the host, functions.
    """
    name = {"id": case.get("id")}
    try:
        return {**name, **_evaluated(case, around)}
    except SelError as error:
        return {**name, "error": error_data(error)}


def error_data(error: SelError) -> dict[str, Any]:
    """An error as JSON data."""
    data: dict[str, Any] = {
        "kind": str(error.kind),
        "message": error.message,
        "line": error.line or None,
        "column": error.column or None,
    }
    return data | {"limit": error.limit} if error.limit else data


def _evaluated(case: Mapping[str, Any], around: Environment) -> dict[str, Any]:
    script, level = case.get("script"), case.get("level", "sel")
    if not isinstance(script, str):
        raise CaseError("a case needs a script, which is a string")
    limits = _limits(case.get("limits") or {})
    if level == "validate":
        names = compile_expression(script, limits.length).names
        return {"type": "REFS", "value": sorted(names.required), "symbols": names.symbols}
    if level not in {"sel", "maestro"}:
        raise CaseError(f"there is no level {level!r}: it is sel, maestro or validate")
    now, table = case.get("clock_millis"), case.get("extension")
    environment = replace(
        around,
        now_millis=around.now_millis if now is None else now,
        limits=limits,
        host=TableHost(table) if table else around.host,
    )
    bindings = {name: from_wire(value) for name, value in (case.get("bindings") or {}).items()}
    return _result(script, level, bindings, environment)


def _limits(given: Mapping[str, int]) -> Limits:
    unknown = given.keys() - LIMITS
    if unknown:
        raise CaseError(f"there is no limit {', '.join(sorted(unknown))}")
    return Limits(**given)


def _result(script: str, level: str, bindings: dict[str, Any], environment: Environment) -> dict[str, Any]:
    result: Value
    if level == "maestro":
        result = evaluate_maestro(script, bindings, environment)
    else:
        result = compile_expression(script, environment.limits.length).evaluate(bindings, environment)
    if isinstance(result, Missing):
        raise CaseError(f"the host must fetch {result.key} first")
    entries = 0

    def spend(count: int) -> None:
        nonlocal entries
        entries += count
        if entries > MAX_ENTRIES:
            raise SelError(
                Kind.ILLEGAL_STATE, f"The result has more than {MAX_ENTRIES} entries", limit="memory"
            )

    try:
        return to_wire(result, spend)
    except SelError as error:  # there is a result, and it can not be written down
        return {"type": str(type_of(result)), "error": error_data(error)}


def answer_line(line: str, around: Environment) -> str:
    """The answer to a line, as a line. A line that is no case gets an error, and nothing worse."""
    case: Any = None
    try:
        case = json.loads(line)
        if not isinstance(case, dict):
            raise CaseError("a case is a JSON object")
        data = answer(case, around)
    except (ValueError, TypeError, KeyError, AttributeError, CaseError, RecursionError) as error:
        name = case.get("id") if isinstance(case, dict) else None
        place = {"line": None, "column": None}
        data = {"id": name, "error": {"kind": "case", "message": f"This is not a case: {error}", **place}}
    return json.dumps(data)
