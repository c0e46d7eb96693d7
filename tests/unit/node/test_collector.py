"""The collector of cycles is left alone by whoever has chosen its thresholds, and is as before afterwards."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from stretto.node.process import SELDOM, USUAL, looking_seldom


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*USUAL[0])
    yield
    gc.set_threshold(*before)


def test_it_looks_seldom_until_the_last_one_leaves() -> None:
    with looking_seldom():
        with looking_seldom():
            assert gc.get_threshold() == SELDOM
        assert gc.get_threshold() == SELDOM
    assert gc.get_threshold() == USUAL[0]


def test_who_has_chosen_thresholds_keeps_them() -> None:
    gc.set_threshold(500, 5, 5)
    with looking_seldom():
        assert gc.get_threshold() == (500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)


def test_who_chooses_some_meanwhile_keeps_them_too() -> None:
    with looking_seldom():
        gc.set_threshold(500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)


def test_what_python_starts_with_is_known_as_usual() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import gc; print(gc.get_threshold())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() in {str(each) for each in USUAL}
