"""Every example of docs/reference/wire-format.md does what the page says."""

import re
from pathlib import Path
from typing import Any

import pytest

from stretto.model import wire
from stretto.model.foreach import ForeachOverview
from stretto.model.param import ParamDefinition
from stretto.model.properties import Properties
from stretto.model.retry import RetryPolicy
from stretto.model.run_config import RestartNode
from stretto.model.step import Step
from stretto.model.workflow import Definition

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "wire-format.md"
EXAMPLE = re.compile(r"<!-- (example|refused): (\w+) -->\n```json\n(.*?)```\n```\w+\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
RECORDS: dict[str, Any] = {
    "Definition": Definition,
    "ForeachOverview": ForeachOverview,
    "ParamDefinition": ParamDefinition,
    "Properties": Properties,
    "RestartNode": RestartNode,
    "RetryPolicy": RetryPolicy,
    "Step": Step,
}


def test_every_block_of_the_page_is_part_of_an_example() -> None:
    assert PAGE.read_text(encoding="utf-8").count("```json") == 2 * len(EXAMPLES) - 1  # one is refused


@pytest.mark.parametrize(("kind", "name", "given", "expected"), EXAMPLES)
def test_example(kind: str, name: str, given: str, expected: str) -> None:
    record, problems = wire.from_json(RECORDS[name], given)
    if kind == "refused":
        assert "".join(f"{problem}\n" for problem in problems) == expected
    else:
        assert problems == []
        assert wire.encode(record, RECORDS[name]) == wire.loads(expected)
