"""`stretto context`: names for servers and databases, and which of them commands work on."""

from typing import Any

import click
import msgspec

from stretto.cli import style
from stretto.cli.database import Refused
from stretto.config import surroundings
from stretto.config.contexts import (
    VARIABLE,
    Context,
    Contexts,
    checked_context,
    chosen_context,
    contexts_file,
    read_contexts,
    write_contexts,
)
from stretto.config.database_url import masked
from stretto.model.errors import InvalidRequest
from stretto.model.wire import to_json
from stretto.store.sqlite.address import path_of

SQLITE = "sqlite:"


@click.group(name="context")
def command() -> None:
    """Give names to servers and databases, and choose the one that commands work on.

    `runs`, `show`, `why`, `logs`, `quarantine`, `push`, `start`, `stop`, `restart` and `answer` work in the
    context in use, unless --server, --db, --context or a variable names another target. `run`, `dev`,
    `serve` and `db` do not.
    """


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def list_all(*, as_json: bool) -> None:
    """List all contexts; a star marks the one in use.

    \b
    Examples:
      stretto context list
    """
    contexts, chosen = _read(), _chosen()
    if as_json:
        found = [_as_json(name, each, chosen) for name, each in sorted(contexts.by_name.items())]
        click.echo(to_json({"contexts": found, "current": chosen}))
        return
    if not contexts.by_name:
        click.echo("no contexts; `stretto context add NAME --server URL` makes one")
    longest = max(map(len, contexts.by_name), default=0)
    for name, each in sorted(contexts.by_name.items()):
        click.echo(style.row(f"{'*' if name == chosen else ' '} {name:{longest}}  {_shown(each)}"))


@command.command(name="show")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def show(name: str | None, *, as_json: bool) -> None:
    """Show the context in use, or another one.

    \b
    Examples:
      stretto context show
      stretto context show production --json
    """
    contexts, chosen = _read(), _chosen()
    name = name or chosen
    if name is None:
        raise Refused("no context is in use", "`stretto context use NAME` chooses one")
    found = _found(contexts, name)
    if as_json:
        click.echo(to_json(_as_json(name, found, chosen)))
    else:
        click.echo(f"{name}  {_shown(found)}")


@command.command(name="add")
@click.argument("name")
@click.option("--server", metavar="URL", help="The server of the context.")
@click.option("--database", "--db", "database", metavar="URL", help="The database of the context.")
@click.option("--user", metavar="NAME", help="Who talks to the server; else the user of this machine.")
@click.option("--use", "use_it", is_flag=True, help="Use it from now on.")
def add(name: str, *, server: str | None, database: str | None, user: str | None, use_it: bool) -> None:
    """Make a context, or give another target to one that there is. The first one is used from now on.

    \b
    Examples:
      stretto context add production --server https://stretto.example.com --user ann
      stretto context add local --db sqlite:///work.db --use
    """
    contexts = _read()
    try:
        made = checked_context(name, Context(server=server, database=database, user=user))
    except InvalidRequest as error:
        raise Refused(error.message, error.hint) from None
    if made.database is not None and made.database.startswith(SQLITE):  # it is used from any folder
        made = msgspec.structs.replace(made, database=f"sqlite:///{path_of(made.database).absolute()}")
    current = name if use_it or not contexts.by_name else contexts.current
    _write(Contexts(by_name={**contexts.by_name, name: made}, current=current))
    click.echo(f"{name}  {_shown(made)}{', in use' if current == name else ''}")
    _warn_of_variable(name, is_used=current == name)


@command.command(name="use")
@click.argument("name")
def use(name: str) -> None:
    """Work in a context from now on.

    \b
    Examples:
      stretto context use production
    """
    contexts = _read()
    found = _found(contexts, name)
    _write(msgspec.structs.replace(contexts, current=name))
    click.echo(f"{name}  {_shown(found)}, in use")
    _warn_of_variable(name, is_used=True)


@command.command(name="remove")
@click.argument("name")
def remove(name: str) -> None:
    """Forget a context. If it was in use, none is.

    \b
    Examples:
      stretto context remove production
    """
    contexts = _read()
    _found(contexts, name)
    left = {each: context for each, context in contexts.by_name.items() if each != name}
    current = None if contexts.current == name else contexts.current
    _write(Contexts(by_name=left, current=current))
    click.echo(f"{name} is forgotten" + ("; no context is in use" if current is None else ""))


# ------------------------------------------------------------------------------------------------------ parts
def _read() -> Contexts:
    try:
        return read_contexts(surroundings())
    except InvalidRequest as error:
        raise Refused(error.message, error.hint) from None


def _chosen() -> str | None:
    return chosen_context(surroundings())


def _found(contexts: Contexts, name: str) -> Context:
    try:
        return contexts.named(name)
    except InvalidRequest as error:
        raise Refused(error.message, error.hint) from None


def _write(contexts: Contexts) -> None:
    try:
        write_contexts(surroundings(), contexts)
    except InvalidRequest as error:
        raise Refused(error.message, error.hint) from None


def _warn_of_variable(name: str, *, is_used: bool) -> None:
    """A variable counts more than what is written down."""
    around = surroundings()
    if is_used and around.environ.get(VARIABLE, name) != name:
        said = f"the variable {VARIABLE} names another one, which counts more"
        click.echo(f"{said}; unset it to use `{name}`", err=True)


def _shown(context: Context) -> str:
    if context.server is None:
        return f"database {masked(context.database or '')}"
    return f"server {context.server}" + ("" if context.user is None else f", user {context.user}")


def _as_json(name: str, context: Context, chosen: str | None) -> dict[str, Any]:
    found = {
        "name": name,
        "server": context.server,
        "database": None if context.database is None else masked(context.database),
        "user": context.user,
        "in_use": name == chosen,
        "file": str(contexts_file(surroundings())),
    }
    return {key: value for key, value in found.items() if value is not None}
