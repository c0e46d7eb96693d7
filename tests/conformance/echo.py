"""What is allowed to differ between a fixture and what we write after reading it. All else is a loss."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

# Words of closed sets and step types: read in any case, written in one.
RESPELLED: Final = frozenset(
    {
        "criticality",
        "failure_mode",
        "granularity",
        "internal_mode",
        "mode",
        "namespace",
        "rule",
        "severity",
        "source",
        "type",
    }
)

# Fields with a default that is written out, and the default.
WRITTEN_OUT: Final[dict[str, tuple[Any, ...]]] = {
    "transition": ({},),
    "sync": (True,),
    "explicit_params": (False,),
    "strict_ordering": (False,),
    "disabled": (False,),
    "is_active": (True,),
    "persist_failed_run": (False,),
    "workflow_concurrency": (1, 20),
    "timeout_retries": (0,),
    "timeout_retry_limit": (0,),
    "foreach_run_id": (0,),
    "run_id": (0,),
    "reset_run_strategy_rule": (False,),
    "reset_workflow_concurrency": (False,),
    "reset_step_concurrency": (False,),
}

# Computed by us from the rest of the record.
COMPUTED: Final = frozenset({"depth"})


def losses(given: Any, written: Any, path: str = "", key: str = "") -> Iterator[str]:
    """Every difference that is not allowed, as a readable line."""
    given = long_form(key, given)
    if isinstance(given, dict) and isinstance(written, dict):
        yield from _losses_in_object(given, written, path)
    elif isinstance(given, list) and isinstance(written, list) and len(given) == len(written):
        for index, (item, other) in enumerate(zip(given, written, strict=True)):
            yield from losses(item, other, f"{path}[{index}]", key)
    elif not _same(key, given, written):
        yield f"{path}: {given!r} became {written!r}"


def _losses_in_object(given: dict[str, Any], written: dict[str, Any], path: str) -> Iterator[str]:
    for name, value in given.items():
        if name in COMPUTED and "ancestors" in given:
            continue
        if name in written:
            yield from losses(value, written[name], f"{path}.{name}", name)
        elif value is not None:
            yield f"{path}.{name}: {value!r} was lost"
    for name in written.keys() - given.keys() - COMPUTED:
        if written[name] not in WRITTEN_OUT.get(name, ()):
            yield f"{path}.{name}: {written[name]!r} was made up"


def long_form(key: str, value: Any) -> Any:
    """A short form as the object that it stands for."""
    if key == "tags" and isinstance(value, str):
        return {"name": value}
    if key == "run_strategy" and isinstance(value, str):
        return {"rule": value}
    if key == "run_strategy" and isinstance(value, int):
        return {"rule": "PARALLEL", "workflow_concurrency": value}
    if key == "successors":
        return {step: str(c).lower() if isinstance(c, bool) else c for step, c in value.items()}
    if key == "step_overview":
        return {status: {"cnt": n} if isinstance(n, int) else n for status, n in value.items()}
    return value


def _same(key: str, given: Any, written: Any) -> bool:
    if key in RESPELLED and isinstance(given, str) and isinstance(written, str):
        return given.casefold() == written.casefold()
    if isinstance(written, Decimal) and not isinstance(given, bool):  # a DOUBLE, maybe given as text
        return Decimal(given) == written
    return type(given) is type(written) and bool(given == written)
