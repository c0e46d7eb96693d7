"""`stretto validate`: every error of every file, with its place."""

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from stretto.cli.definitions import checked
from stretto.cli.files import shown
from stretto.cli.options import made_options, reading_options
from stretto.cli.trial import tried
from stretto.definition import Checked
from stretto.definition.drawing import count_steps
from stretto.model.problem import Problem


@click.command(name="validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object with all results.")
@click.option(
    "--first-version", is_flag=True, help="Also demand what the first version of a workflow needs: an owner."
)
@reading_options
def command(
    files: tuple[str, ...],
    *,
    as_json: bool,
    first_version: bool,
    templates: tuple[str, ...],
    maestro_limits: bool,
) -> None:
    """Check definitions in JSON, YAML or Python; `-` reads standard input.

    Every error is reported at once with its place, a stable code and, if there is one, the way out. Warnings
    say what is allowed and almost surely not meant. The parameters of a workflow and its timeout are tried as
    a push tries them. Only a server knows who may push, its job templates, and which functions its processes
    know. Exit code 0: all files are valid; 2: at least one is not.

    \b
    Examples:
      stretto validate etl.yaml
      stretto validate flows.py
      stretto validate --json flows/*.json | jq '.files[].problems'
      stretto validate --template spark=Notebook maestro.yaml
    """
    options = made_options(templates, maestro_limits=maestro_limits)
    options = msgspec.structs.replace(options, first_version=first_version, warnings=True)
    results = [(shown(name), tried(checked(name, options), options)) for name in files]
    if as_json:
        click.echo(msgspec.json.encode({"files": [_as_json(*result) for result in results]}))
    else:
        for name, found in results:
            _print(name, found)
    if any(found.problems for _, found in results):
        raise SystemExit(2)


def _as_json(name: str, found: Checked) -> dict[str, Any]:
    return {
        "file": name,
        "valid": not found.problems,
        "workflows": [definition.workflow.id for definition in found.definitions],
        "problems": found.problems,
        "warnings": found.warnings,
    }


def _print(name: str, found: Checked) -> None:
    if not found.problems:
        for definition in found.definitions:
            count = count_steps(definition.workflow.steps)
            click.echo(f"{name}: valid: {definition.workflow.id} ({count} step{'' if count == 1 else 's'})")
    else:
        print_problems(name, found.problems)
    for warning in found.warnings:
        print_problem(name, warning, "warning: ")


def print_problems(name: str, problems: Sequence[Problem]) -> None:
    """Each with its place and the way out, on the error stream."""
    for problem in problems:
        print_problem(name, problem)
    count = len(problems)
    click.echo(f"{name}: {count} problem{'' if count == 1 else 's'}", err=True)


def print_problem(name: str, problem: Problem, kind: str = "") -> None:
    """One of them; `kind`: what is said before it."""
    where = f":{problem.line}:{problem.column}" if problem.line is not None else ""
    path = f"{problem.path}: " if problem.path else ""
    click.echo(f"{name}{where}: {kind}{path}{problem.message} [{problem.code}]", err=True)
    if problem.hint:
        click.echo(f"    hint: {problem.hint}", err=True)
