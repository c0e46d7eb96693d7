"""`stretto run`: a definition, carried out in this process."""

import os
import shlex
import sys

import click
import msgspec

from stretto.cli.config_options import config_options
from stretto.cli.database import Place, caller, finished, place_of, prepare
from stretto.cli.options import app_option, made_options, reading_options
from stretto.cli.running.log import Log
from stretto.cli.running.machine import Lines, Result
from stretto.cli.running.screen import Screen
from stretto.cli.running.session import Order, session
from stretto.cli.running.wanted import STEP_PARAM, read_wanted, step_params_of
from stretto.cli.target import Given, pinned
from stretto.node.clock import SystemClock
from stretto.runtimes.python.output import routed_output


@click.command(name="run")
@click.argument("file")
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the workflow, of the type that it declares. Repeatable.",
)
@click.option(
    STEP_PARAM,
    "step_given",
    multiple=True,
    metavar="STEP:NAME=VALUE",
    help="A parameter of one step, instead of what the workflow says. Repeatable.",
)
@click.option("--workflow", "workflow_id", metavar="ID", help="Which workflow; else the first of the file.")
@click.option("--resume", is_flag=True, help="Go on with the newest unfinished run instead of a new one.")
@click.option("--json", "form", flag_value="json", help="Write one JSON object at the end, and nothing else.")
@click.option("--json-lines", "form", flag_value="lines", help="Write each change as a line of JSON.")
@click.option("--plain", "form", flag_value="plain", help="Write lines, also on a terminal.")
@app_option
@config_options
@reading_options
def command(  # noqa: PLR0913 - one for each option
    file: str,
    *,
    params: tuple[str, ...],
    step_given: tuple[str, ...],
    workflow_id: str | None,
    resume: bool,
    form: str | None,
    apps: tuple[str, ...],
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
    templates: tuple[str, ...],
    maestro_limits: bool,
) -> None:
    """Run a workflow in this process and show how it goes; `-` reads the definition from standard input.

    FILE is a definition in YAML or JSON, or a workflow in Python: flows.py:etl, or package.module:etl. Steps
    may call functions of `--app`, and of the Python file beside it that has the same name: etl.py for
    etl.yaml.

    Everything is kept in a database, by default .stretto/stretto.db in the current folder, so nothing is lost
    if the machine or the process dies: --resume goes on. `--db memory:` keeps nothing. All workflows of the
    file are published, as new versions where they are new, so that one can run another.

    Ctrl-C pauses the run and lets commands that go on end for a while; a second one ends them at once. Exit
    code 0: the run succeeded; 1: it did not; 2: bad input; 128 and the number of the signal: interrupted.

    \b
    Examples:
      stretto run etl.yaml
      stretto run etl.yaml -p table=orders -p 'days=1,2,3'
      stretto run etl.yaml --step-param load:batch=500
      stretto run flows.py:etl -p day=2026-11-15
      stretto run etl.yaml --resume
      stretto run etl.yaml --db memory: --json | jq .status
    """
    click.get_current_context().with_resource(routed_output())  # before anybody's code is imported
    place = pinned(
        place_of(config_file, assignments, database), Given(config_file, assignments, database=database)
    )
    if resume:
        _check_resume(place, "--param" if params else STEP_PARAM if step_given else None)
    options = made_options(templates, maestro_limits=maestro_limits, limits=place.config.limits)
    wanted = read_wanted(file, options, workflow_id, params, anew=not resume, apps=apps)
    wanted = msgspec.structs.replace(wanted, step_params=step_params_of(wanted.chosen.workflow, step_given))
    prepare(place)
    order = Order(
        wanted=wanted,
        place=place,
        caller=caller(),
        resume=resume,
        again=None if place.in_memory else _again(file, workflow_id, place),
    )
    view = _view(form)
    try:
        _, code = finished(session(order, view))
    finally:
        view.close()
    sys.exit(code)


def _check_resume(place: Place, given: str | None) -> None:
    """`given`: an option with parameters, which a run that goes on has already."""
    if given is not None:
        raise click.UsageError(
            f"a run that goes on has its parameters already: leave {given} or --resume out"
        )
    if place.in_memory:
        raise click.UsageError("a database in memory has no earlier runs: --resume needs one that is kept")


def _again(file: str, workflow_id: str | None, place: Place) -> str:
    chosen = [] if workflow_id is None else ["--workflow", workflow_id]
    return shlex.join(["stretto", "run", file, *chosen, *place.options, "--resume"])


def _view(form: str | None) -> Result | Screen | Log:
    now = SystemClock().now
    if form == "json":
        return Result()
    if form == "lines":
        return Lines()
    can_draw = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"  # which can only write lines
    return Screen(now) if form is None and can_draw else Log(now)
