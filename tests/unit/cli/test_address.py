"""How runs and steps are written."""

import click
import pytest

from stretto.cli.address import ADDRESS, Address, readable, run_text
from stretto.engine.records import RunKey


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("etl/12", Address("etl", 12)),
        ("my.etl-2/12/3", Address("my.etl-2", 12, "3")),
        ("etl/12:load", Address("etl", 12, "latest", "load")),
        ("etl/12/3:load/2", Address("etl", 12, "3", "load", "2")),
        ("etl/12:load[41].copy/3", Address("etl", 12, "latest", "load[41].copy", "3")),
        ("etl/12:load[41]", Address("etl", 12, "latest", "load[41]")),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert ADDRESS.convert(text, None, None) == address


@pytest.mark.parametrize("text", ["", "etl", "etl/", "etl/x", "etl/1/2/3", "/1", "etl/1:", "etl/1 ", "e t/1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="WORKFLOW/INSTANCE"):
        ADDRESS.convert(text, None, None)


def test_the_first_run_needs_no_number() -> None:
    assert run_text(RunKey("etl", 3, 1)) == "etl/3"
    assert run_text(RunKey("etl", 3, 2)) == "etl/3/2"


def test_sentences_of_the_engine() -> None:
    text = "run [etl][3][1] waits for [a.b-c][12][2][load][1], [x][4][y] and [x][4], not for [warehouse]"
    assert readable(text) == "run etl/3 waits for a.b-c/12/2:load/1, x/4:y and x/4, not for [warehouse]"
