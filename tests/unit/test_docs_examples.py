"""Every example of the README and of the documentation does what the page says.

`scripts/doc_examples.py` tells which blocks are run; `make examples` writes their outputs again.
"""

import re
from pathlib import Path

import pytest
from scripts.doc_examples import PAGES, ROOT, ExampleError, printed

import stretto

RUNS = re.compile("^```(console|pycon)", re.MULTILINE)
RUN = [page for page in PAGES if RUNS.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_shows_what_is_printed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert printed(text) == text, "if the new output is right, run `make examples`"


def test_the_pages_for_beginners_have_examples() -> None:
    names = {str(page.relative_to(ROOT)) for page in RUN}
    assert {"README.md", "docs/tutorial/first-workflow.md"} <= names


def test_a_wrong_output_is_put_right() -> None:
    page = "```console\n$ stretto --version\nstretto 9\n```\n"
    assert printed(page) == f"```console\n$ stretto --version\nstretto, version {stretto.__version__}\n```\n"


def test_files_redirections_and_exit_codes() -> None:
    page = (
        '```yaml title="a.yaml"\nworkflow: {}\n```\n'
        "```console\n$ stretto validate - < a.yaml\n$ echo $?\n$ stretto schema > s.json\n```\n"
    )
    assert "\n$ echo $?\n2\n$ stretto schema > s.json\n```" in printed(page)


def test_python_is_run() -> None:
    assert printed("```pycon\n>>> 1 + 1\n2\n```\n")
    with pytest.raises(ExampleError, match="Expected"):
        printed("```pycon\n>>> 1 + 1\n3\n```\n")


@pytest.mark.parametrize("body", ["$ rm -r x\n", "no prompt\n"])
def test_anything_else_is_refused(body: str) -> None:
    with pytest.raises(ExampleError):
        printed(f"```console\n{body}```\n")
