"""Every mistake on the page is made, gives the message of the page, and is put right as the page says."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from stretto.flow import Flow, TraceError

PAGE = Path(__file__).parents[2] / "docs/reference/python-mistakes.md"
SECTION = re.compile(r"^### (.+?)$(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
STEPS = re.compile(r'^```python title="steps.py"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Mistake(NamedTuple):
    name: str
    wrong: str
    message: str
    right: str


def mistakes() -> Iterator[Mistake]:
    for name, body in SECTION.findall(PAGE.read_text()):
        wrong, right = PYTHON.findall(body)
        (message,) = TEXT.findall(body)
        yield Mistake(name, wrong, message, right)


ALL = list(mistakes())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (found,) = STEPS.findall(PAGE.read_text())
    (tmp_path / "steps.py").write_text(found)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("flows", "steps"):
        sys.modules.pop(name, None)  # that of another test
    yield
    for name in ("flows", "steps"):
        sys.modules.pop(name, None)


def traced(source: str) -> None:
    """Import a file, and trace all its workflows."""
    Path("flows.py").write_text(source)
    importlib.invalidate_caches()
    made = importlib.import_module("flows")
    for each in vars(made).values():
        if isinstance(each, Flow):
            _ = each.definition


@pytest.mark.parametrize("mistake", ALL, ids=lambda each: each.name)
def test_a_mistake_is_explained(mistake: Mistake) -> None:
    with pytest.raises(TraceError) as caught:
        traced(mistake.wrong)
    assert str(caught.value) == mistake.message


@pytest.mark.parametrize("mistake", ALL, ids=lambda each: each.name)
def test_the_way_out_is_one(mistake: Mistake) -> None:
    traced(mistake.right)


def test_there_are_enough() -> None:
    assert len(ALL) >= 12
