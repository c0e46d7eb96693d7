"""Files that are made from the code are what the code makes now."""

import pytest
from scripts.generate import FILES, ROOT


@pytest.mark.parametrize("name", FILES)
def test_is_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name](), "run `make schema`"
