"""Marks in what a command prints, in whatever pieces it comes."""

import pytest

from stretto.runtimes.outputs import MOST_BYTES, BadOutput, Marks


def found(*pieces: bytes) -> tuple[bytes, list[tuple[float, str]]]:
    said: list[tuple[float, str]] = []
    marks = Marks(lambda fraction, text: said.append((fraction, text)))
    for piece in pieces:
        marks.take(piece)
    return marks.outputs(), said


TEXT = (
    b"::output first=1\nplain\n ::output indented=1\nsaid ::output inside=1\n"
    b"::outputs=1\n\n:\n::\n::output=1\n"
    b"::progress 0.4 loading  rows\n::output a=b=c\r\n::progress 1\n::output last=2"
)


def test_lines() -> None:
    assert found(TEXT) == (b"first=1\na=b=c\r\nlast=2\n", [(0.4, "loading  rows"), (1.0, "")])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_pieces_are_put_together(size: int) -> None:
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    assert found(*pieces) == found(TEXT)


@pytest.mark.parametrize(
    "line", [b"", b"much", b"-0.1", b"1.1", b"nan", b"1e-3", b"40%", b"0.5x", b"\xff", b".5", b"0.1234567891"]
)
def test_what_only_looks_like_progress_is_a_line_like_any_other(line: bytes) -> None:
    assert found(b"::progress " + line + b"\n") == (b"", [])


def test_the_text_of_progress_is_decoded_safely() -> None:
    assert found(b"::progress 0.5 \xffa\r\n")[1] == [(0.5, "\ufffda")]


def test_nothing() -> None:
    assert found() == (b"", [])


def test_a_long_line_that_is_no_output_is_let_pass() -> None:
    part = b"x" * 65_536
    assert found(b"::", *[part] * 40, b"\n::output a=1\n") == (b"a=1\n", [])
    assert found(*[part] * 40, b"::output b=1\n::output a=1\n") == (b"a=1\n", [])


@pytest.mark.parametrize(
    "pieces", [[b"::output a=", *[b"x" * 65_536] * 40, b"\n"], [b"::output a=1\n"] * 300_000]
)
def test_outputs_are_bounded(pieces: list[bytes]) -> None:
    with pytest.raises(BadOutput, match="lines with ::output have more than 1024 KB"):
        found(*pieces)


def test_what_is_held_is_bounded() -> None:
    marks = Marks(lambda _fraction, _text: None)
    for _ in range(100):
        marks.take(b"\n::" + b"x" * 65_536)
        assert len(marks._held) <= MOST_BYTES
    for _ in range(100):
        marks.take(b"x" * 65_536)
        assert len(marks._held) <= MOST_BYTES
