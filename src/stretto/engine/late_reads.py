"""What a step reads when it ends, checked before its work begins: conditions on its edges, and the signals
that it announces. A name that nothing has by then will not be there later either.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from stretto.engine.flow import Flow
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord
from stretto.model.param import ParamDefinition, ParamType
from stretto.params import STEP_DEFAULTS, Fault, ParamError, references_of
from stretto.params.references import is_text, unknown_hint
from stretto.params.requests import SEPARATOR


class LateRead(NamedTuple):
    """A name that is read at the end of a step, and by what."""

    name: str
    reader: str
    in_text: bool


def check_late_reads(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """Raise an error that names all that is read and not there."""
    if plan.late_reads is None:
        plan.late_reads = tuple(_late_reads(flow, plan))
    if not plan.late_reads:
        return
    own = attempt.params if attempt.params is not None else STEP_DEFAULTS
    unknown = [each for each in plan.late_reads if each.name not in own and each.name not in flow.run.params]
    if unknown:
        lines = [f"{each.reader} refers to [{each.name}]" for each in unknown]
        hint = unknown_hint(unknown[0].name, in_text=unknown[0].in_text)
        message = f"In step [{plan.id}], {'; '.join(lines)}: nothing has that name; {hint}"
        raise ParamError(Fault.UNKNOWN_REFERENCE, unknown[0].name, message, details=lines)


def _late_reads(flow: Flow, plan: StepPlan) -> Iterator[LateRead]:
    for edge in plan.edges:
        if edge.condition is not None:
            condition = ParamDefinition(type=ParamType.BOOLEAN, expression=edge.condition)
            yield from _in(condition, f"the condition on the edge to [{flow.plan.steps[edge.target].id}]")
    for output in plan.step.signal_outputs or ():
        name = ParamDefinition(type=ParamType.STRING, value=output.name)
        yield from _in(name, f"the name of the signal [{output.name}]")
        params = output.params or {}
        for key, param in params.items():
            for read in _in(param, f"param [{key}] of the signal [{output.name}]"):
                if read.name not in params or read.name == key:
                    yield read
        payload = output.payload_params()
        for key, param in payload.items():
            for read in _in(param, f"payload [{key}] of the signal [{output.name}]"):
                if read.name == key or (read.name not in payload and read.name not in params):
                    yield read


def _in(param: ParamDefinition, reader: str) -> Iterator[LateRead]:
    """What other steps have is known only at the end."""
    with suppress(ParamError):  # an expression that can not be read says so when it is evaluated
        for reference in references_of(reader, param):
            if not reference.optional and SEPARATOR not in reference.name:
                yield LateRead(reference.name, reader, is_text(param))
