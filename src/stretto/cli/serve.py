"""`stretto serve`: the HTTP API, and a node that runs what is asked for there."""

import sys

import click

from stretto.cli.config_options import config_options
from stretto.cli.database import Refused, caller, finished, place_of, prepare
from stretto.cli.definitions import is_python
from stretto.cli.options import app_option, made_options
from stretto.cli.results import valid_definitions
from stretto.model.errors import InvalidRequest
from stretto.server.roles import ENGINE, ROLES, checked_roles


@click.command(name="serve")
@click.option("--host", metavar="HOST", help="Where to listen; the same as `--set server.host=HOST`.")
@click.option("--port", metavar="PORT", help="The same as `--set server.port=PORT`. 0: any that is free.")
@click.option(
    "--role",
    "roles",
    metavar="ROLES",
    default=",".join(ROLES),
    show_default=True,
    help="What this process does, with commas between.",
)
@click.option(
    "--load", "files", multiple=True, metavar="FILE", help="Publish its workflows, where they are new."
)
@app_option
@config_options
def command(  # noqa: PLR0913 - one for each option
    *,
    host: str | None,
    port: str | None,
    roles: str,
    files: tuple[str, ...],
    apps: tuple[str, ...],
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
) -> None:
    """Serve the HTTP API under /api/v3, and run what is asked for there.

    The API is Maestro's: its clients and scripts work as they are. There is no authentication yet, so the
    server listens on this machine only, and trusts the name that the header `user` brings.

    Everything is kept in a database, by default stretto.db in the user's data folder. Several servers may
    share one, SQLite on one machine, PostgreSQL and MariaDB on many: some with `--role api`, others with
    `--role engine,scheduler`. One without the role api answers to /health and /ready alone.

    Steps in Python call functions of the code that `--app` names: an importable module, a file or a folder.
    What `--load` publishes from a Python file brings its code along.

    Ctrl-C or SIGTERM: requests that are under way end, work is handed over, and the exit code is 0. A second
    one ends everything now.

    \b
    Examples:
      stretto serve
      stretto serve --port 9000 --db sqlite:///work.db --load etl.yaml
      stretto serve --app app.flows --load flows.py:week
      stretto serve --role api --db postgresql://ann@db/stretto
    """
    from stretto.cli.applications import load_apps  # noqa: PLC0415 - the help need not wait for these
    from stretto.cli.python_files import flows_of  # noqa: PLC0415
    from stretto.cli.serve_notices import Printed  # noqa: PLC0415
    from stretto.runtimes.python.output import routed_output  # noqa: PLC0415
    from stretto.server.lifecycle import ServerOptions, run, serve  # noqa: PLC0415

    click.get_current_context().with_resource(routed_output())  # before anybody's code is imported
    chosen = _roles_in(roles)
    flags = _assignments(host=host, port=port)
    place = place_of(config_file, (*assignments, *flags), database, local=False)
    options = made_options((), maestro_limits=False, limits=place.config.limits)
    definitions = [each for name in files for each in valid_definitions(name, options, None)]
    _check_roles(chosen, apps, in_memory=place.in_memory)
    app = load_apps(apps)
    app.add_flows(flow for name in files if is_python(name) for flow in flows_of(name).flows)
    prepare(place)
    server = ServerOptions(
        url=place.url,
        config=place.config,
        roles=chosen,
        caller=caller(),
        definitions=tuple(definitions),
        flows=tuple(app.flows.values()),
        functions=tuple(app.functions),
    )
    sys.exit(finished(serve(server, Printed(place, chosen)), run))


def _roles_in(text: str) -> frozenset[str]:
    try:
        return checked_roles(text.split(","))
    except InvalidRequest as error:
        raise click.BadParameter(error.message, param_hint="--role") from None


def _assignments(**given: str | None) -> list[str]:
    """Options that are settings of the server."""
    return [f"server.{name}={value}" for name, value in given.items() if value is not None]


def _check_roles(roles: frozenset[str], apps: tuple[str, ...], *, in_memory: bool) -> None:
    """Refuse what makes no sense in a process that runs no steps."""
    if ENGINE in roles:
        return
    if in_memory:
        raise Refused("a database in memory is for one process: nobody would run what is asked for here")
    if apps:
        raise click.UsageError("--app is for processes that run steps: add the role engine, or leave it out")
