"""The parameters of runs that steps have started: iterations and children.

What a step hands down is not stored again with each run that it starts. It is told from the rows of the run
and of the attempt that started it, as the engine handed it down: every parameter of the run around it, over
these the step's own, and over these, for an iteration, the values of the loop.
"""

from typing import Final, NamedTuple

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.definitions import instance_definition
from stretto.actions.reading.step_params import sourced
from stretto.engine.records import AttemptRecord, RunRecord, attempt_above, run_above
from stretto.model.initiator import (
    Ancestor,
    ForeachInitiator,
    SubworkflowInitiator,
    UpstreamFields,
    WhileInitiator,
)
from stretto.model.param import ParamDefinition, Parameter, Params, ParamSource
from stretto.model.step import AnyStep, SubworkflowStep
from stretto.params.modes import OVERRIDES
from stretto.params.prepared import as_definition, inherited
from stretto.ports.run_snapshot import RunReader, read_attempt, read_run

LOOPS: Final = (ForeachInitiator, WhileInitiator)
NOT_HANDED_DOWN: Final = ("loop_params", "subworkflow_id", "subworkflow_version")
LOOP_VALUES: Final = ("loop_index", "condition")  # beside those of the loop parameters


class Starter(NamedTuple):
    """The attempt that started a run, in its own run."""

    run: RunRecord
    attempt: AttemptRecord
    step: AnyStep


class Starters:
    """The attempts that started the runs of one answer; the iterations of a loop share one."""

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self._known: dict[Ancestor, Starter | None] = {}

    async def run_params(self, record: RunRecord) -> Params:
        """What a run was started with: by a request, or by the step that handed it down."""
        initiator = record.initiator
        if not isinstance(initiator, UpstreamFields):
            return dict(record.run_params)
        starter = None
        if isinstance(initiator, (*LOOPS, SubworkflowInitiator)):
            starter = await self._starter(initiator.parent)
        if starter is None:
            own = {_source(initiator), None}
            return {name: as_definition(each) for name, each in record.params.items() if each.source in own}
        loop = _loop_values(record, starter.attempt) if isinstance(initiator, LOOPS) else {}
        return {**_handed_down(starter), **loop}

    async def _starter(self, ancestor: Ancestor) -> Starter | None:
        """None: its rows are gone, or the step is in no definition."""
        if ancestor not in self._known:
            self._known[ancestor] = await self._read(ancestor)
        return self._known[ancestor]

    async def _read(self, ancestor: Ancestor) -> Starter | None:
        run = await read_run(self._reader, run_above(ancestor))
        attempt = await read_attempt(self._reader, attempt_above(ancestor))
        if run is None or attempt is None:
            return None
        step = step_in((await instance_definition(self._reader, run)).steps, ancestor.step_id)
        return None if step is None else Starter(run.record, attempt.record, step)


def shown_params(record: RunRecord) -> dict[str, Parameter]:
    """The parameters of a run. Those of an iteration come from its loop, wherever that has them from."""
    if not isinstance(record.initiator, LOOPS):
        return dict(record.params)
    source = _source(record.initiator)
    return {name: inherited(param, source) for name, param in record.params.items()}


def _source(initiator: UpstreamFields) -> ParamSource:
    return ParamSource(str(type(initiator).__struct_config__.tag))


def _handed_down(starter: Starter) -> Params:
    """The parameters of the run around the step, and the step's own."""
    step, own = starter.step, starter.attempt.params or {}
    explicit = isinstance(step, SubworkflowStep) and step.explicit_params
    handed = {} if explicit else shown_params(starter.run)
    given = (name for name, param in own.items() if param.source in OVERRIDES)
    for name in dict.fromkeys((*(step.params or ()), *given)):
        if name in own:
            handed[name] = sourced(own[name], starter.run)
    return {name: as_definition(param) for name, param in handed.items() if name not in NOT_HANDED_DOWN}


def _loop_values(record: RunRecord, attempt: AttemptRecord) -> Params:
    """The values of one iteration: plain ones, which nobody has merged."""
    loop = (attempt.params or {}).get("loop_params")
    names = (*((loop.evaluated_result if loop is not None else None) or ()), *LOOP_VALUES)
    return {
        name: ParamDefinition(type=record.params[name].type, value=record.params[name].evaluated_result)
        for name in names
        if name in record.params
    }
