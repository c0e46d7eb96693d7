"""Artifacts: what a step leaves behind beside its parameters. `type` decides the shape."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

import msgspec

from stretto.model.foreach import ForeachOverview
from stretto.model.kubernetes import KubernetesCommand
from stretto.model.param import Parameter
from stretto.model.pending_action import PendingForeachAction
from stretto.model.problem import Place
from stretto.model.rollup import RollupOverview, RuntimeOverview
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus
from stretto.model.timeline import LogEvent, MilestoneEvent
from stretto.model.wire.codec import Codec, Own, Sink, wrong_type
from stretto.model.wire.types import codec_of
from stretto.model.words import Word

PYTHON: Final = "python"  # the key under which Python steps leave the exception of their function


class ArtifactKey(StrEnum):
    """The keys under which the product's own steps leave theirs."""

    SUBWORKFLOW = "maestro_subworkflow"
    FOREACH = "maestro_foreach"
    WHILE = "maestro_while"
    HTTP = "maestro_http"
    KUBERNETES = "maestro_kubernetes"
    NOTEBOOK = "maestro_notebook"
    TITUS = "maestro_titus"
    DYNAMIC_OUTPUT = "maestro_dynamic_output"
    RETRY = "maestro_retry"


class HttpStatus(Word):
    """Whether a request was answered."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


class TypedArtifact(msgspec.Struct, kw_only=True, tag_field="type"):
    """An artifact of a known shape."""


class SubworkflowArtifact(TypedArtifact, kw_only=True, tag="SUBWORKFLOW"):
    """The run that a subworkflow step started."""

    subworkflow_id: str
    subworkflow_version_id: int = 0
    subworkflow_instance_id: int = 0
    subworkflow_run_id: int = 0
    subworkflow_uuid: str | None = None
    subworkflow_overview: RuntimeOverview | None = None


class ForeachArtifact(TypedArtifact, kw_only=True, tag="FOREACH"):
    """The iterations of a foreach step."""

    foreach_workflow_id: str
    foreach_identity: str | None = None
    foreach_run_id: int = 0
    run_policy: RunPolicy | None = None
    run_id: int = 0
    ancestor_iteration_count: int | None = None
    total_loop_count: int = 0
    next_loop_index: int = 0
    foreach_overview: ForeachOverview | None = None
    pending_action: PendingForeachAction | None = None


class WhileArtifact(TypedArtifact, kw_only=True, tag="WHILE"):
    """The iterations of a while step, with the values its parameters went through."""

    loop_workflow_id: str
    loop_identity: str | None = None
    loop_run_id: int = 0
    run_policy: RunPolicy | None = None
    run_id: int = 0
    first_iteration: int = 0
    last_iteration: int = 0
    last_status: InstanceStatus | None = None
    last_overview: RuntimeOverview | None = None
    rollup: RollupOverview | None = None
    loop_param_values: dict[str, list[Any]] | None = None


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an HTTP step asked for."""

    url: str
    method: str | None = None
    headers: dict[str, str] | None = None
    body: str | None = None


class HttpArtifact(TypedArtifact, kw_only=True, tag="HTTP"):
    """A request and its answer."""

    request: HttpRequest | None = None
    status: HttpStatus | None = None
    status_code: int | None = None
    body: str | None = None


class KubernetesArtifact(TypedArtifact, kw_only=True, tag="KUBERNETES"):
    """A job in a cluster."""

    job_id: str | None = None
    execution_script: str | None = None
    execution_output: str | None = None
    command: KubernetesCommand | None = None


class NotebookArtifact(TypedArtifact, kw_only=True, tag="NOTEBOOK"):
    """Where the executed notebook is."""

    output_path: str | None = None


class TitusArtifact(TypedArtifact, kw_only=True, tag="TITUS"):
    """A job of the Titus platform."""

    cmb_job_id: str | None = None
    cmb_ui_link: str | None = None
    execution_script: str | None = None
    titus_job_id: str | None = None
    titus_log_ui_link: str | None = None
    titus_execution_output: str | None = None
    titus_execution_error_output: str | None = None
    titus_options: dict[str, Any] | None = None
    titus_task_id: str | None = None
    milestones: list[MilestoneEvent] | None = None


class DynamicOutputArtifact(TypedArtifact, kw_only=True, tag="DYNAMIC_OUTPUT"):
    """Signals that a step found out while it ran; each is a MAP parameter."""

    signal_outputs: list[Parameter] | None = None
    info: LogEvent | None = None


class RetryArtifact(TypedArtifact, kw_only=True, tag="RETRY"):
    """What a failed step says about trying again."""

    retryable: bool


class DefaultArtifact(msgspec.Struct, kw_only=True):
    """Anything else: a free object, kept as it came, an unknown or explicit `type` included."""

    wire: ClassVar[Own] = Own(lambda tp: DefaultArtifactCodec(tp))  # noqa: PLW0108 - defined below

    data: dict[str, Any] = {}


class DefaultArtifactCodec:
    """The object is the data."""

    def __init__(self, _tp: Any) -> None:
        pass

    def blank(self) -> DefaultArtifact:
        return DefaultArtifact()

    def decode(self, value: Any, at: Place, sink: Sink, /) -> DefaultArtifact:
        if not isinstance(value, dict):
            sink.append(wrong_type(at, "an object", value))
            return self.blank()
        return DefaultArtifact(data=dict(value))

    def encode(self, artifact: DefaultArtifact, /) -> dict[str, Any]:
        return artifact.data


KNOWN_ARTIFACTS = (
    SubworkflowArtifact,
    ForeachArtifact,
    WhileArtifact,
    HttpArtifact,
    KubernetesArtifact,
    NotebookArtifact,
    TitusArtifact,
    DynamicOutputArtifact,
    RetryArtifact,
)


class ArtifactCodec:
    """Known types have their shape, everything else is a free object."""

    def __init__(self, _tp: Any) -> None:
        self._kinds: dict[str, Codec] = {
            str(kind.__struct_config__.tag): codec_of(kind) for kind in KNOWN_ARTIFACTS
        }
        self._free = codec_of(DefaultArtifact)

    def blank(self) -> Any:
        return self._free.blank()

    def decode(self, value: Any, at: Place, sink: Sink, /) -> Any:
        kind = value.get("type") if isinstance(value, dict) else None
        known = self._kinds.get(kind.upper()) if isinstance(kind, str) else None
        return (known or self._free).decode(value, at, sink)

    def encode(self, artifact: Any, /) -> Any:
        return codec_of(type(artifact)).encode(artifact)


Artifact = Annotated[TypedArtifact | DefaultArtifact, Own(ArtifactCodec)]
Artifacts = dict[str, Artifact]
