"""Parameters that steps have without asking: all steps, and steps of one type."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.model.param import InternalParamMode, ParamDefinition, ParamMode, Params, ParamSource, ParamType
from stretto.params.defaults.native import STEP_FACTS
from stretto.params.merge import merge
from stretto.params.modes import Stage

P, I = ParamType, InternalParamMode  # noqa: E741 - short names keep the tables readable
ON_START: Final = ParamMode.MUTABLE_ON_START


def _given(kind: ParamType, value: Any, mode: ParamMode | None = None) -> ParamDefinition:
    return ParamDefinition(type=kind, value=value, internal_mode=I.PROVIDED, mode=mode)


def _computed(kind: ParamType, expression: str) -> ParamDefinition:
    return ParamDefinition(type=kind, expression=expression, internal_mode=I.PROVIDED)


def _wanted(kind: ParamType, mode: ParamMode | None = None) -> ParamDefinition:
    return ParamDefinition(type=kind, internal_mode=I.REQUIRED, mode=mode)


def _optional(kind: ParamType) -> ParamDefinition:
    return ParamDefinition(type=kind, internal_mode=I.OPTIONAL)


def _map(mode: InternalParamMode, **members: ParamDefinition) -> ParamDefinition:
    return ParamDefinition(type=P.MAP, value=members, internal_mode=mode)


def _merged(params: Params) -> Params:
    """As after a merge, so that later merges take them as they are."""
    return merge({}, params, Stage(ParamSource.SYSTEM_DEFAULT))


STEP_DEFAULTS: Final[Params] = _merged(
    {
        row.name: ParamDefinition(type=row.type, expression=row.expression, internal_mode=I.RESERVED)
        for row in STEP_FACTS
    }
)

_LOOP: Final[Params] = {
    "loop_params": _wanted(P.MAP, ON_START),
    "loop_index": ParamDefinition(type=P.LONG, value=-1, internal_mode=I.RESERVED),
}

_HTTP_STATE: Final = (
    "if (status_code >= 200 && status_code < 300) return 'DONE'; "
    "if (status_code >= 400 && status_code < 500) return 'FATAL_ERROR'; "
    "return 'USER_ERROR';"
)
_NOTEBOOK_OUTPUT: Final = (
    "return 'maestro-output_' + DateTimeFormat.forPattern('yyyyMMddHHmmss').print(RUN_TS) + '__'"
    " + workflow_instance_id + '_' + step_id + '_' + step_instance_uuid + '.ipynb';"
)
_NOTEBOOK_RUN: Final = (
    "return workflow_id + '_' + workflow_instance_id + '_' + params.getFromInstance('workflow_run_id')"
    " + '_' + step_id + '_' + step_attempt_id;"
)


def _kubernetes(mode: InternalParamMode, **more: ParamDefinition) -> ParamDefinition:
    return _map(
        mode,
        app_name=_given(P.STRING, "maestro-job"),
        image=_wanted(P.STRING),
        cpu=_optional(P.STRING),
        disk=_optional(P.STRING),
        gpu=_optional(P.STRING),
        memory=_optional(P.STRING),
        command=_optional(P.STRING_ARRAY),
        args=_optional(P.STRING_ARRAY),
        job_deduplication_key=_optional(P.STRING),
        owner_email=_optional(P.STRING),
        env=_given(P.STRING_MAP, {}),
        **more,
    )


_PRE_STOP: Final = _map(I.OPTIONAL, exec=_map(I.OPTIONAL, command=_optional(P.STRING_ARRAY)))


_BY_TYPE: Final[Mapping[str, Params]] = {
    "foreach": _LOOP,
    "while": {**_LOOP, "condition": ParamDefinition(type=P.BOOLEAN, value=False, internal_mode=I.RESERVED)},
    "subworkflow": {
        "subworkflow_id": _wanted(P.STRING, ON_START),
        "subworkflow_version": _given(P.STRING, "active", ON_START),
    },
    "Http": {
        "http": _map(
            I.REQUIRED,
            url=_wanted(P.STRING),
            method=_given(P.STRING, "GET"),
            headers=_given(P.STRING_MAP, {"Content-Type": "application/json", "Accept": "application/json"}),
            body=_optional(P.STRING),
        ),
        "status_code": _given(P.LONG, 200),
        "response_body": _given(P.STRING, ""),
        "state_expr": _given(P.STRING, _HTTP_STATE),
    },
    "Kubernetes": {"kubernetes": _kubernetes(I.REQUIRED, pre_stop=_PRE_STOP)},
    "Notebook": {
        "kubernetes": _kubernetes(I.PROVIDED),
        "notebook": _map(
            I.REQUIRED,
            init_command=_given(P.STRING, ""),
            git_branch=_optional(P.STRING),
            git_commit=_optional(P.STRING),
            git_repo=_optional(P.STRING),
            input_path=_wanted(P.STRING),
            output_path=_computed(P.STRING, _NOTEBOOK_OUTPUT),
            papermill_arguments=_optional(P.STRING_ARRAY),
            run_id=_computed(P.STRING, _NOTEBOOK_RUN),
        ),
    },
    "Sleep": {"sleep_seconds": _optional(P.LONG)},
    "Wait": {"prompt": _optional(P.STRING), "assignees": _optional(P.STRING_ARRAY)},
}

TYPE_DEFAULTS: Final[Mapping[str, Params]] = {kind: _merged(params) for kind, params in _BY_TYPE.items()}
"""By the type of the step, as the model writes it."""
