"""The examples of `docs/reference/cron.md` say what the code does."""

from datetime import datetime
from itertools import islice
from pathlib import Path

import pytest

from stretto.triggers import CronError, describe, fires, parse_cron, parse_predefined, parse_zone

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "cron.md").read_text(encoding="utf-8")


def table(header: str) -> list[list[str]]:
    """The cells below a header row; the backticks around a cell of one code word are taken off."""
    lines = PAGE.split(f"| {header} |\n", 1)[1].splitlines()[1:]
    rows = lines[: next(number for number, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def code(cell: str) -> str:
    return cell.strip("`")


@pytest.mark.parametrize(("cron", "phrase"), table("Cron | Says"))
def test_what_a_cron_says(cron: str, phrase: str) -> None:
    assert describe(parse_cron(code(cron))) == phrase


@pytest.mark.parametrize(("name", "cron"), table("Name | Cron"))
def test_predefined_names(name: str, cron: str) -> None:
    assert parse_predefined(code(name)).text == code(cron)


@pytest.mark.parametrize(("cron", "zone", "after", "shown"), table("Cron | Zone | After | Next fires"))
def test_when_the_clock_is_changed(cron: str, zone: str, after: str, shown: str) -> None:
    tz = parse_zone(zone)
    expected = [] if shown == "never" else shown.split(", ")
    found = islice(fires(parse_cron(code(cron)), datetime.fromisoformat(after), tz), 2)
    assert [fire.astimezone(tz).isoformat() for fire in found] == expected


@pytest.mark.parametrize(("cron", "message"), table("Cron | Message"))
def test_messages(cron: str, message: str) -> None:
    with pytest.raises(CronError) as caught:
        parse_cron(code(cron))
    assert str(caught.value) == f"cron {cron}, {message}"


@pytest.mark.parametrize("form", [code(row[0]) for row in table("Form | Meaning")])
def test_every_form_is_read(form: str) -> None:
    assert parse_cron(f"{form} * * * *").minutes


@pytest.mark.parametrize("mark", ["L", "L-3", "LW", "15W"])
def test_every_mark_of_the_table_is_read(mark: str) -> None:
    assert f"`{mark}`" in PAGE
    assert parse_cron(f"0 0 0 {mark} * ?").days
