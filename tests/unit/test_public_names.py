"""The public names. A change here is a change for users: it needs a line in the changelog, and an alias."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import stretto

ROOT = Path(__file__).parents[2]

PUBLIC = {
    "stretto": [
        "Bound",
        "Cron",
        "Engine",
        "EngineStopped",
        "Fatal",
        "Flow",
        "INJECTED",
        "NotRetryable",
        "NotYet",
        "PlatformTrouble",
        "Run",
        "RunChange",
        "RunFailed",
        "RunResult",
        "Service",
        "SignalDependencyDefinition",
        "SignalOperator",
        "SignalOutputDefinition",
        "SignalParamValue",
        "SignalTrigger",
        "SignalTriggerEntry",
        "StepContext",
        "StepError",
        "StepFunction",
        "StepOutcome",
        "SyncEngine",
        "SyncRun",
        "Tag",
        "TraceError",
        "UnreadableValue",
        "Veto",
        "WorkerLimits",
        "WorkflowBuilder",
        "codec",
        "collect",
        "each",
        "either",
        "foreach",
        "loop_while",
        "on_failure",
        "otherwise",
        "run_time",
        "service",
        "size",
        "sleep",
        "step",
        "subworkflow",
        "switch",
        "text",
        "wait",
        "when",
        "workflow",
    ],
    "stretto.client": [
        "AsyncClient",
        "Changed",
        "Client",
        "Happening",
        "Resync",
        "Retries",
        "RunName",
    ],
    "stretto.ports.runtime": [
        "Answer",
        "Continue",
        "Done",
        "Failure",
        "FatalError",
        "Injected",
        "Launch",
        "PlatformError",
        "StepContext",
        "StepResult",
        "StepRuntime",
        "Stopped",
        "TimedOut",
        "UserError",
    ],
    "stretto.ports.fence": [
        "OPEN",
        "Fence",
        "Revoked",
        "Trust",
    ],
    "stretto.ports.logs": [
        "LOG",
        "NOWHERE",
        "STDERR",
        "STDOUT",
        "LogLine",
        "LogReader",
        "LogReading",
        "LogSink",
        "Nowhere",
        "RunLogReading",
        "Stream",
    ],
    "stretto.ports.clock": [
        "Clock",
    ],
    "stretto.ports.observer": [
        "Observer",
    ],
    "stretto.ports.hints": [
        "SILENT",
        "Heard",
        "Hints",
        "Silent",
    ],
    "stretto.ports.failures": [
        "Fenced",
        "NoPermits",
        "OutcomeUnknown",
        "Poison",
        "Stale",
    ],
    "stretto.ports.store": [
        "Store",
    ],
    "stretto.testing.harness": [
        "Harness",
        "Run",
        "crash_everywhere",
    ],
    "stretto.testing.working": [
        "HELD",
        "Work",
    ],
    "stretto.testing.clock": [
        "VirtualClock",
        "settle",
    ],
    "stretto.testing.faults": [
        "Interfere",
        "Moment",
        "interfered",
    ],
    "stretto.testing.store_suite": [
        "CHECKS",
        "Bench",
        "Check",
    ],
}
ERRORS = [
    "StrettoError",
    "InvalidRequest",
    "InvalidDefinition",
    "WrongState",
    "Unauthenticated",
    "Forbidden",
    "NotFound",
    "TimedOut",
    "Conflict",
    "PreconditionFailed",
    "Unprocessable",
    "Internal",
    "Unavailable",
]


@pytest.mark.parametrize("name", PUBLIC)
def test_these_names_are_public(name: str) -> None:
    module = import_module(name)
    assert sorted(module.__all__) == sorted(PUBLIC[name])
    assert [each for each in module.__all__ if not hasattr(module, each)] == []


def test_these_errors_are_public() -> None:
    module = import_module("stretto.model.errors")
    defined = [name for name, found in vars(module).items() if isinstance(found, type)]
    assert [name for name in defined if vars(module)[name].__module__ == module.__name__] == ERRORS


def test_type_checkers_see_what_programs_get() -> None:
    tree = ast.parse(Path(stretto.__file__).read_text(encoding="utf-8"))
    [shown] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        each.asname: node.module
        for node in shown.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if each.name == each.asname
    }
    assert seen == stretto._HOMES


def test_the_documentation_lists_the_names_for_plug_ins() -> None:
    page = (ROOT / "docs/reference/ports.md").read_text(encoding="utf-8")
    table = page.partition("## What is public\n")[2].partition("\n## ")[0]
    said = {
        module: re.findall(r"`(\w+)`", names)
        for module, names in re.findall(r"^\| `(stretto[\w.]+)` \|[^|]*\|(.*)\|$", table, re.MULTILINE)
    }
    plug_ins = {name for name in PUBLIC if name.startswith(("stretto.ports.", "stretto.testing."))}
    assert {module: sorted(names) for module, names in said.items()} == {
        name: sorted(PUBLIC[name]) for name in plug_ins
    }


def test_nothing_is_imported_before_somebody_asks() -> None:
    asked = "import sys, stretto; print(*sorted(each for each in sys.modules if each.startswith('stretto')))"
    found = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["stretto"]
