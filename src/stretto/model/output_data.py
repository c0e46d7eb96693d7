"""What an outside job reports back: parameters and artifacts for its step."""

from typing import Any, ClassVar

import msgspec

from stretto.model.artifact import Artifacts
from stretto.model.param import Parameter
from stretto.model.wire.codec import Shape


class OutputData(msgspec.Struct, frozen=True, kw_only=True):
    """What a job printed between its two markers."""

    params: dict[str, Parameter] | None = None
    artifacts: Artifacts | None = None


class OutputDataRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The same, sent by a job to the server. A job of ours says which step attempt it works for."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    external_job_type: str | None = None
    external_job_id: str | None = None
    workflow_id: str | None = None
    workflow_instance_id: int | None = None
    workflow_run_id: int | None = None
    step_id: str | None = None
    step_attempt_id: int | None = None
    created_time: int | None = None
    params: dict[str, Parameter] | None = None
    artifacts: Artifacts | None = None
    extra: dict[str, Any] = {}
