"""`python -m simulation`: run seeds, or look closer at one."""

import sys
import time

import click

from simulation.campaign import campaign, live, story_of
from simulation.counters import Counters
from simulation.report import tables
from simulation.scenario import make_scenario
from simulation.shrinking import shrink


@click.command()
@click.option("--seeds", default=1_000, show_default=True, help="How many seeds.")
@click.option("--start", default=0, show_default=True, help="The first of them.")
@click.option("--jobs", default=1, show_default=True, help="Processes that share them.")
@click.option("--shrink", "shrunk", type=int, help="Make a failing seed smaller, and tell its story.")
@click.option("--story", "told", type=int, help="Tell the story of a seed, whether it fails or not.")
@click.option("--quiet", is_flag=True, help="No tables of what was tried.")
def main(seeds: int, start: int, jobs: int, shrunk: int | None, told: int | None, quiet: bool) -> None:
    """Simulate nodes, users and trouble; every seed is another world."""
    if shrunk is not None:
        _shrink(shrunk)
    elif told is not None:
        for line in story_of(make_scenario(told)):
            click.echo(line)
    else:
        _run(seeds, start, jobs, quiet=quiet)


def _run(seeds: int, start: int, jobs: int, *, quiet: bool) -> None:
    counters = Counters()
    began = time.perf_counter()
    failed = 0
    for failures, counted in campaign(start, seeds, jobs):
        counters.add(counted)
        for failure in failures:
            failed += 1
            click.echo(f"seed {failure.seed}: {failure.violations[0]}")
            click.echo(f"    make simulate SEEDS=1 START={failure.seed}")
    seconds = time.perf_counter() - began
    if not quiet:
        for line in tables(counters):
            click.echo(line)
        click.echo("")
    click.echo(f"{seeds:,} seeds, {failed:,} violations ({seconds:.1f} s, {seeds / seconds:.1f} seeds/s)")
    sys.exit(1 if failed else 0)


def _shrink(seed: int) -> None:
    scenario = make_scenario(seed)
    violations = live(scenario)
    if not violations:
        click.echo(f"seed {seed} holds: there is nothing to shrink")
        return
    click.echo(f"seed {seed}: {violations[0]}")
    small = shrink(scenario, click.echo)
    click.echo("")
    for definition in small.definitions:
        click.echo(f"workflow {definition.workflow.id}: {[step.id for step in definition.workflow.steps]}")
    click.echo(f"inputs: {[f'{each.verb} {each.workflow_id} at {each.at}' for each in small.inputs]}")
    click.echo(f"faults: {[f'{each.kind} {each.call or each.at}' for each in small.faults]}")
    click.echo(f"{small.slots} places for nodes, {small.groups} groups, {small.weather}")
    click.echo("")
    for line in story_of(small):
        click.echo(line)
    sys.exit(1)


if __name__ == "__main__":
    main()
