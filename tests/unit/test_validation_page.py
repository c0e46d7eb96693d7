"""Every problem code is documented, and each example there provokes exactly its code."""

import re
from pathlib import Path

import pytest

from stretto.definition import check
from stretto.definition.parse import Options
from stretto.model.problem import Code

PAGE = (Path(__file__).parents[2] / "docs/reference/validation.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```(?:console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMES_WITH = {"never-reached": ["constant-condition"]}
SAID = re.compile(r"\[([a-z-]+)\]$|^\['([a-z-]+)'\]$", re.MULTILINE)


def test_every_code_is_documented_once() -> None:
    known = sorted(value for name, value in vars(Code).items() if name.isupper())
    assert sorted(code for code, _ in SECTIONS) == known


@pytest.mark.parametrize(("code", "section"), SECTIONS, ids=[code for code, _ in SECTIONS])
def test_an_example_gives_its_code_and_no_other(code: str, section: str) -> None:
    """What commands and prompts print here is what they print now: see the test of all pages."""
    checked = [check(text, Options(warnings=True)) for text in TEXT.findall(section)]
    found = [each.code for one in checked for each in (*one.problems, *one.warnings)]
    said = [one or other for output in OUTPUT.findall(section) for one, other in SAID.findall(output)]
    assert found + said
    assert {*found, *said} == {code, *COMES_WITH.get(code, ())}
