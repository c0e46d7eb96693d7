"""The story of a world: what was asked, what was committed and what went wrong, in order."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from simulation.watch import Touched
from stretto.node.asks import Ask, CallRuntime, Carry, Commit, Deal

QUIET: Final = frozenset({"Beat", "FetchMail", "FindDueTriggers", "FireTimers", "Sweep", "LoadGroups"})
SHOWN: Final = 260  # characters of a line


class Story:
    """Keeps nothing, unless somebody wants to read it."""

    def __init__(self, now: Callable[[], int] = lambda: 0, *, kept: bool = False) -> None:
        self.now = now
        self.kept = kept
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        if self.kept:
            self.lines.append(f"{self.now():>7} {text}"[:SHOWN])

    def asked(self, who: str, ask: Ask) -> None:
        if self.kept and type(ask).__name__ not in QUIET:
            self.note(f"{who} asks {_shown(ask)}")

    def answered(self, who: str, ask: Ask, answer: Any) -> None:
        name = type(ask).__name__
        if self.kept and name not in QUIET and name not in {"Commit", "LoadRuns"}:
            self.note(f"{who} hears of {name}: {_short(answer)}")

    def failed(self, who: str, ask: Ask, error: Exception) -> None:
        if self.kept:
            self.note(f"{who} hears of {_shown(ask)}: {type(error).__name__}: {error}")

    def seen(self, touched: Touched) -> None:
        """A transaction that changed something."""
        if not self.kept or touched.call.name == "beat":
            return
        self.note(f"{touched.call.who}: {touched.call.name} is committed")
        for key, before, after in touched.of("runs"):
            self.note(f"    run {key}: {_run(before)} -> {_run(after)}")
        for key, before, after in touched.of("attempts"):
            self.note(f"    attempt {key}: {_attempt(before)} -> {_attempt(after)}")
        for number, before, after in touched.of("messages"):
            message = after or before
            what = "comes" if before is None else "goes" if after is None else "changes"
            where = message.to_node if message.to_group is None else message.to_group
            self.note(f"    message {number} {message.body.kind} {message.ref} to {where} {what}")
        for group, before, after in touched.of("groups"):
            self.note(
                f"    group {group}: {before.owner} {before.generation} -> {after.owner} {after.generation}"
            )
        for (attempt, tag), before, after in touched.of("permits"):
            held = [each and each.granted for each in (before, after)]
            self.note(f"    permit {tag} of {attempt}: {held[0]} -> {held[1]}")
        for node, before, after in touched.of("nodes"):
            self.note(f"    node {node}: {before and before.state} -> {after and after.state}")


def _run(row: Any) -> str:
    if row is None:
        return "-"
    ending = f" ending {row.record.ending}" if row.record.ending else ""
    return f"{row.phase} {row.record.status}{ending} due {row.due_at}"


def _attempt(row: Any) -> str:
    if row is None:
        return "-"
    record = row.record
    parts = [record.status.value]
    if record.launch is not None:
        parts.append(f"launch {record.launch} on {row.runs_on}")
    for name in ("ending", "decided", "wake_at", "child"):
        value = getattr(record, name)
        parts += [] if value is None else [f"{name} {value}"]
    return " ".join(parts)


def _shown(ask: Ask) -> str:
    name = type(ask).__name__
    if isinstance(ask, CallRuntime):
        return f"{name} {ask.verb} {ask.context.launch}"
    if isinstance(ask, Carry):
        return f"{name} {type(ask.effect).__name__} {getattr(ask.effect, 'attempt', '')}"
    if isinstance(ask, Commit):
        parts = [f"{part.lease}: {[str(each.root) for each in part.decisions]}" for part in ask.parts]
        return f"{name} {', '.join(parts)}"
    if isinstance(ask, Deal):
        return f"{name} {ask.message.body.kind} {ask.message.ref}"
    fields = [f"{each}={_short(getattr(ask, each))}" for each in ask.__struct_fields__]
    return f"{name} {' '.join(fields)}"


def _short(value: Any) -> str:
    text = str(_ordered(value))
    return text if len(text) < 120 else f"{text[:120]}..."


def _ordered(value: Any) -> Any:
    """Sets, at any depth, in an order that does not depend on the hashes of a process."""
    if isinstance(value, Mapping):
        return {key: _ordered(each) for key, each in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value, key=str)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__name__}({_fields(value, value._fields)})"
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}({_fields(value, value.__struct_fields__)})"
    if isinstance(value, list | tuple):
        return [_ordered(each) for each in value]
    return value


def _fields(value: Any, names: Iterable[str]) -> str:
    return ", ".join(f"{name}={_ordered(getattr(value, name))}" for name in names)
