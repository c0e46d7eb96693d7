"""Every kind of document that is stored."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.engine.records import AttemptRecord, LoopRecord, RunRecord
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.event import ChangeEvent
from stretto.model.job_template import JobTemplate
from stretto.model.param import Parameter
from stretto.model.permit import TagPermit
from stretto.model.properties import PropertiesSnapshot
from stretto.model.signal_instance import SignalInstance
from stretto.model.status import RunStatus
from stretto.model.timeline import WorkflowChange
from stretto.model.trigger import SignalParamValue, SignalTrigger, TimeTrigger
from stretto.model.user import User
from stretto.model.workflow import WorkflowVersion
from stretto.ports import messages
from stretto.ports.bulk import BulkItem, BulkJob
from stretto.ports.functions import FunctionRecord
from stretto.ports.messages import AnyBody, Kind, Outcome
from stretto.ports.rows import RunSummary
from stretto.ports.suspicion import Suspicion
from stretto.store.sql.codec.document import Document

RUN: Final[Document[RunRecord]] = Document("run", RunRecord, lean=True, apart="params")
PARAMS: Final[Document[Mapping[str, Parameter]]] = Document("parameters of a run", Mapping[str, Parameter])
OWN_PARAMS: Final[Document[dict[str, Parameter]]] = Document("parameters of a run", dict[str, Parameter])
ATTEMPT: Final[Document[AttemptRecord]] = Document("step attempt", AttemptRecord, lean=True)
LOOP: Final[Document[LoopRecord]] = Document("loop", LoopRecord, lean=True)
COUNTS: Final[Document[Mapping[RunStatus, int]]] = Document("counts of a loop", Mapping[RunStatus, int])
SUMMARY: Final[Document[RunSummary]] = Document("summary of a run", RunSummary)

VERSION: Final[Document[WorkflowVersion]] = Document("workflow version", WorkflowVersion)
PROPERTIES: Final[Document[PropertiesSnapshot]] = Document("properties", PropertiesSnapshot)
USER: Final[Document[User]] = Document("user", User)
WORKFLOW_CHANGE: Final[Document[WorkflowChange]] = Document("timeline of a workflow", WorkflowChange)
BREAKPOINT: Final[Document[StepBreakpoint]] = Document("breakpoint", StepBreakpoint)
TEMPLATE: Final[Document[JobTemplate]] = Document("job template", JobTemplate)
BULK_JOB: Final[Document[BulkJob]] = Document("bulk job", BulkJob)
BULK_ITEM: Final[Document[BulkItem]] = Document("item of a bulk job", BulkItem)
FUNCTION: Final[Document[FunctionRecord]] = Document("function", FunctionRecord)
FUNCTION_NAMES: Final[Document[tuple[str, ...]]] = Document("names of functions", tuple[str, ...])

SIGNAL: Final[Document[SignalInstance]] = Document("signal", SignalInstance)
MATCH_PARAMS: Final[Document[Mapping[str, SignalParamValue]]] = Document(
    "match params of a signal", Mapping[str, SignalParamValue]
)
SIGNAL_TRIGGER: Final[Document[SignalTrigger]] = Document("signal trigger", SignalTrigger)
TIME_TRIGGER: Final[Document[TimeTrigger]] = Document("time trigger", TimeTrigger)
SEQS: Final[Document[Mapping[str, int]]] = Document("numbers of signals", Mapping[str, int])

TAG: Final[Document[TagPermit]] = Document("tag permit", TagPermit)
GRANTS: Final[Document[tuple[int, ...]]] = Document("grants of a tag", tuple[int, ...])
EVENTS: Final[Document[tuple[ChangeEvent, ...]]] = Document("change log", tuple[ChangeEvent, ...])
SUSPICION: Final[Document[Suspicion]] = Document("suspicion", Suspicion)
OUTCOME: Final[Document[Outcome]] = Document("outcome of an action", Outcome)

_BODIES: Final[Mapping[type[messages.Body], str]] = {
    messages.Act: "action",
    messages.Stop: "stop",
    messages.Hold: "hold",
    messages.ChildEnd: "end of a child",
    messages.Rollup: "rollup",
    messages.Result: "result",
    messages.Start: "start of work",
    messages.Cancel: "cancel",
    messages.Ask: "ask",
    messages.Callback: "callback",
    messages.Output: "output",
    messages.Grant: "grant",
    messages.FanOut: "fan-out",
    messages.Signalled: "signal to a step",
    messages.Fire: "fire",
    messages.Log: "log",
}
BODIES: Final[Mapping[Kind, Document[Any]]] = {
    body.kind: Document[AnyBody](f"message ({name})", body) for body, name in _BODIES.items()
}
