"""`stretto config`: the settings, and where each came from."""

from collections.abc import Iterable
from typing import Any, Final

import click
import msgspec

from stretto.cli import style
from stretto.cli.config_options import config_options, loaded_config
from stretto.cli.files import shown
from stretto.config import InvalidConfig, Loaded, SettingProblem, Source
from stretto.config.catalogue import SECTIONS, SETTINGS, Setting
from stretto.model.suggest import did_you_mean

WIDEST: Final = 40  # a longer value pushes its origin aside, not that of all others


@click.group(name="config")
def command() -> None:
    """Look at the settings."""


@command.command(name="show")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--changed", is_flag=True, help="Only what is not a default.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@config_options
def show(
    names: tuple[str, ...],
    *,
    changed: bool,
    as_json: bool,
    config_file: str | None,
    assignments: tuple[str, ...],
    database: str | None,
) -> None:
    """Print every setting, its value, and where the value came from; NAME is a section or a setting.

    Passwords are masked. If something is wrong, every problem is reported with its place, and nothing else.
    Exit code 0: the settings can be used; 2: they can not.

    \b
    Examples:
      stretto config show
      stretto config show node database.url
      stretto config show --changed --config production.toml
      STRETTO_NODE_TRUST=9s stretto config show node.trust
    """
    chosen = _chosen(names)
    try:
        loaded = loaded_config(config_file, assignments, database)
    except InvalidConfig as error:
        _report(error.problems, as_json=as_json)
        raise SystemExit(2) from None
    settings = [
        each for each in chosen if not changed or loaded.origins[each.name].source is not Source.DEFAULT
    ]
    if as_json:
        file = None if loaded.file is None else shown(str(loaded.file))
        rows = [_as_json(each, loaded) for each in settings]
        click.echo(msgspec.json.encode({"file": file, "settings": rows}))
    else:
        _print(settings, loaded)


def _chosen(names: tuple[str, ...]) -> list[Setting]:
    known = {*SECTIONS, *SETTINGS}
    for name in names:
        if name not in known:
            hint = did_you_mean(name[:100], known)
            message = f"there is no section and no setting `{name}`" + (f"; {hint}" if hint else "")
            raise click.BadParameter(message, param_hint="NAME")
    wanted = set(names)
    return [
        each
        for each in SETTINGS.values()
        if not wanted or each.name in wanted or each.name.partition(".")[0] in wanted
    ]


def _print(settings: Iterable[Setting], loaded: Loaded) -> None:
    rows = [
        (each.name, each.kind.show(loaded.value(each.name)), str(loaded.origins[each.name]))
        for each in settings
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    for name, value, origin in rows:
        click.echo(style.row(f"{name:{widths[0]}}  {value:{min(widths[1], WIDEST)}}  {origin}"))


def _as_json(setting: Setting, loaded: Loaded) -> dict[str, Any]:
    """The value is what one would write in a file."""
    value = loaded.value(setting.name)
    text = setting.kind.show(value)
    plain = value is None or isinstance(value, bool) or (isinstance(value, int) and text == str(value))
    return {
        "name": setting.name,
        "value": value if plain else text,
        "origin": loaded.origins[setting.name],
        "variable": setting.variable,
    }


def _report(problems: Iterable[SettingProblem], *, as_json: bool) -> None:
    if as_json:
        rows = [{"origin": each.origin, "problem": each.problem} for each in problems]
        click.echo(msgspec.json.encode({"problems": rows}))
        return
    count = 0
    for each in problems:
        count += 1
        problem = msgspec.structs.replace(each.problem, hint=None)
        click.echo(SettingProblem(each.origin, problem), err=True)
        if each.problem.hint:
            click.echo(f"    hint: {each.problem.hint}", err=True)
    click.echo(f"{count} problem{'' if count == 1 else 's'} in the settings", err=True)
