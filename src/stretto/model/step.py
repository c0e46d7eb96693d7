"""Steps, the nodes of a workflow, in their five kinds. In JSON each is wrapped: `{"foreach": {...}}`."""

from typing import Annotated, Any, ClassVar, Final

import msgspec

from stretto.model.condition import Condition
from stretto.model.param import Params
from stretto.model.problem import Place
from stretto.model.retry import Number, RetryPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.tag import Tag
from stretto.model.wire.codec import Drop, Own, Shape, Sink, Wrapped, wrong_type
from stretto.model.words import Word

# Types that come with the product, as they are written. Others are users' own runtimes or job templates.
LEAF_TYPES: Final = ("NoOp", "Sleep", "Titus", "Notebook", "Kubernetes", "Http", "Wait", "Python", "Shell")
NESTING_TYPES: Final = ("foreach", "while", "subworkflow", "template")
STEP_TYPES: Final = (*LEAF_TYPES, "Join", *NESTING_TYPES)
_SPELLING: Final = {name.casefold(): name for name in STEP_TYPES}


class StepTypeCodec:
    """Known types are read in any case and written in one; an unknown one is kept as it is."""

    def __init__(self, _tp: Any) -> None:
        pass

    def blank(self) -> str:
        return "NoOp"

    def decode(self, value: Any, at: Place, sink: Sink, /) -> str:
        if not isinstance(value, str):
            sink.append(wrong_type(at, "text", value, f"such as {', '.join(LEAF_TYPES)}"))
            return self.blank()
        return _SPELLING.get(value.casefold(), value)

    def encode(self, value: str, /) -> str:
        return value


StepTypeName = Annotated[str, Own(StepTypeCodec)]


class FailureMode(Word):
    """What the failure of a step means for the run around it."""

    FAIL_AFTER_RUNNING = "FAIL_AFTER_RUNNING"  # the default: let running steps end, then fail
    FAIL_IMMEDIATELY = "FAIL_IMMEDIATELY"  # stop the other steps at once
    IGNORE_FAILURE = "IGNORE_FAILURE"  # go on as if it had ended well


class Transition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Edges of a step: successors with the condition on each edge; predecessors are computed."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    predecessors: tuple[str, ...] = ()
    successors: dict[str, Condition] = {}


class StepFields(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="kind"):
    """What all kinds of steps have."""

    id: str
    name: str | None = None
    description: str | None = None
    transition: Transition = Transition()
    failure_mode: FailureMode | None = None
    tags: tuple[Tag, ...] | None = None
    rate: str | None = None  # how many of its attempts may start in a time, over all runs: `10/minute`
    timeout: Number | None = None
    signal_dependencies: tuple[SignalDependencyDefinition, ...] | None = None
    signal_outputs: tuple[SignalOutputDefinition, ...] | None = None
    params: Params | None = None
    stage: str | None = None  # the stage that the step came from, if it came from one


class TypedStep(StepFields, frozen=True, kw_only=True, gc=False, tag="step"):
    """A step that a runtime executes."""

    type: StepTypeName
    sub_type: str | None = None
    sub_type_version: str | None = None
    retry_policy: RetryPolicy | None = None
    compensation: "Step | None" = None  # undoes the step if the run fails after it


class SubworkflowStep(StepFields, frozen=True, kw_only=True, gc=False, tag="subworkflow"):
    """A step that runs another workflow, named by its params `subworkflow_id` and `subworkflow_version`."""

    sync: bool = True
    explicit_params: bool = False


class ForeachStep(StepFields, frozen=True, kw_only=True, gc=False, tag="foreach"):
    """A step that runs its steps once for each combination of its param `loop_params`."""

    concurrency: int | None = None
    strict_ordering: bool = False
    continue_on_failure: bool | None = None  # iterations begin also after one has failed
    steps: "tuple[Step, ...]" = ()


class WhileStep(StepFields, frozen=True, kw_only=True, gc=False, tag="while"):
    """A step that runs its steps again and again while the condition holds."""

    condition: Condition
    max_iterations: int | None = None
    steps: "tuple[Step, ...]" = ()


class TemplateStep(StepFields, frozen=True, kw_only=True, gc=False, tag="template"):
    """A step that stands for the steps of a template."""

    sub_type: str | None = None
    sub_type_version: str | None = None


AnyStep = TypedStep | SubworkflowStep | ForeachStep | WhileStep | TemplateStep
Step = Annotated[AnyStep, Wrapped()]
LoopStep = ForeachStep | WhileStep
