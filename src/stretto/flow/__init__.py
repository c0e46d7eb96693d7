"""Workflows in Python: `@step` and `@workflow`, what stands in them, and the engine that runs them.

    function --trace--> nodes and references --link--> edges --compile--> the ordinary definition

Promise: tracing calls the workflow function once, with references instead of values, and carries out no
step. A mistake is a `TraceError` that names the line and says what to write instead.
"""

from stretto.flow.branches import on_failure, otherwise, switch, when
from stretto.flow.builder import WorkflowBuilder
from stretto.flow.choices import either
from stretto.flow.computing import run_time, size, text
from stretto.flow.errors import TraceError
from stretto.flow.loops import collect, foreach
from stretto.flow.mapping import each
from stretto.flow.steps import StepFunction, step
from stretto.flow.subworkflows import subworkflow
from stretto.flow.tracing import Returned
from stretto.flow.waits import sleep, wait
from stretto.flow.whiles import loop_while
from stretto.flow.workflow import Bound, Flow, workflow
from stretto.flow.workflow_options import Cron
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.tag import Tag
from stretto.model.trigger import SignalOperator, SignalParamValue, SignalTrigger, SignalTriggerEntry

__all__ = [
    "Bound",
    "Cron",
    "Flow",
    "Returned",
    "SignalDependencyDefinition",
    "SignalOperator",
    "SignalOutputDefinition",
    "SignalParamValue",
    "SignalTrigger",
    "SignalTriggerEntry",
    "StepFunction",
    "Tag",
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
]
