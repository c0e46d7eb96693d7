"""Where the corpora are that a conformance test reads in place: `shared/data` beside the repository."""

import os
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def corpus(*parts: str) -> Path:
    """A file or folder of the corpora. Without them the module is skipped; in CI that is a failure."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        message = f"the corpus {'/'.join(parts)} is not beside the repository"
        if os.environ.get("CI"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message, allow_module_level=True)
    return path
