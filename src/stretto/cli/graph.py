"""`stretto graph`: a workflow as a tree, Mermaid, DOT, SVG or JSON."""

import sys
from collections.abc import Callable
from typing import Final

import click
import msgspec

from stretto.cli.options import made_options, reading_options
from stretto.cli.results import output_options, valid_definitions, write_out
from stretto.definition.drawing import outline, to_dot, to_mermaid, to_svg, to_tree
from stretto.model.workflow import Workflow


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
@output_options
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
      stretto graph flows.py:etl
      stretto graph etl.yaml --format svg -o etl.svg
      stretto graph etl.yaml --format mermaid
    """
    options = made_options(templates, maestro_limits=maestro_limits)
    definitions = valid_definitions(file, options, wanted)
    write_out("\n".join(FORMATS[form](each.workflow) for each in definitions), output)
