"""`stretto runtimes`: the types that steps may have here, and what each of them takes."""

from typing import Any

import click
import msgspec

from stretto.cli import style
from stretto.definition.misfits import alternatives, shown
from stretto.model.suggest import did_you_mean
from stretto.runtimes.listing import Listed, ParamRow, listed


@click.group(name="runtimes")
def command() -> None:
    """Look at the types that steps may have: those that come with Stretto, and those of other packages."""


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def list_them(*, as_json: bool) -> None:
    """List all types, where each comes from, and whether it can be used.

    Packages bring types with entry points of the group stretto.runtimes. All of them are imported here; a
    workflow imports only those of the types that its steps have. What is wrong with one is told by `show`.

    \b
    Examples:
      stretto runtimes list
      stretto runtimes list --json | jq '.runtimes[] | select(.usable | not)'
    """
    found = listed()
    if as_json:
        click.echo(msgspec.json.encode({"runtimes": [_as_json(each) for each in found]}))
        return
    widths = [max(len(row) for row in rows) for rows in zip(*(_cells(each) for each in found), strict=True)]
    for each in found:
        name, origin, _state = _cells(each)
        left = f"{name:{widths[0]}}  {origin:{widths[1]}}"
        note = "" if each.problem is None else f"  {style.cut(style.one_line(each.problem), 80)}"
        click.echo(f"{left}  {style.paint(_state, style.GOOD if each.usable else style.BAD)}{note}".rstrip())


@command.command(name="show")
@click.argument("name", metavar="TYPE")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def show(name: str, *, as_json: bool) -> None:
    """Show one type: where it comes from, whether it can be used, and its parameters.

    Exit code 0: steps of this type can be run here; 1: they can not.

    \b
    Examples:
      stretto runtimes show Shell
      stretto runtimes show Http --json | jq .schema
    """
    found = listed()
    chosen = [each for each in found if each.type.casefold() == name.casefold()]
    if not chosen:
        names = sorted({each.type for each in found})
        hint = did_you_mean(name[:100], names) or f"there are {', '.join(names)}"
        raise click.BadParameter(f"there is no type `{name}` here; {hint}", param_hint="TYPE")
    if as_json:
        click.echo(msgspec.json.encode([_as_json(each, whole=True) for each in chosen]))
    else:
        for each in chosen:
            _print(each)
    if not chosen[0].usable:
        raise SystemExit(1)


def _cells(each: Listed) -> tuple[str, str, str]:
    return each.type, each.origin, "usable" if each.usable else "not usable"


def _print(each: Listed) -> None:
    click.echo(f"{style.paint(each.type, None, bold=True)}  {each.origin}")
    if each.entry_point is not None:
        click.echo(f"  made by {each.entry_point}")
    if each.problem is not None:
        click.echo(style.paint(f"  not usable: {style.one_line(each.problem)}", style.BAD))
    rows = each.params
    widest = max((len(row.name) for row in rows), default=0)
    for row in rows:
        click.echo(f"  {row.name:{widest}}  {_told(row)}")
    sets = alternatives(each.schema)
    if sets:
        click.echo(f"  needs one of: {', '.join(' with '.join(names) for names in sets)}")
    if not rows and each.usable:
        click.echo("  no parameters of its own")


def _told(row: ParamRow) -> str:
    parts = [row.type]
    if row.required:
        parts.append("required")
    if row.default is not None:
        parts.append(f"default {shown(row.default)}")
    told = ", ".join(parts)
    return f"{told}: {style.one_line(row.description)}" if row.description else told


def _as_json(each: Listed, *, whole: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": each.type,
        "origin": each.origin,
        "entry_point": each.entry_point,
        "usable": each.usable,
        "problem": each.problem,
        "params": each.params,
    }
    if whole:
        found["schema"] = each.schema
    return {name: value for name, value in found.items() if value is not None}
