"""What is shown of a run, a step and their reasons, read from a server."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stretto.actions.reading.why import WhyRun, WhyStep
from stretto.cli.address import LATEST, Address, as_named
from stretto.cli.showing.loops import LoopSight, loops_in, with_values
from stretto.cli.showing.run import RunSight, result_in
from stretto.cli.showing.step import StepSight
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
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
        return _run(client, run, None if address.run == LATEST else as_named(address))
    found = client.resolve(run, address.path)
    name = as_named(address)
    if found.step_id is None:
        return _run(client, found, name)
    step = client.step(found, found.step_id, address.attempt)
    attempts = client.attempts(found, found.step_id)
    return StepSight(name=name, step=step, attempts=attempts, loops=read_loops(client, [step]))


def read_why(
    client: "Client", address: Address, step: str | None
) -> tuple[WhyRun | WhyStep, list[LoopSight]]:
    """Why a run has not ended, or why a step of it is where it is; and how far its loops are."""
    run = name_of(address)
    if step is not None and leads_inside(step):
        inner = client.resolve(run, step)
        run, step = inner, inner.step_id
    found = client.why(run) if step is None else client.why_step(run, step)
    return found, read_loops(client, client.steps(run))


def leads_inside(step: str) -> bool:
    """Whether a step may be named by a path into a loop or subworkflow; an id can have dots, too."""
    return not {".", "["}.isdisjoint(step)


def _run(client: "Client", run: "RunName", name: str | None) -> RunSight:
    made = client.run(run)
    key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
    steps = client.steps(key)
    inside = is_inline(key.workflow_id) or made.workflow_version_id is None
    version = None if inside else client.version(key.workflow_id, made.workflow_version_id or LATEST)
    loops = read_loops(client, steps)
    return RunSight(key=key, name=name, run=made, steps=steps, loops=loops, result=result_in(version, steps))


def read_loops(client: "Client", steps: Iterable[StepInstance]) -> list[LoopSight]:
    """The loops among the steps of a run, with the values of iterations that failed."""
    loops: list[LoopSight] = []
    for sight, inline_id in loops_in(steps).values():
        runs = {each.number: client.run((inline_id, each.number)) for each in sight.bad}
        loops.append(with_values(sight, runs))
    return loops
