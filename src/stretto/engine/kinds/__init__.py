"""How each kind of step is carried out, once it may start. Work that others do comes back as an event."""

from collections.abc import Callable, Mapping
from typing import Final

from stretto.engine.flow import Flow
from stretto.engine.kinds.batch import launch_template
from stretto.engine.kinds.foreach import launch_foreach
from stretto.engine.kinds.sleep import launch_sleep
from stretto.engine.kinds.subworkflow import launch_subworkflow
from stretto.engine.kinds.undo import launch_undo
from stretto.engine.kinds.wait import launch_wait
from stretto.engine.kinds.whiles import launch_while
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.policies import start_work
from stretto.engine.records import AttemptRecord
from stretto.engine.turn import Turn
from stretto.model.status import StepStatus

S = StepStatus


def launch(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Start the work of an attempt. True: it is done already and the attempt goes on."""
    return _BY_KIND[plan.kind](turn, flow, plan, attempt)


def _nothing(turn: Turn, flow: Flow, _plan: StepPlan, attempt: AttemptRecord) -> bool:
    turn.move(flow, attempt, S.RUNNING)
    turn.move(flow, attempt, S.FINISHING)
    return True


def _work(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """The launch is part of the commit that makes the attempt STARTING; only its result will count."""
    turn.touch(attempt, flow)
    attempt.launch = flow.tree.generation
    turn.act(start_work(plan, attempt, attempt.launch))
    return False


_BY_KIND: Final[Mapping[Kind, Callable[[Turn, Flow, StepPlan, AttemptRecord], bool]]] = {
    Kind.NOTHING: _nothing,
    Kind.SLEEP: launch_sleep,
    Kind.WAIT: launch_wait,
    Kind.WORK: _work,
    Kind.SUBWORKFLOW: launch_subworkflow,
    Kind.FOREACH: launch_foreach,
    Kind.WHILE: launch_while,
    Kind.TEMPLATE: launch_template,
    Kind.UNDO: launch_undo,
}
