"""Every expression in the tables of docs/reference/sel.md has the result that stands beside it."""

import re
from pathlib import Path

import pytest
from tests.unit.sel.evaluation import kind, shown

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "sel.md"
ROW = re.compile(r"^\| `(?P<script>.+?;)` \| (?:`(?P<result>.*)`|\*(?P<kind>\w+)\*) \|$", re.MULTILINE)
EXAMPLES = [
    pytest.param(*match.groups(), id=match["script"]) for match in ROW.finditer(PAGE.read_text("utf-8"))
]


@pytest.mark.parametrize(("script", "result", "error"), EXAMPLES)
def test_row_59_example(script: str, result: str | None, error: str | None) -> None:
    if error is None:
        assert shown(script) == result
    else:
        assert kind(script) == error


def test_the_examples_were_found() -> None:
    assert len(EXAMPLES) > 50
