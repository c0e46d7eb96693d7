"""The exception because of which a run failed, made again of what is stored of it."""

import builtins
import sys
from collections.abc import Mapping
from typing import Any, Final

from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.artifact import DefaultArtifact
from stretto.model.error_text import error_type, message_in
from stretto.model.errors import StrettoError
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.history import InstancesIn
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.ports.store import Store
from stretto.runtimes.python.failures import ARTIFACT
from stretto.runtimes.python.source import MAIN, importable
from stretto.runtimes.python.step_error import StepError
from stretto.runtimes.python.values import JSON_TEXT, decode

DEEPEST: Final = 10  # loops and subworkflows inside each other that are looked into
ENDED_BADLY: Final = frozenset({RunStatus.FAILED})
BAD: Final = frozenset({StepStatus.FATALLY_FAILED, StepStatus.INTERNALLY_FAILED})


async def cause_of(store: Store, row: RunRow) -> BaseException | None:
    """What the step raised because of which a run failed, also inside of loops and subworkflows; None if no
    function raised anything.
    """
    for _ in range(DEEPEST):
        found = await _failed_attempt(store, row)
        if found is None:
            return None
        artifact = found.artifacts.get(ARTIFACT)
        if isinstance(artifact, DefaultArtifact) and artifact.data.get("error"):
            return exception_in(artifact.data, found.reason or "")
        inner = await _failed_inside(store, row.key, found)
        if inner is None:
            return None
        row = inner
    return None


async def _failed_attempt(store: Store, row: RunRow) -> AttemptRecord | None:
    """The first step of a run that failed. Its summary may name one inside of a loop, or none."""
    first = row.summary.first_error
    if first is not None:
        for named in await store.attempts(NewestAttempts((row.key,), first.step_id)):
            return named.record
    failed = [
        each.record for each in await store.attempts(NewestAttempts((row.key,))) if each.record.status in BAD
    ]
    return min(failed, key=lambda each: each.end_time or 0, default=None)


async def _failed_inside(store: Store, run: RunKey, record: AttemptRecord) -> RunRow | None:
    """A failed run inside of a step: an iteration, or the run of a subworkflow."""
    if record.child is not None:
        return await read_run(store, record.child)
    for loop in await store.loops(run):
        if loop.key == record.key:
            page = await store.runs(InstancesIn(loop.inline_id, ENDED_BADLY, Cut(most=1)))
            return page.elements[0] if page.elements else None
    return None


def exception_in(data: Mapping[str, Any], reason: str) -> BaseException:
    """The exception of a step, of its own class if this process knows that one. No module is imported."""
    name, module, trace = str(data["error"]), str(data.get("module", "")), str(data.get("traceback", ""))
    made = _made(_class_of(module, name), data)
    if made is None:
        made = StepError(error_type(module, name), message_in(reason, name), trace)
    for key, field in (("cause", "__cause__"), ("context", "__context__")):
        if isinstance(inner := data.get(key), dict):
            setattr(made, field, exception_in(inner, str(inner.get("message", ""))))
    if trace:
        made.add_note(f"in the step:\n{trace.rstrip()}")
    return made


def _class_of(module: str, name: str) -> type[BaseException] | None:
    home = MAIN if module == importable(MAIN) else module
    found: Any = sys.modules.get(home, builtins if not home else None)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _made(cls: type[BaseException] | None, data: Mapping[str, Any]) -> BaseException | None:
    if cls is None or not isinstance(data.get("args"), str):
        return None
    try:
        args = decode(data["args"], JSON_TEXT, tuple, "args")
        state = decode(data.get("state", "{}"), JSON_TEXT, dict[str, Any], "state")
        if issubclass(cls, BaseExceptionGroup):
            inner = [exception_in(each, str(each.get("message", ""))) for each in data["group"]]
            made: BaseException = cls(args[0], inner)
        else:
            made = _called(cls, args) or _unopened(cls, args)
        vars(made).update(state)
        str(made)  # it may need an attribute that could not be stored
    except StrettoError:
        return None
    except Exception:  # noqa: BLE001 - the class is anybody's code
        return None
    return made


def _called(cls: type[BaseException], args: tuple[Any, ...]) -> BaseException | None:
    """The class called with what it gave; None if that makes another exception. `__reduce__` of Python's own
    says more than `args` does: of an OSError the name of the file.
    """
    try:
        made = cls(*args)
    except Exception:  # noqa: BLE001 - it takes others, such as keywords
        return None
    return made if made.args == args or cls.__reduce__ is not BaseException.__reduce__ else None


def _unopened(cls: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """An exception whose `__init__` takes other arguments than `args` says."""
    made = cls.__new__(cls, *args)
    made.args = args
    return made
