"""How fast the engine decides: chains, fan-outs, graphs and loops, beside a bare loop of the same moves.

python -m benchmarks core
"""

import random
import tracemalloc
from time import process_time
from typing import Final

from benchmarks.row import Row, seconds
from stretto.engine.decide import decide
from stretto.engine.effects import ResumeLoop
from stretto.engine.events import Event, Launched, Resumed
from stretto.engine.flow import Flow, Tree
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, ForeachStep, Transition, TypedStep
from stretto.model.workflow import Workflow

NOW: Final = 1_700_000_000_000
BARE: Final = "a bare loop of the same moves"
STATUSES: Final = (
    StepStatus.INITIALIZED,
    StepStatus.WAITING_FOR_SIGNALS,
    StepStatus.EVALUATING_PARAMS,
    StepStatus.WAITING_FOR_PERMITS,
    StepStatus.STARTING,
    StepStatus.RUNNING,
    StepStatus.FINISHING,
    StepStatus.SUCCEEDED,
)


# ------------------------------------------------------------------------------------------------- shapes
def noop(step_id: str, *after: str, **fields: object) -> TypedStep:
    edges = Transition(successors=dict.fromkeys(after, "true"))
    return TypedStep(id=step_id, type="NoOp", transition=edges, **fields)  # type: ignore[arg-type]


def chain(length: int) -> list[AnyStep]:
    return [noop(f"s{n}", *([f"s{n + 1}"] if n + 1 < length else [])) for n in range(length)]


def fan_out(width: int) -> list[AnyStep]:
    arms = [f"arm{n}" for n in range(width)]
    return [noop("start", *arms), *(noop(arm, "join") for arm in arms), noop("join")]


def random_graph(size: int, seed: int = 7) -> list[AnyStep]:
    """Each step has up to four successors among the later ones; one edge in three has a condition."""
    dice = random.Random(seed)
    steps: list[AnyStep] = []
    for n in range(size):
        later = [f"s{m}" for m in range(n + 1, size)]
        chosen = dice.sample(later, min(len(later), dice.randint(0, 4)))
        edges = {name: "1 < 2" if dice.random() < 1 / 3 else "true" for name in chosen}
        steps.append(TypedStep(id=f"s{n}", type="NoOp", transition=Transition(successors=edges)))
    return steps


def loop(count: int) -> list[AnyStep]:
    """Two loop params, so that a million iterations need no array of a million values."""
    sizes = {"i": count // 1_000, "j": 1_000}
    items = {
        name: ParamDefinition(type=ParamType.LONG_ARRAY, expression=f"return Util.intsBetween(0, {size}, 1);")
        for name, size in sizes.items()
    }
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value=items)}
    return [ForeachStep(id="loop", params=params, steps=(noop("body"),))]


# ------------------------------------------------------------------------------------------------- running
def flow_of(steps: list[AnyStep], plan: Plan) -> Flow:
    workflow = Workflow(id="bench", steps=tuple(steps))
    given = Parameter(type=ParamType.LONG, value=NOW, evaluated_result=NOW, evaluated_time=NOW)
    run = RunRecord(
        key=RunKey("bench", 1, 1),
        uuid="0",
        version_id=1,
        initiator=ManualInitiator(),
        correlation_id="bench:1:1",
        params={"RUN_TS": given},
        create_time=NOW,
    )
    return Flow(run, plan, Tree(workflow, EngineSettings(iterations=10_000_000)))


def finish(flow: Flow) -> int:
    """Decide until the run is over; the number of decisions. Nothing is kept of what they changed."""
    event: Event | None = Launched(run=flow.run.key)
    decisions = 0
    while event is not None:
        decision = decide(flow, event, NOW)
        decisions += 1
        resumed = [each for each in decision.effects if isinstance(each, ResumeLoop)]
        event = Resumed(attempt=resumed[0].attempt) if resumed else None
    assert flow.run.status is RunStatus.SUCCEEDED
    return decisions


def time_of(steps: list[AnyStep], rounds: int = 5) -> float:
    plan = Plan(steps)
    return seconds(lambda: finish(flow_of(steps, plan)), rounds)


def bare(count: int) -> float:
    """The same records and moves in a plain loop: what deciding costs beside bookkeeping."""

    def work() -> None:
        run = RunKey("bench", 1, 1)
        kept = []
        for n in range(count):
            attempt = AttemptRecord(key=AttemptKey(run, f"s{n}", 1), sequence=n, create_time=NOW)
            for status in STATUSES:
                attempt.status = status
                attempt.end_time = NOW
            kept.append(attempt)

    return seconds(work, 5)


# -------------------------------------------------------------------------------------------------- the rows
def _steps(name: str, steps: list[AnyStep], target: float | None) -> Row:
    count = len(steps)
    value = count / time_of(steps)
    return Row(name, value, "steps/s", target, value / (count / bare(count)), BARE)


def _linearity() -> Row:
    """The two in turn, so that whoever else uses the machine disturbs both alike."""
    shapes = [(steps, Plan(steps)) for steps in (chain(2_000), chain(1_000))]
    best = [float("inf")] * len(shapes)
    for _ in range(20):
        for at, (steps, plan) in enumerate(shapes):
            best[at] = min(best[at], seconds(lambda steps=steps, plan=plan: finish(flow_of(steps, plan)), 1))  # type: ignore[misc]
    value = best[0] / best[1]
    return Row("chain of 2,000 against 1,000", value, "x", 2.2, value / 2, "twice as long")


def _loop(count: int, rounds: int) -> Row:
    value = count / time_of(loop(count), rounds)
    return Row(
        f"foreach of {count:,} with a NoOp", value, "iter/s", None, value / (count / bare(count)), BARE
    )


def peak(count: int) -> int:
    """Bytes that the engine holds at most while a loop runs, beside the array of its values."""
    steps = loop(count)
    flow = flow_of(steps, Plan(steps))
    decision = decide(flow, Launched(run=flow.run.key), NOW)
    tracemalloc.start()
    while not flow.is_over:
        (again,) = {each.attempt for each in decision.effects if isinstance(each, ResumeLoop)}
        decision = decide(flow, Resumed(attempt=again), NOW)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def _memory() -> Row:
    small, large = peak(10_000), peak(100_000)
    value = large / small
    return Row("peak memory of 100,000 iterations against 10,000", value, "x", 1.2, value, "no growth")


def _decisions() -> Row:
    """One event at a time, as work that others do comes back."""
    steps: list[AnyStep] = [noop(f"s{n}") for n in range(1_000)]
    plan = Plan(steps)
    flow = flow_of(steps, plan)
    finish(flow)
    stale = Resumed(attempt=AttemptKey(flow.run.key, "s0", 9))
    count, start = 100_000, process_time()
    for _ in range(count):
        decide(flow, stale, NOW)
    value = count / (process_time() - start)
    return Row("events that no longer fit, dropped", value, "events/s", None, value / (1 / bare(1)), BARE)


def run() -> list[Row]:
    return [
        _steps("chain of 1,000 NoOp steps", chain(1_000), 40_000),
        _steps("fan-out of 1,000 with a join", fan_out(1_000), 40_000),
        _steps("random graph of 300 steps, a third conditional", random_graph(300), None),
        _linearity(),
        _loop(100_000, 2),
        _loop(1_000_000, 1),
        _memory(),
        _decisions(),
    ]
