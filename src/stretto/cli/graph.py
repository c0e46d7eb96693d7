"""`stretto graph`: a workflow as a tree, Mermaid, DOT, SVG or JSON."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import msgspec

from stretto.cli.files import format_of, read_file, shown
from stretto.cli.options import made_options, reading_options
from stretto.definition import check
from stretto.definition.drawing import outline, to_dot, to_mermaid, to_svg, to_tree
from stretto.model.problem import Problem
from stretto.model.workflow import Definition, Workflow


def _tree(workflow: Workflow) -> str:
    """Plain characters where the terminal can not show others."""
    encoding = (sys.stdout.encoding or "ascii").lower()
    return to_tree(workflow, ascii_only="utf" not in encoding)


def _json(workflow: Workflow) -> str:
    return msgspec.json.format(msgspec.json.encode(outline(workflow)), indent=2).decode() + "\n"


FORMATS: Final[dict[str, Callable[[Workflow], str]]] = {
    "tree": _tree,
    "mermaid": to_mermaid,
    "dot": to_dot,
    "svg": to_svg,
    "json": _json,
}


@click.command(name="graph")
@click.argument("file")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="tree", show_default=True)
@click.option("--workflow", "wanted", metavar="ID", help="Which workflow, if the file holds several.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to a file instead.")
@reading_options
def command(
    file: str,
    *,
    form: str,
    wanted: str | None,
    output: str | None,
    templates: tuple[str, ...],
    maestro_limits: bool,
) -> None:
    """Draw the steps of a workflow; `-` reads standard input.

    \b
    Examples:
      stretto graph etl.yaml
      stretto graph etl.yaml --format svg -o etl.svg
      stretto graph etl.yaml --format mermaid
    """
    options = made_options(templates, maestro_limits=maestro_limits, form=format_of(file))
    data = read_file(file, options.limits)
    problems: tuple[Problem, ...]
    definitions, problems = ((), (data,)) if isinstance(data, Problem) else check(data, options)
    if problems:
        for problem in problems:
            click.echo(f"{shown(file)}:{problem}", err=True)
        click.echo(f"{shown(file)}: not drawn; `stretto validate` shows more", err=True)
        raise SystemExit(2)
    text = "\n".join(FORMATS[form](each.workflow) for each in _chosen(definitions, wanted))
    if output is None:
        click.echo(text, nl=False)
    else:
        _write(output, text)


def _chosen(definitions: tuple[Definition, ...], wanted: str | None) -> tuple[Definition, ...]:
    if wanted is None:
        return definitions
    chosen = tuple(each for each in definitions if each.workflow.id == wanted)
    if not chosen:
        known = ", ".join(each.workflow.id for each in definitions)
        raise click.BadParameter(f"`{wanted}` is not in the file; it has {known}", param_hint="--workflow")
    return chosen


def _write(output: str, text: str) -> None:
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(output, error.strerror or str(error)) from None
