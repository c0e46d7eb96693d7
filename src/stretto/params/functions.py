"""The functions of `params` that reach beyond the expression: `params.getFromStep('extract', 'rows')`.

Each answers with a value, or with `Missing(key)` where the context must fetch something first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from stretto.model.param import ParamDefinition, Parameter
from stretto.model.step import STEP_TYPES
from stretto.model.suggest import did_you_mean
from stretto.params.context import VALIDATION, Context, RunFacts, StepFacts, Undelivered
from stretto.params.foreach import collect
from stretto.params.references import said, step_hint
from stretto.params.values import is_evaluated, is_null, to_sel
from stretto.sel import Kind, Missing, SelError
from stretto.sel.values import StringArray

DRY_RUN_SIGNAL: Final = 20_220_101  # what every signal parameter is in a dry run
SIGNAL: Final = "SIGNAL"
MANUAL: Final = "MANUAL"
STATUS: Final = "MAESTRO_STEP_STATUS"
END_TIME: Final = "MAESTRO_STEP_END_TIME"
ERROR: Final = "STRETTO_STEP_ERROR"

INSTANCE_FIELDS: Final[Mapping[str, Callable[[RunFacts], str | int | None]]] = {
    "INITIATOR_TIMEZONE": lambda run: run.initiator_timezone,
    "INITIATOR_TYPE": lambda run: run.initiator,
    "INITIATOR_RUNNER_NAME": lambda run: run.runner,
    "RUN_POLICY": lambda run: run.run_policy,
    "owner": lambda run: run.owner,
    "FIRST_TIME_TRIGGER_TIMEZONE": lambda run: run.first_trigger_timezone,
    "workflow_id": lambda run: run.workflow_id,
    "workflow_instance_id": lambda run: run.instance_id,
    "workflow_run_id": lambda run: run.run_id,
}
WORKFLOW_ONLY: Final = frozenset({"owner", "FIRST_TIME_TRIGGER_TIMEZONE"})


def _type_constant(name: str) -> str:
    """The name of a built-in type as Maestro's constant; a user's own type keeps its spelling."""
    return name.upper() if name in STEP_TYPES else name


STEP_FIELDS: Final[Mapping[str, Callable[[StepFacts], str | int | None]]] = {
    "step_id": lambda step: step.step_id,
    "step_instance_id": lambda step: step.step_instance_id,
    "step_instance_uuid": lambda step: step.step_instance_uuid,
    "step_attempt_id": lambda step: step.step_attempt_id,
    "step_type_info": lambda step: step.sub_type or _type_constant(step.type),
    "MAESTRO_STEP_ERROR_RETRIES": lambda step: step.error_retries,
}


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions as one evaluation sees them; `step` is the current step, None for a run's own params."""

    context: Context
    step: StepFacts | None = None

    def call(self, method: str, arguments: tuple[str, ...]) -> Any:
        """Answer `params.<method>(<arguments>)`."""
        function = METHODS.get((method, len(arguments)))
        if function is None:
            message = f"params has no function {method} with {len(arguments)} arguments"
            raise SelError(Kind.UNSUPPORTED, message)
        return function(self, *arguments)

    # ----------------------------------------------------------------------------------------- this run
    def get_from_instance(self, field: str) -> str | int:
        if field not in INSTANCE_FIELDS or (field in WORKFLOW_ONLY and self.step is not None):
            raise _failed("getFromInstance", f"an expression of this scope can not read [{field}]")
        if field == "INITIATOR_RUNNER_NAME" and self.context.run.initiator not in {MANUAL, VALIDATION}:
            raise _failed("getFromInstance", f"[{field}] is known only if a user started the run")
        value = INSTANCE_FIELDS[field](self.context.run)
        return "" if value is None else value

    def get_execution_environment(self) -> str:
        return self.context.run.environment

    def next_unique_id(self) -> int | Missing:
        return self.context.next_unique_id()

    # -------------------------------------------------------------------------------------------- steps
    def get_from_current_step(self, field: str) -> str | int | None:
        if self.step is None or field not in STEP_FIELDS:
            raise _failed("getFromStep", f"an expression of this scope can not read [{field}]")
        return STEP_FIELDS[field](self.step)

    def get_from_step(self, step_id: str, param: str) -> Any:
        step = self._step("getFromStep", step_id)
        if isinstance(step, Missing):
            return step
        if param == STATUS:
            return step.status
        if param == END_TIME:
            if step.end_time is None:
                raise _failed("getFromStep", f"step [{step_id}] has no end time yet")
            return step.end_time
        if param == ERROR and param not in step.params:
            return msgspec.json.encode(step.error).decode()
        return self.value_of("getFromStep", param, step.params.get(param), step_id, step.params)

    def get_from_foreach(self, foreach_step: str, step_id: str, param: str) -> Any:
        step = self._step("getFromForeach", foreach_step, "foreach")
        if isinstance(step, Missing):
            return step
        if step.total_loop_count is None:
            raise _failed("getFromForeach", f"foreach [{foreach_step}] has not begun")
        if step.total_loop_count == 0:
            return StringArray()
        collected = self.context.foreach(foreach_step, step_id, param)
        if isinstance(collected, Missing):
            return collected
        follows_maestro = self.context.run.follows_maestro
        if collected is None or (collected.type is None and follows_maestro):
            raise _failed("getFromForeach", f"no iteration of [{foreach_step}] has [{param}] in [{step_id}]")
        try:
            return collect(step.total_loop_count, collected, follows_maestro=follows_maestro)
        except ValueError as error:
            raise _failed("getFromForeach", str(error)) from None

    def get_from_subworkflow(self, subworkflow_step: str, step_id: str, param: str) -> Any:
        step = self._step("getFromSubworkflow", subworkflow_step, "subworkflow")
        if isinstance(step, Missing):
            return step
        found = self.context.subworkflow(subworkflow_step, step_id, param)
        if isinstance(found, Missing):
            return found
        if isinstance(found, Undelivered):
            if not self.context.run.follows_maestro:
                return None
            found = found.declared
        return self.value_of("getFromSubworkflow", param, found, step_id)

    def _step(self, method: str, step_id: str, wanted: str | None = None) -> StepFacts | Missing:
        step = self.context.step(step_id)
        if step is None:
            hint = step_hint(step_id, self.context.run.step_ids)
            raise _failed(method, f"there is no complete step [{step_id}]{said(hint)}")
        if wanted and isinstance(step, StepFacts) and step.type.casefold() != wanted:
            raise _failed(method, f"step [{step_id}] is a {step.type} instead of a {wanted} step")
        return step

    @staticmethod
    def value_of(
        method: str, name: str, param: ParamDefinition | None, step_id: str, known: Iterable[str] = ()
    ) -> Any:
        """The result of another step's parameter, for an expression. `known`: those that the step has."""
        if param is None:
            hint = said(did_you_mean(name, known))
            raise _failed(method, f"step [{step_id}] has no param [{name}]{hint}")
        if is_null(param):
            return None
        if not isinstance(param, Parameter) or not is_evaluated(param):
            raise _failed(method, f"param [{name}] of step [{step_id}] is not evaluated yet")
        return to_sel(param.type, param.evaluated_result)

    # ------------------------------------------------------------------------------------------ signals
    def get_from_initiator(self, param: str) -> Any:
        run = self.context.run
        if run.initiator == VALIDATION:
            return DRY_RUN_SIGNAL
        if param not in run.signal_params:
            raise _failed("getFromSignal", f"the initiator of this run has no signal param [{param}]")
        return run.signal_params[param]

    def get_from_signal(self, signal: str, param: str) -> str | int | Missing:
        run = self.context.run
        if run.initiator == VALIDATION:
            if signal not in run.trigger_signals:
                raise _failed("getFromSignal", f"no signal trigger of this workflow names [{signal}]")
            return DRY_RUN_SIGNAL
        if run.initiator != SIGNAL:
            raise _failed("getFromSignal", f"no signal started this run, its initiator is {run.initiator}")
        value = self.context.signal(signal, param)
        if value is None:
            raise _failed("getFromSignal", f"there is no param [{param}] of a signal [{signal}]")
        return value

    def get_from_signal_or_default(self, signal: str, param: str, default: str) -> str | int | Missing:
        try:
            return self.get_from_signal(signal, param)
        except SelError:
            return default

    def get_from_signal_dependency(self, index: str, param: str) -> str | int | Missing:
        value = self.context.signal_dependency(int(index), param) if index.isdecimal() else None
        if value is None:
            raise _failed("getFromSignalDependency", f"dependency [{index}] brought no param [{param}]")
        return value


METHODS: Final[Mapping[tuple[str, int], Callable[..., Any]]] = {
    ("getFromInstance", 1): Functions.get_from_instance,
    ("getExecutionEnvironment", 0): Functions.get_execution_environment,
    ("nextUniqueId", 0): Functions.next_unique_id,
    ("getFromStep", 1): Functions.get_from_current_step,
    ("getFromStep", 2): Functions.get_from_step,
    ("getFromForeach", 3): Functions.get_from_foreach,
    ("getFromSubworkflow", 3): Functions.get_from_subworkflow,
    ("getFromSignal", 1): Functions.get_from_initiator,
    ("getFromSignal", 2): Functions.get_from_signal,
    ("getFromSignalOrDefault", 3): Functions.get_from_signal_or_default,
    ("getFromSignalDependency", 2): Functions.get_from_signal_dependency,
}


def _failed(method: str, why: str) -> SelError:
    return SelError(Kind.MAESTRO_INTERNAL, f"params.{method}: {why}")
