"""`stretto push`: definitions become versions on a server."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import click
import msgspec

from stretto.actions.publish_if_new import is_unchanged
from stretto.cli.config_options import server_options
from stretto.cli.options import made_options, reading_options
from stretto.cli.remote.server import Remote, talking
from stretto.cli.results import valid_definitions
from stretto.cli.target import Given, server_of
from stretto.definition.parse import Options
from stretto.model.errors import NotFound
from stretto.model.job_template import DEFAULT_VERSION
from stretto.model.properties import Properties
from stretto.model.response import WorkflowOverviewResponse
from stretto.model.user import User
from stretto.model.wire import to_json
from stretto.model.workflow import Definition
from stretto.ports.workflows import was_chosen
from stretto.runtimes.types import InstalledTypes

if TYPE_CHECKING:
    from stretto.client import Client


class TypesElsewhere(InstalledTypes):
    """A server may have types that are not here; it says so itself if it has not."""

    def __contains__(self, name: object) -> bool:
        return True


class TemplatesElsewhere:
    """The job templates of a server, in the versions that somebody asks for. Those of the command line count
    as there in each version.
    """

    def __init__(self, client: "Client", given: Collection[str]) -> None:
        self._client = client
        self._given = {name.casefold() for name in given}
        self._known: dict[str, dict[str, str]] = {}

    def of(self, version: str) -> Mapping[str, str]:
        """Job types that have this version, and their step types."""
        if version not in self._known:
            found = self._client.job_templates(version)
            self._known[version] = {each.definition.job_type: each.definition.step_type for each in found}
        return self._known[version]

    def __contains__(self, template: object) -> bool:
        match template:
            case (str() as name, str() as version):
                return name.casefold() in self._given or name in self.of(version)
            case _:
                return False


@click.command(name="push")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--force", is_flag=True, help="Make a new version also of what has not changed.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@click.option(
    "--allow-unknown-functions",
    "allow",
    is_flag=True,
    help="Also push steps whose function no running process knows.",
)
@server_options
@reading_options
def command(  # noqa: PLR0913 - one for each option
    files: tuple[str, ...],
    *,
    force: bool,
    as_json: bool,
    allow: bool,
    server: str | None,
    context: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
    templates: tuple[str, ...],
    maestro_limits: bool,
) -> None:
    """Publish the workflows of files on a server, each as a new version; `-` reads standard input.

    FILE is a definition in YAML or JSON, or a workflow in Python: flows.py:etl, or package.module:etl; of
    flows.py all workflows are pushed.
    Everything is checked here first, and nothing is sent if something is wrong. A workflow that is the same
    as the newest version on the server, with the same properties, is not sent, unless --force says so; if
    somebody has switched it off, it stays off. Jobs may name the job templates of the server. A new workflow
    that says nothing of an owner becomes the user's.

    A push brings no code along: a running process must know the functions that the steps call, such as a
    server that was started with `--app`.

    \b
    Examples:
      stretto push etl.yaml
      stretto push flows/*.yaml --server http://127.0.0.1:8080
    """
    remote = server_of(Given(config_file, assignments, server, context=context, user=user))
    options = made_options(templates, maestro_limits=maestro_limits, limits=remote.config.limits)
    with talking(remote) as client:
        options = msgspec.structs.replace(_as_there(client, options), warnings=True)
        definitions = [each for file in files for each in valid_definitions(file, options, None)]
        pushes: list[Pushed] = []
        try:
            for each in definitions:
                pushes.append(_pushed(client, remote, each, force=force, allow=allow))
                if not as_json:
                    click.echo(f"{each.workflow.id}: {pushes[-1]}")
        finally:
            if as_json:  # also of those before a refusal
                click.echo(to_json(_as_json(pushes)))


class Pushed(msgspec.Struct, frozen=True):
    """What became of a definition."""

    workflow_id: str
    version: int | None
    is_new: bool = True
    note: str | None = None  # about a version that is not new

    def __str__(self) -> str:
        notes = [] if self.is_new else ["unchanged", *([self.note] if self.note else [])]
        return ", ".join((f"version {self.version}", *notes))


def _as_there(client: "Client", options: Options) -> Options:
    """With the step types and the job templates of the server; templates of the command line count more."""
    versions = TemplatesElsewhere(client, options.templates)
    templates = {**versions.of(DEFAULT_VERSION), **options.templates}
    limits = msgspec.structs.replace(options.limits, step_types=TypesElsewhere())
    return msgspec.structs.replace(options, limits=limits, templates=templates, versions=versions)


def _pushed(client: "Client", remote: Remote, definition: Definition, *, force: bool, allow: bool) -> Pushed:
    """A new version, if there is something new in it."""
    workflow_id = definition.workflow.id
    try:
        there = client.overview(workflow_id)
    except NotFound:
        definition = _owned(remote, definition)
    else:
        same = None if force else _same(client, there, definition)
        if same is not None:
            return same
    made = client.push(definition, allow_unknown_functions=allow or None)
    return Pushed(workflow_id, None if made.metadata is None else made.metadata.workflow_version_id)


def _same(client: "Client", there: WorkflowOverviewResponse, definition: Definition) -> Pushed | None:
    """The newest version on the server, if it is the same. It is switched on, unless somebody has switched it
    off, or chosen an older one, since it came.
    """
    name, version = there.workflow_id, there.latest_version_id
    found = None if version is None else client.version(name, version)
    properties = client.properties(name)  # the overview fills in defaults
    if version is None or found is None or not is_unchanged(found.workflow, properties, definition):
        return None
    if not definition.is_active or there.active_version_id == version:
        return Pushed(name, version, is_new=False)
    chosen = client.why_workflow(name)
    if was_chosen(chosen.chosen_at, None if found.metadata is None else found.metadata.create_time):
        by = "" if chosen.chosen_by is None else f" by {chosen.chosen_by.name}"
        active = there.active_version_id
        what = f"switched off{by}" if active is None else f"version {active} is active, chosen{by}"
        return Pushed(name, version, is_new=False, note=f"{what}; --force switches it on")
    client.activate(name, version)
    return Pushed(name, version, is_new=False, note="switched on")


def _owned(remote: Remote, definition: Definition) -> Definition:
    """With an owner, which the server wants to know of a new workflow."""
    properties = definition.properties or Properties()
    if properties.owner is not None:
        return definition
    owned = msgspec.structs.replace(properties, owner=User(name=remote.user))
    return msgspec.structs.replace(definition, properties=owned)


def _as_json(pushes: list[Pushed]) -> dict[str, Any]:
    rows: dict[str, list[dict[str, Any]]] = {"pushed": [], "unchanged": []}
    for each in pushes:
        row: dict[str, Any] = {"workflow_id": each.workflow_id, "workflow_version_id": each.version}
        row |= {} if each.note is None else {"note": each.note}
        rows["pushed" if each.is_new else "unchanged"].append(row)
    return rows
