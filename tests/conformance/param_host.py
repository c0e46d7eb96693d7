"""The state that a case declares around its parameters, as the context that the real code asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.wire import decode
from stretto.params import Collected, Moment, RunFacts, Scope, StepFacts
from stretto.params.convert import cast
from stretto.sel import Kind, Limits, Missing, SelError

Case = dict[str, Any]
T = TypeVar("T", bound=ParamDefinition)


def definition(written: Case) -> ParamDefinition:
    """A parameter as a case writes it; `evaluated_result` makes it an evaluated one."""
    fields = {key: value for key, value in written.items() if key not in {"name", "evaluated"}}
    if "evaluated_result" in fields:
        fields.setdefault("value", fields["evaluated_result"])
        return _decoded(Parameter, fields)
    if fields.get("value", ...) is None:
        return ParamDefinition(type=ParamType(fields["type"]))
    return _decoded(ParamDefinition, fields)


def evaluated(written: Case) -> Parameter:
    """A parameter whose value is its result."""
    kind = ParamType(written["type"])
    if kind is ParamType.MAP:
        plain = {key: item["value"] for key, item in written["value"].items()}
        return Parameter(type=kind, evaluated_result=plain)
    return _decoded(
        Parameter, {"type": kind, "value": written["value"], "evaluated_result": written["value"]}
    )


def _decoded(record: type[T], fields: Case) -> T:
    param, problems = decode(record, fields)
    assert not problems, problems
    return param


def definitions(written: Mapping[str, Case]) -> dict[str, ParamDefinition]:
    return {name: definition(param) for name, param in written.items()}


@dataclass
class CaseHost:
    """Implements the context by the declared state, and nothing more."""

    state: Case

    @property
    def run(self) -> RunFacts:
        state = self.state
        initiator = state.get("initiator", {"type": "MANUAL"})
        return RunFacts(
            workflow_id=state.get("workflow_id", "test-workflow"),
            instance_id=state.get("workflow_instance_id"),
            run_id=state.get("workflow_run_id"),
            owner=state.get("owner"),
            initiator=initiator["type"],
            runner=initiator.get("user"),
            initiator_timezone=state.get("initiator_timezone"),
            first_trigger_timezone=state.get("first_time_trigger_timezone"),
            run_policy=state.get("run_policy"),
            environment=state.get("env", ""),
            signal_params={name: item["value"] for name, item in initiator.get("params", {}).items()},
            trigger_signals=frozenset(
                name for trigger in state.get("signal_triggers", ()) for name in trigger["definitions"]
            ),
        )

    @property
    def current_step(self) -> StepFacts | None:
        if self.state.get("scope") == "workflow" or not self.state.keys() & {
            "scope",
            "current_step",
            "step_id",
        }:
            return None
        return facts({"step_id": self.state.get("step_id", "step1"), **self.state.get("current_step", {})})

    def step(self, step_id: str) -> StepFacts | None:
        if step_id in self.state.get("step_ids_with_output", ()):
            return facts({"step_id": step_id})
        found = self.state.get("step_outputs", {}).get(step_id)
        return None if found is None else facts({**found, "step_id": step_id})

    def foreach(self, foreach_step: str, step_id: str, param: str) -> Collected | None:  # noqa: ARG002
        results = self.state.get("foreach_results")
        if results is None:
            return None
        kind = ParamType(results["param_type"])
        if kind.is_array:
            return Collected(kind, {})
        values = {
            int(at): cast(param, text, ParamType.STRING, kind) for at, text in results["results"].items()
        }
        return Collected(kind, values)

    def subworkflow(self, subworkflow_step: str, step_id: str, param: str) -> Parameter | None:  # noqa: ARG002
        found = self.state["subworkflow_steps"].get(step_id, {"params": {}})["params"].get(param)
        return None if found is None else evaluated(found)

    def signal(self, name: str, param: str) -> str | int | None:
        signal_id = self.state["initiator"].get("signal_id_map", {}).get(name)
        return self._signal_param(name, signal_id, param)

    def signal_dependency(self, index: int, param: str) -> str | int | None:
        dependencies = self.state["current_step"]["signal_dependencies"]
        if index >= len(dependencies):
            return None
        return self._signal_param(dependencies[index]["name"], dependencies[index]["signal_id"], param)

    def next_unique_id(self) -> int | Missing:
        if "next_unique_id_error" in self.state:
            raise SelError(Kind.MAESTRO_INTERNAL, self.state["next_unique_id_error"])
        return int(self.state["next_unique_id"])

    def _signal_param(self, name: str, signal_id: int | None, param: str) -> str | int | None:
        for instance in self.state.get("signal_instances", ()):
            if (instance["name"], instance["id"]) == (name, signal_id):
                found = (instance["params"] or {}).get(param)
                return None if found is None else found["value"]
        return None


def facts(state: Case) -> StepFacts:
    return StepFacts(
        step_id=state["step_id"],
        type=state.get("type", "NoOp"),
        sub_type=state.get("sub_type"),
        step_instance_id=state.get("step_instance_id"),
        step_attempt_id=state.get("step_attempt_id"),
        uuid=state.get("step_instance_uuid"),
        error_retries=state.get("error_retries", 0),
        status=state.get("status"),
        end_time=state.get("end_time"),
        params={
            name: evaluated(param) if param.get("evaluated", True) else definition(param)
            for name, param in state.get("params", {}).items()
        },
        total_loop_count=state.get("foreach", {}).get("total_loop_count"),
    )


def scope_of(state: Case, limits: Case | None = None, now_millis: int = 0) -> Scope:
    """The scope in which a case's parameter is evaluated."""
    host = CaseHost(state)
    in_step = host.current_step is not None
    return Scope(
        context=host,
        moment=Moment(now_millis, limits=Limits(**limits) if limits else Limits()),
        workflow=definitions(state.get("workflow_params", {})) if in_step else {},  # type: ignore[arg-type]
        step=host.current_step,
        separator=state.get("step_param_separator", "__"),
    )
