"""Stretto: a workflow orchestrator that starts on a laptop and ends on a cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

# The public names, by the module that has them. A module is imported when somebody asks for one of its names,
# so that `stretto --help` stays fast. What is below for type checkers says the same; a test compares the two.
_EXPORTS: Final = {
    "stretto.flow": (
        "Bound",
        "Cron",
        "Flow",
        "StepFunction",
        "TraceError",
        "WorkflowBuilder",
        "collect",
        "each",
        "either",
        "foreach",
        "loop_while",
        "on_failure",
        "otherwise",
        "run_time",
        "size",
        "sleep",
        "step",
        "subworkflow",
        "switch",
        "text",
        "wait",
        "when",
        "workflow",
    ),
    "stretto.flow.engine": (
        "Engine",
        "EngineStopped",
        "NotYet",
        "Run",
        "RunChange",
        "RunFailed",
        "RunResult",
        "StepError",
        "StepOutcome",
        "SyncEngine",
        "SyncRun",
        "UnreadableValue",
    ),
    "stretto.model.trigger": (
        "SignalOperator",
        "SignalParamValue",
        "SignalTrigger",
        "SignalTriggerEntry",
    ),
    "stretto.model.signal": (
        "SignalDependencyDefinition",
        "SignalOutputDefinition",
    ),
    "stretto.model.tag": ("Tag",),
    "stretto.runtimes.workers.limits": ("WorkerLimits",),
    "stretto.runtimes.python.context": ("StepContext",),
    "stretto.runtimes.python.codecs": ("codec",),
    "stretto.runtimes.python.roles": (
        "INJECTED",
        "Service",
        "service",
    ),
    "stretto.runtimes.python.errors": (
        "Fatal",
        "NotRetryable",
        "PlatformTrouble",
        "Veto",
    ),
}
_HOMES: Final = {name: home for home, names in _EXPORTS.items() for name in names}

__all__ = [*_HOMES]  # noqa: PLE0604 - all of them are names

if TYPE_CHECKING:
    from stretto.flow import Bound as Bound
    from stretto.flow import Cron as Cron
    from stretto.flow import Flow as Flow
    from stretto.flow import StepFunction as StepFunction
    from stretto.flow import TraceError as TraceError
    from stretto.flow import WorkflowBuilder as WorkflowBuilder
    from stretto.flow import collect as collect
    from stretto.flow import each as each
    from stretto.flow import either as either
    from stretto.flow import foreach as foreach
    from stretto.flow import loop_while as loop_while
    from stretto.flow import on_failure as on_failure
    from stretto.flow import otherwise as otherwise
    from stretto.flow import run_time as run_time
    from stretto.flow import size as size
    from stretto.flow import sleep as sleep
    from stretto.flow import step as step
    from stretto.flow import subworkflow as subworkflow
    from stretto.flow import switch as switch
    from stretto.flow import text as text
    from stretto.flow import wait as wait
    from stretto.flow import when as when
    from stretto.flow import workflow as workflow
    from stretto.flow.engine import Engine as Engine
    from stretto.flow.engine import EngineStopped as EngineStopped
    from stretto.flow.engine import NotYet as NotYet
    from stretto.flow.engine import Run as Run
    from stretto.flow.engine import RunChange as RunChange
    from stretto.flow.engine import RunFailed as RunFailed
    from stretto.flow.engine import RunResult as RunResult
    from stretto.flow.engine import StepError as StepError
    from stretto.flow.engine import StepOutcome as StepOutcome
    from stretto.flow.engine import SyncEngine as SyncEngine
    from stretto.flow.engine import SyncRun as SyncRun
    from stretto.flow.engine import UnreadableValue as UnreadableValue
    from stretto.model.signal import SignalDependencyDefinition as SignalDependencyDefinition
    from stretto.model.signal import SignalOutputDefinition as SignalOutputDefinition
    from stretto.model.tag import Tag as Tag
    from stretto.model.trigger import SignalOperator as SignalOperator
    from stretto.model.trigger import SignalParamValue as SignalParamValue
    from stretto.model.trigger import SignalTrigger as SignalTrigger
    from stretto.model.trigger import SignalTriggerEntry as SignalTriggerEntry
    from stretto.runtimes.python.codecs import codec as codec
    from stretto.runtimes.python.context import StepContext as StepContext
    from stretto.runtimes.python.errors import Fatal as Fatal
    from stretto.runtimes.python.errors import NotRetryable as NotRetryable
    from stretto.runtimes.python.errors import PlatformTrouble as PlatformTrouble
    from stretto.runtimes.python.errors import Veto as Veto
    from stretto.runtimes.python.roles import INJECTED as INJECTED
    from stretto.runtimes.python.roles import Service as Service
    from stretto.runtimes.python.roles import service as service
    from stretto.runtimes.workers.limits import WorkerLimits as WorkerLimits


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = globals()[name] = getattr(import_module(home), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
