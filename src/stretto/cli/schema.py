"""`stretto schema`: the JSON Schema of a definition, for editors and other tools."""

import click
import msgspec

from stretto.definition.schema import definition_schema
from stretto.runtimes.listing import schemas


@click.command(name="schema")
def command() -> None:
    """Print the JSON Schema (2020-12) of definitions in JSON and YAML.

    It knows the parameters of the step types that can be used here, those of other packages included.

    \b
    Example, for editors that read the comment:
      stretto schema > stretto.schema.json
      # yaml-language-server: $schema=./stretto.schema.json
    """
    made = definition_schema(schemas())
    click.echo(msgspec.json.format(msgspec.json.encode(made), indent=2))
