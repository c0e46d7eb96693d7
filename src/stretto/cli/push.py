"""`stretto push`: definitions become versions on a server."""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from stretto.cli.config_options import server_options
from stretto.cli.options import made_options, reading_options
from stretto.cli.remote.server import Remote, remote_of, talking
from stretto.cli.results import valid_definitions
from stretto.definition.parse import Options
from stretto.model.errors import NotFound
from stretto.model.properties import Properties
from stretto.model.user import User
from stretto.model.wire import to_json
from stretto.model.workflow import Definition, WorkflowVersion
from stretto.runtimes.types import InstalledTypes

if TYPE_CHECKING:
    from stretto.client import Client


class TypesElsewhere(InstalledTypes):
    """A server may have types that are not here; it says so itself if it has not."""

    def __contains__(self, name: object) -> bool:
        return True


@click.command(name="push")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@server_options
@reading_options
def command(  # noqa: PLR0913 - one for each option
    files: tuple[str, ...],
    *,
    as_json: bool,
    server: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
    templates: tuple[str, ...],
    maestro_limits: bool,
) -> None:
    """Publish the workflows of files on a server, each as a new version; `-` reads standard input.

    FILE is a definition in YAML or JSON, or a workflow in Python: flows.py:etl, or package.module:etl.
    Everything is checked here first, and nothing is sent if something is wrong. A new workflow that says
    nothing of an owner becomes the user's.

    \b
    Examples:
      stretto push etl.yaml
      stretto push flows/*.yaml --server http://127.0.0.1:8080
    """
    remote = remote_of(config_file, assignments, server, user)
    options = made_options(templates, maestro_limits=maestro_limits, limits=remote.config.limits)
    definitions = [each for file in files for each in valid_definitions(file, _anywhere(options), None)]
    pushed: list[WorkflowVersion] = []
    try:
        with talking(remote) as client:
            for each in definitions:
                pushed.append(client.push(_owned(client, remote, each)))
                if not as_json:
                    click.echo(f"{each.workflow.id}: version {_number(pushed[-1])}")
    finally:
        if as_json:  # also of those before a refusal
            click.echo(to_json({"pushed": [_as_json(each) for each in pushed]}))


def _anywhere(options: Options) -> Options:
    limits = msgspec.structs.replace(options.limits, step_types=TypesElsewhere())
    return msgspec.structs.replace(options, limits=limits)


def _owned(client: "Client", remote: Remote, definition: Definition) -> Definition:
    """With an owner, where the server would want to know one."""
    properties = definition.properties or Properties()
    if properties.owner is not None:
        return definition
    try:
        client.overview(definition.workflow.id)
    except NotFound:
        owned = msgspec.structs.replace(properties, owner=User(name=remote.user))
        return msgspec.structs.replace(definition, properties=owned)
    return definition


def _number(version: WorkflowVersion) -> int | None:
    return None if version.metadata is None else version.metadata.workflow_version_id


def _as_json(version: WorkflowVersion) -> dict[str, Any]:
    return {"workflow_id": version.workflow.id, "workflow_version_id": _number(version)}
