"""Which record each JSON fixture of the Maestro corpus is."""

from typing import Any, Final

from tests.conformance.records.job_event import JobEvent
from tests.conformance.records.runtime_summary import (
    StepRuntimeSummary,
    WorkflowRuntimeSummary,
    WorkflowSummary,
)
from tests.conformance.records.trigger_execution import (
    SignalTriggerExecution,
    SignalTriggerMatch,
    TimeTriggerExecution,
)

from stretto.model.aggregated import AggregatedInfo, StepAggregatedView
from stretto.model.alerting import Alerting
from stretto.model.artifact import Artifact, Artifacts
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.details import Details
from stretto.model.event import ChangeEvent
from stretto.model.flatten import FlattenedRow
from stretto.model.foreach import ForeachOverview, Ranges
from stretto.model.initiator import Initiator
from stretto.model.instance import WorkflowInstance
from stretto.model.job_template import JobTemplate, JobTemplateRequest, TemplateSchema
from stretto.model.kubernetes import KubernetesCommand
from stretto.model.output_data import OutputData, OutputDataRequest
from stretto.model.page import Page
from stretto.model.param import Parameter
from stretto.model.pending_action import PendingForeachAction, PendingStepAction
from stretto.model.permit import TagPermit, TagPermitRequest
from stretto.model.problem import Code
from stretto.model.properties import Properties, PropertiesUpdate
from stretto.model.request import (
    BreakpointRequest,
    InstanceRestartRequest,
    SignalRequest,
    StartRequest,
    StepRestartRequest,
)
from stretto.model.response import (
    BreakpointDeleteResponse,
    InstanceActionResponse,
    PropertiesUpdateResponse,
    StartResponse,
    StepActionResponse,
    StepRestartResponse,
    WorkflowActionResponse,
    WorkflowCreateResponse,
    WorkflowOverviewResponse,
)
from stretto.model.retry import Number, RetryPolicy
from stretto.model.rollup import RollupOverview, RuntimeOverview
from stretto.model.run_config import RestartConfig, RunConfig
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.signal_instance import SignalDependencies, SignalInstance, SignalOutputs, SignalSource
from stretto.model.status import InstanceStatus
from stretto.model.step import Step
from stretto.model.step_instance import StepAttemptState, StepInstance
from stretto.model.tag import Tag
from stretto.model.timeline import Timeline, WorkflowTimeline
from stretto.model.trigger import SignalTrigger, TimeTrigger
from stretto.model.user import User
from stretto.model.workflow import Definition, EnrichedExtras, GitInfo, Metadata, WorkflowVersion

COMMON: Final = "maestro-common/src/testFixtures/resources/fixtures"
SERVER: Final = "maestro-server/src/test/resources"

# Folder -> what its files are, unless the next table says otherwise.
FOLDERS: Final[dict[str, Any]] = {
    f"{COMMON}/alerting": Alerting,
    f"{COMMON}/artifact": Artifact,
    f"{COMMON}/db": PendingStepAction,
    f"{COMMON}/errors": Details,
    f"{COMMON}/events": ChangeEvent,
    f"{COMMON}/execution": StepRuntimeSummary,
    f"{COMMON}/initiator": dict[str, Initiator],
    f"{COMMON}/instances": WorkflowInstance,
    f"{COMMON}/jobevents": JobEvent,
    f"{COMMON}/outputdata": OutputData,
    f"{COMMON}/parameters": WorkflowVersion,
    f"{COMMON}/retry_policy": RetryPolicy,
    f"{COMMON}/signal_triggers": SignalTrigger,
    f"{COMMON}/step_outputs": tuple[SignalOutputDefinition, ...],
    f"{COMMON}/tag_permits": TagPermit,
    f"{COMMON}/template": TemplateSchema,
    f"{COMMON}/time_triggers": TimeTrigger,
    f"{COMMON}/typedsteps": Step,
    f"{COMMON}/workflows/definition": WorkflowVersion,
    f"{COMMON}/workflows/request": Definition,
    f"{COMMON}/workflows/stepbreakpoint": BreakpointRequest,
    "maestro-extensions/src/test/resources/flattening": list[FlattenedRow],
    f"{SERVER}/jobtemplates": JobTemplateRequest,
    f"{SERVER}/samples": Definition,
    "maestro-timetrigger/src/test/resources/fixtures": TimeTriggerExecution,
}

_SIGNAL: Final = "maestro-signal/src/test/resources/fixtures"
_WORKFLOWS: Final = f"{COMMON}/workflows/definition"

FILES: Final[dict[str, Any]] = {
    f"{COMMON}/aggregated/step-aggregated-view-not-created.json": StepAggregatedView,
    f"{COMMON}/aggregated/step-aggregated-view.json": StepAggregatedView,
    f"{COMMON}/aggregated/workflow-aggregated-info.json": AggregatedInfo,
    f"{COMMON}/alerting/sample-wf-invalid-alerting.json": Definition,
    f"{COMMON}/api/sample-breakpoint-create-request.json": BreakpointRequest,
    f"{COMMON}/api/sample-breakpoint-delete-response.json": BreakpointDeleteResponse,
    f"{COMMON}/api/sample-job-template-create-request.json": JobTemplateRequest,
    f"{COMMON}/api/sample-output-data-request.json": OutputDataRequest,
    f"{COMMON}/api/sample-pagination-result.json": Page[str],
    f"{COMMON}/api/sample-signal-create-request.json": SignalRequest,
    f"{COMMON}/api/sample-step-restart-request-from-root.json": StepRestartRequest,
    f"{COMMON}/api/sample-step-restart-request.json": StepRestartRequest,
    f"{COMMON}/api/sample-step-restart-response.json": StepRestartResponse,
    f"{COMMON}/api/sample-step-stop-response.json": StepActionResponse,
    f"{COMMON}/api/sample-tag-permit-request.json": TagPermitRequest,
    f"{COMMON}/api/sample-workflow-activate-response.json": WorkflowActionResponse,
    f"{COMMON}/api/sample-workflow-create-request-params.json": Definition,
    f"{COMMON}/api/sample-workflow-create-request.json": Definition,
    f"{COMMON}/api/sample-workflow-create-response.json": WorkflowCreateResponse,
    f"{COMMON}/api/sample-workflow-deactivate-response.json": WorkflowActionResponse,
    f"{COMMON}/api/sample-workflow-instance-kill-response.json": InstanceActionResponse,
    f"{COMMON}/api/sample-workflow-instance-stop-response.json": InstanceActionResponse,
    f"{COMMON}/api/sample-workflow-instance-unblock-response.json": InstanceActionResponse,
    f"{COMMON}/api/sample-workflow-overview-response.json": WorkflowOverviewResponse,
    f"{COMMON}/api/sample-workflow-properties-update-request-reset.json": PropertiesUpdate,
    f"{COMMON}/api/sample-workflow-properties-update-request.json": PropertiesUpdate,
    f"{COMMON}/api/sample-workflow-properties-update-response.json": PropertiesUpdateResponse,
    f"{COMMON}/api/sample-workflow-restart-request.json": InstanceRestartRequest,
    f"{COMMON}/api/sample-workflow-restart-response.json": StartResponse,
    f"{COMMON}/api/sample-workflow-start-request.json": StartRequest,
    f"{COMMON}/api/sample-workflow-start-response.json": StartResponse,
    f"{COMMON}/artifact/sample-artifacts.json": dict[str, Artifacts],
    f"{COMMON}/artifact/sample-step-runtime-artifacts.json": dict[str, Artifacts],
    f"{COMMON}/instances/sample-foreach-action.json": PendingForeachAction,
    f"{COMMON}/instances/sample-foreach-details.json": dict[str, dict[InstanceStatus, Ranges]],
    f"{COMMON}/instances/sample-foreach-step-instance-running.json": StepInstance,
    f"{COMMON}/instances/sample-foreach-step-overview-with-failed.json": ForeachOverview,
    f"{COMMON}/instances/sample-foreach-step-overview.json": ForeachOverview,
    f"{COMMON}/instances/sample-inline-workflow-step-instance.json": StepInstance,
    f"{COMMON}/instances/sample-restart-config-skip-steps.json": RestartConfig,
    f"{COMMON}/instances/sample-restart-config-upstream-mode.json": RestartConfig,
    f"{COMMON}/instances/sample-restart-config.json": RestartConfig,
    f"{COMMON}/instances/sample-run-config.json": RunConfig,
    f"{COMMON}/instances/sample-step-attempt-state-failed.json": StepAttemptState,
    f"{COMMON}/instances/sample-step-attempt-state-running.json": StepAttemptState,
    f"{COMMON}/instances/sample-step-instance-failed-with-null-byte.json": StepInstance,
    f"{COMMON}/instances/sample-step-instance-failed.json": StepInstance,
    f"{COMMON}/instances/sample-step-instance-finishing.json": StepInstance,
    f"{COMMON}/instances/sample-step-instance-running.json": StepInstance,
    f"{COMMON}/instances/sample-step-instance-succeeded.json": StepInstance,
    f"{COMMON}/instances/sample-subworkflow-step-instance-running.json": StepInstance,
    f"{COMMON}/instances/sample-while-step-instance-running.json": StepInstance,
    f"{COMMON}/instances/sample-workflow-rollup-overview.json": RollupOverview,
    f"{COMMON}/instances/sample-workflow-runtime-overview.json": RuntimeOverview,
    f"{COMMON}/instances/sample-workflow-runtime-summary-with-rollup-base.json": WorkflowRuntimeSummary,
    f"{COMMON}/instances/sample-workflow-runtime-summary.json": WorkflowRuntimeSummary,
    f"{COMMON}/outputdata/sample-output-data-params-defaults.json": dict[str, Parameter],
    f"{COMMON}/outputdata/sample-output-data-params-updated.json": dict[str, Parameter],
    f"{COMMON}/parameters/sample-wf-summary-params.json": WorkflowSummary,
    f"{COMMON}/parameters/sample-wf-summary-restart-config.json": WorkflowSummary,
    f"{COMMON}/parameters/signal-dependency-params.json": tuple[SignalDependencyDefinition, ...],
    f"{COMMON}/parameters/signal-output-params.json": tuple[SignalOutputDefinition, ...],
    f"{COMMON}/signal/sample-signal-dependencies-definition.json": tuple[SignalDependencyDefinition, ...],
    f"{COMMON}/signal/sample-signal-dependencies.json": SignalDependencies,
    f"{COMMON}/signal/sample-signal-instance.json": SignalInstance,
    f"{COMMON}/signal/sample-signal-multiple-dependencies.json": SignalDependencies,
    f"{COMMON}/signal/sample-signal-outputs.json": SignalOutputs,
    f"{COMMON}/stepruntime/job_template.json": JobTemplate,
    f"{COMMON}/stepruntime/kubernetes_command.json": KubernetesCommand,
    f"{COMMON}/stepruntime/kubernetes_command_exec.json": KubernetesCommand,
    f"{COMMON}/stepruntime/kubernetes_command_prestop.json": KubernetesCommand,
    f"{COMMON}/stepruntime/paused_step_attempt.json": PausedStepAttempt,
    f"{COMMON}/stepruntime/step_breakpoint.json": StepBreakpoint,
    f"{COMMON}/stepruntime/step_breakpoint_null.json": StepBreakpoint,
    f"{COMMON}/timeline/sample-timeline.json": Timeline,
    f"{COMMON}/timeline/workflow-timeline.json": WorkflowTimeline,
    f"{_WORKFLOWS}/sample-invalid-git-info.json": GitInfo,
    f"{_WORKFLOWS}/sample-numbers.json": dict[str, Number],
    f"{_WORKFLOWS}/sample-properties.json": Properties,
    f"{_WORKFLOWS}/sample-retry-strings.json": dict[str, Number],
    f"{_WORKFLOWS}/sample-tag-with-attributes.json": Tag,
    f"{_WORKFLOWS}/sample-timeouts.json": dict[str, Number],
    f"{_WORKFLOWS}/sample-user-nested.json": User,
    f"{_WORKFLOWS}/sample-user-nullable.json": User,
    f"{_WORKFLOWS}/sample-user-only-name.json": User,
    f"{_WORKFLOWS}/sample-user-simple.json": User,
    f"{_WORKFLOWS}/sample-valid-git-info.json": GitInfo,
    f"{_WORKFLOWS}/sample-valid-metadata.json": Metadata,
    f"{_WORKFLOWS}/sample-workflow-definition-extras.json": EnrichedExtras,
    f"{SERVER}/jobtemplates/sample-shell-wf.json": Definition,
    f"{_SIGNAL}/sample-signal-instance-source.json": SignalSource,
    f"{_SIGNAL}/sample-signal-trigger-execution.json": SignalTriggerExecution,
    f"{_SIGNAL}/sample-signal-trigger-match.json": SignalTriggerMatch,
}

# File -> the problems that refuse it. Fixtures that are called invalid but are not here have the right
# shape; what is wrong with them is for the validation of definitions or for an action to say.
REFUSED: Final[dict[str, list[tuple[str, str]]]] = {
    f"{COMMON}/typedsteps/sample-typed-step-invalid.json": [
        (Code.MISSING_FIELD, "step.signal_dependencies[0].name"),
    ],
    f"{_WORKFLOWS}/sample-invalid-git-info.json": [(Code.UNKNOWN_FIELD, "timestamp1")],
    f"{_WORKFLOWS}/sample-invalid-wf.json": [
        (Code.UNKNOWN_FIELD, "definition"),
        (Code.MISSING_FIELD, "workflow"),
    ],
    f"{COMMON}/workflows/request/sample-invalid-wf.json": [(Code.MISSING_FIELD, "workflow")],
}

# JSON files that are no record of the model, and why.
NOT_RECORDS: Final[dict[str, str]] = {}


def record_of(name: str) -> Any:
    """The record that a fixture is, or None if no table knows it."""
    return FILES.get(name) or FOLDERS.get(name.rpartition("/")[0])
