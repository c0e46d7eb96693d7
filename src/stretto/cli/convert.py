"""`stretto convert`: a definition in another form."""

from collections.abc import Callable
from typing import Final

import click

from stretto.cli.options import made_options, reading_options
from stretto.cli.results import output_options, valid_definitions, write_out
from stretto.definition import to_json, to_yaml
from stretto.model.workflow import Definition

FORMS: Final[dict[str, Callable[[Definition], str]]] = {
    "json": lambda definition: to_json(definition) + "\n",
    "yaml": to_yaml,
}


@click.command(name="convert")
@click.argument("file")
@click.option("--to", "form", type=click.Choice(list(FORMS)), default="json", show_default=True)
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
    """Write a definition as Maestro's JSON model, or as YAML of it; `-` reads standard input.

    Whatever form it was written in (Maestro's YAML, the task engine's YAML, stages, short forms), the
    result is the ordinary definition. Several workflows of one file become several documents of YAML; for
    JSON choose one.

    \b
    Examples:
      stretto convert etl.yaml
      stretto convert etl.json --to yaml -o etl.yaml
    """
    options = made_options(templates, maestro_limits=maestro_limits)
    definitions = valid_definitions(file, options, wanted)
    if form == "json" and len(definitions) > 1:
        known = ", ".join(each.workflow.id for each in definitions)
        raise click.UsageError(f"the file holds several workflows ({known}): choose one with --workflow")
    write_out("---\n".join(FORMS[form](each) for each in definitions), output)
