"""Workflows of every construct, small, with all that must come of each run. No two steps share an id."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from chaos.effects import QUEUED, REMOTE, WATCHED, WORK
from stretto.model.param import ParamDefinition
from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam, SignalOutputDefinition
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.trigger import SignalOperator, SignalTrigger, SignalTriggerEntry
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow
from stretto.testing.shapes import (
    Edge,
    computed,
    foreach,
    noop,
    number,
    numbers,
    step,
    subworkflow,
    tag,
    text,
    while_,
)

OWNER: Final = User(name="ann")
EFFECTFUL: Final = frozenset({WORK, WATCHED, REMOTE, QUEUED, "Shell"})
LOCAL: Final = frozenset({WORK, WATCHED, QUEUED})
NARROW: Final = 2  # how many may hold the permit
READY, STORM = "ready", "storm"  # signals
COMMAND: Final = """
mark() { read -r now _ </proc/uptime; echo "$STRETTO_LAUNCH $STRETTO_ENGINE $1 $now" >> "$EFFECTS"; }
mark begin
sleep 0.1
mark end
"""


class Play(NamedTuple):
    """A workflow, and what must come of each of its runs.

    completions    how often each step completes
    failures       how many attempts of each step fail before
    """

    definition: Definition
    completions: Mapping[str, int]
    failures: Mapping[str, int] = {}
    status: RunStatus = RunStatus.SUCCEEDED

    @property
    def id(self) -> str:
        return self.definition.workflow.id


def steps_in(steps: Sequence[AnyStep]) -> Iterator[AnyStep]:
    """All of them, those inside of loops too."""
    for each in steps:
        yield each
        if isinstance(each, ForeachStep | WhileStep):
            yield from steps_in(each.steps)


def kinds_of(plays: Sequence[Play]) -> dict[str, str]:
    """The types of steps that a runtime does, by their ids."""
    return {
        each.id: each.type
        for play in plays
        for each in steps_in(play.definition.workflow.steps)
        if isinstance(each, TypedStep)
    }


# -------------------------------------------------------------------------------------------------- writing
def work(step_id: str, *after: Edge, kind: str = WORK, millis: int = 60, **more: Any) -> TypedStep:
    """A step that leaves a mark in the ledger."""
    params: dict[str, ParamDefinition] = {"millis": number(millis), **more.pop("params", {})}
    retries = RetryPolicy(
        error_retry_limit=more.pop("retries", 2),
        platform_retry_limit=3,
        backoff=FixedBackoff(error_retry_backoff_in_secs=1, platform_retry_backoff_in_secs=1),
    )
    return step(step_id, *after, type=kind, params=params, retry_policy=retries, **more)


def command(step_id: str, *after: Edge, effects: str) -> TypedStep:
    """A command of the machine that leaves a mark."""
    script = text(f"EFFECTS='{effects}'{COMMAND}".replace("$", "$$"))
    return step(step_id, *after, type="Shell", params={"script": script})


def defined(workflow_id: str, *steps: AnyStep, slots: int = 1_000, **more: Any) -> Definition:
    """A workflow of which so many runs may go on at once."""
    rule = RunStrategyRule.PARALLEL if slots > 1 else RunStrategyRule.SEQUENTIAL
    strategy = RunStrategy(rule=rule, workflow_concurrency=slots)
    return Definition(
        properties=Properties(owner=OWNER, run_strategy=strategy),
        workflow=Workflow(id=workflow_id, steps=steps, **more),
    )


def _graphs() -> list[Play]:
    chain = defined(
        "chain",
        work("chain1", "chain2"),
        work("chain2", "chain3", kind=WATCHED, params={"fails": number(1)}),
        work("chain3", "chain4", kind=REMOTE, millis=150),
        noop("chain4", "chain5"),
        work("chain5"),
    )
    fork = defined(
        "fork",
        noop("fork1", "fork2", ("fork3", "1 > 2"), "fork4"),
        work("fork2", "fork5"),
        work("fork3", "fork5"),
        work("fork4", "fork5", kind=WATCHED, millis=200),
        step("fork5", "fork6", type="Join"),
        work("fork6"),
    )
    broken = defined(
        "broken",
        work("broken1", "broken2", params={"fails": number(9)}, retries=1),
        work("broken2"),
    )
    nap = defined(
        "nap",
        step("nap1", "nap2", type="Sleep", params={"sleep_seconds": number(1)}),
        work("nap2"),
    )
    return [
        Play(chain, dict.fromkeys(["chain1", "chain2", "chain3", "chain4", "chain5"], 1), {"chain2": 1}),
        Play(fork, dict.fromkeys(["fork1", "fork2", "fork4", "fork5", "fork6"], 1)),
        Play(broken, {}, {"broken1": 2}, RunStatus.FAILED),
        Play(nap, {"nap1": 1, "nap2": 1}),
    ]


def _nested() -> list[Play]:
    loop = defined(
        "loop",
        foreach(
            "loop1",
            {"i": numbers(1, 2, 3, 4, 5)},
            work("loop2", "loop3"),
            noop("loop3"),
            after=("loop4",),
            concurrency=2,
        ),
        work("loop4"),
    )
    count = noop("spin3", params={"k": computed("k + 1")})
    spin = defined(
        "spin",
        while_("spin1", "k < 3", {"k": number(0)}, work("spin2", "spin3"), count, after=("spin4",)),
        work("spin4", kind=REMOTE),
    )
    kid = defined("kid", work("kid1", "kid2"), work("kid2", kind=REMOTE))
    family = defined("family", subworkflow("family1", "kid", "family2", sync=True), work("family2"))
    return [
        Play(loop, {"loop1": 1, "loop2": 5, "loop3": 5, "loop4": 1}),
        Play(spin, {"spin1": 1, "spin2": 3, "spin3": 3, "spin4": 1}),
        Play(kid, {"kid1": 1, "kid2": 1}),
        Play(family, {"family1": 1, "family2": 1}),
    ]


def _shared(effects: str) -> list[Play]:
    """What waits for others: signals, permits, queues, people, commands."""
    output = SignalOutputDefinition(name=READY, params={"n": computed("n")})
    match = SignalMatchParam(param=computed("n"), operator=SignalOperator.EQUALS_TO)
    wanted = SignalDependencyDefinition(name=READY, match_params={"n": match})
    narrow = tag("narrow", NARROW)
    say = defined("say", work("say1", signal_outputs=(output,)), params={"n": number(0)})
    hear = defined("hear", work("hear1", signal_dependencies=(wanted,)), params={"n": number(0)})
    gate = defined("gate", *(work(f"gate{place}", tags=(narrow,), kind=WATCHED) for place in (1, 2, 3)))
    queue = defined("queue", work("queue1"), slots=1)
    ask = defined("ask", step("ask1", "ask2", type="Wait"), work("ask2"))
    stop = defined("stop", work("stop1", "stop2", kind=WATCHED, millis=600_000), work("stop2"))
    shell = defined("shell", command("shell1", "shell2", effects=effects), work("shell2"))
    trigger = SignalTrigger(definitions={STORM: SignalTriggerEntry()})
    storm = defined("storm", work("storm1"), signal_triggers=(trigger,))
    return [
        Play(say, {"say1": 1}),
        Play(hear, {"hear1": 1}),
        Play(gate, {"gate1": 1, "gate2": 1, "gate3": 1}),
        Play(queue, {"queue1": 1}),
        Play(ask, {"ask1": 1, "ask2": 1}),
        Play(stop, {}, status=RunStatus.STOPPED),
        Play(shell, {"shell1": 1, "shell2": 1}),
        Play(storm, {"storm1": 1}),
    ]


def all_plays(effects: str) -> list[Play]:
    """In the order in which they can be published. `effects`: the file that commands write to."""
    return [*_graphs(), *_nested(), *_shared(effects)]
