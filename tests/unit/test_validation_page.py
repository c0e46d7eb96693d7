"""Every problem code is documented, and each example there provokes exactly its code."""

import re
from pathlib import Path

import pytest

from stretto.definition import check
from stretto.model.problem import Code

PAGE = (Path(__file__).parents[2] / "docs/reference/validation.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^### `([a-z-]+)`\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (code, block) for code, body in SECTIONS for block in re.findall(r"```yaml\n(.*?)```", body, re.DOTALL)
]


def test_every_code_is_documented_once() -> None:
    known = sorted(value for name, value in vars(Code).items() if name.isupper())
    assert sorted(code for code, _ in SECTIONS) == known


@pytest.mark.parametrize(("code", "text"), EXAMPLES, ids=[code for code, _ in EXAMPLES])
def test_an_example_gives_its_code(code: str, text: str) -> None:
    assert {problem.code for problem in check(text).problems} == {code}
