"""`stretto schema`: the JSON Schema of a definition, for editors and other tools."""

import click
import msgspec

from stretto.definition.schema import definition_schema


@click.command(name="schema")
def command() -> None:
    """Print the JSON Schema (2020-12) of definitions in JSON and YAML.

    \b
    Example, for editors that read the comment:
      stretto schema > stretto.schema.json
      # yaml-language-server: $schema=./stretto.schema.json
    """
    click.echo(msgspec.json.format(msgspec.json.encode(definition_schema()), indent=2))
