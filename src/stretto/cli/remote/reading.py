"""What is shown of a run, a step and their reasons, read from a server."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stretto.actions.reading.why import WhyRun, WhyStep
from stretto.cli.address import LATEST, Address
from stretto.cli.showing.run import BAD, SOME, LoopSight, RunSight
from stretto.cli.showing.step import StepSight
from stretto.engine.records import RunKey
from stretto.model.artifact import ForeachArtifact, WhileArtifact
from stretto.model.foreach import ForeachOverview
from stretto.model.status import InstanceStatus
from stretto.model.step_instance import StepInstance

if TYPE_CHECKING:
    from stretto.client import Client, RunName


def name_of(address: Address) -> "RunName":
    """The run that a user means."""
    if address.run == LATEST:
        return address.workflow_id, address.instance_id
    return address.workflow_id, address.instance_id, int(address.run)


def read_sight(client: "Client", address: Address) -> RunSight | StepSight:
    """A run, or the step of it that the address names."""
    run = name_of(address)
    if address.path is None:
        return _run(client, run, None)
    found = client.resolve(run, address.path)
    name = f"{address.workflow_id}/{address.instance_id}:{address.path}"
    if found.step_id is None:
        return _run(client, found, name)
    return StepSight(
        name=name,
        step=client.step(found, found.step_id, address.attempt),
        attempts=client.attempts(found, found.step_id),
    )


def read_why(client: "Client", address: Address, step: str | None) -> WhyRun | WhyStep:
    """Why a run has not ended, or why a step of it is where it is."""
    run = name_of(address)
    return client.why(run) if step is None else client.why_step(run, step)


def _run(client: "Client", run: "RunName", name: str | None) -> RunSight:
    made = client.run(run)
    key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
    steps = client.steps(key)
    return RunSight(key=key, name=name, run=made, steps=steps, loops=list(_loops(steps)))


def _loops(steps: Iterable[StepInstance]) -> Iterable[LoopSight]:
    for step in steps:
        for artifact in step.artifacts.values():
            if isinstance(artifact, ForeachArtifact):
                bad = _bad(artifact.foreach_overview)
                yield LoopSight(step_id=step.step_id, total=artifact.total_loop_count, bad=bad)
            elif isinstance(artifact, WhileArtifact):
                yield LoopSight(step_id=step.step_id, total=None)


def _bad(overview: ForeachOverview | None) -> tuple[int, ...]:
    """Some iterations that did not end well."""
    details = {} if overview is None else overview.details or {}
    ranges = [each for status in BAD for each in details.get(InstanceStatus(status), ())]
    numbers = (number for first, last in ranges for number in range(first, min(last, first + SOME) + 1))
    return tuple(sorted(numbers)[:SOME])
