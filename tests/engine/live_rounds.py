"""The iterations of a loop that are alive, as its artifact wants them. The product makes them of rows."""

from stretto.engine.flow import Flow
from stretto.engine.live_rollup import live_leaves
from stretto.engine.loop_overview import Round
from stretto.engine.overview import StepState, runtime_overview


def rounds_of(flow: Flow, index: int) -> list[Round]:
    """Those of a step, in their order."""
    return [_round(child) for child in flow.children.get(index, {}).values()]


def _round(child: Flow) -> Round:
    run, rollup = child.run, live_leaves(child)
    steps: dict[str, StepState] = {each.key.step_id: each for each in child.attempts if each is not None}
    overview = runtime_overview(list(child.plan.numbers), steps, rollup)
    return Round(run.key.instance_id, run.key.run_id, run.status, rollup, overview)
