"""How a line is written, and read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.runtimes.logs.stand import NOON

from stretto.runtimes.logs.records import LONGEST, Record, moment, record_of, records

TIME = b"2026-11-16T03:33:20.123Z"


@pytest.mark.parametrize(
    ("data", "made"),
    [
        (b"one\n", [b"F one"]),
        (b"one\ntwo\n", [b"F one", b"F two"]),
        (b"one\n\n", [b"F one", b"F "]),
        (b"par", [b"P par"]),
        (b"one\npar", [b"F one", b"P par"]),
        (b"\xff\0\r\n", [b"F \xff\0\r"]),
    ],
)
def test_lines(data: bytes, made: list[bytes]) -> None:
    assert records(NOON, "stdout", data) == b"".join(b"%b stdout %b\n" % (TIME, each) for each in made)


def test_read_again() -> None:
    assert record_of(b"%b stderr F a  b" % TIME) == Record(NOON, "stderr", True, b"a  b")
    assert record_of(b"%b log P " % TIME) == Record(NOON, "log", False, b"")
    assert record_of(b"2026-11-16T03:33:20.123456789Z log P ") == Record(NOON, "log", False, b"")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"2026-11-16T03:33",
        b"%b stdout" % TIME,
        b"%b out F x" % TIME,
        b"%b stdout X x" % TIME,
        b"\xff log F x",
    ],
)
def test_what_is_no_record(line: bytes) -> None:
    assert record_of(line) is None


@given(st.binary(max_size=200), st.integers(0, 4_102_444_800_000))
def test_nothing_is_lost(data: bytes, at: int) -> None:
    made = records(at, "log", data)
    found = [record_of(line) for line in made.split(b"\n")[:-1]]
    back = b"".join(each.text + (b"\n" if each.is_whole else b"") for each in found if each is not None)
    assert back == data
    assert sum(each.size for each in found if each is not None) == len(data)
    assert {each.at for each in found if each is not None} <= {at}
    assert len(made) <= len(data) + LONGEST * (data.count(b"\n") + 1)


def test_moments() -> None:
    assert moment(NOON) == TIME.decode()
    assert moment(0) == "1970-01-01T00:00:00.000Z"
