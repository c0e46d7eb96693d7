"""What an attempt has printed, read while it comes and afterwards."""

import asyncio
import tracemalloc
from pathlib import Path

import pytest
from tests.unit.runtimes.logs.stand import (
    ATTEMPT,
    KB,
    LAUNCH,
    NOON,
    Clock,
    file_of,
    files_in,
    lines_of,
    pack_of,
    some_of,
    texts_of,
)
from tests.waiting import until

from stretto.ports.logs import LogLine
from stretto.ports.runtime import Launch
from stretto.runtimes.logs import reading
from stretto.runtimes.logs import reading as reading_module
from stretto.runtimes.logs.files import LogFiles

MB = 1024 * KB


def test_what_is_no_text_survives(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"nul \\0 \0 bad \xff tab \t cr \r in it\r\n")
    files.write(LAUNCH, "stdout", "hä".encode()[:2])
    files.write(LAUNCH, "stdout", "hä".encode()[2:] + b"\r")
    assert texts_of(files) == ["nul \\0 \0 bad \ufffd tab \t cr \r in it", "hä\r"]


def test_each_line_has_the_time_of_its_beginning(tmp_path: Path) -> None:
    clock = Clock()
    files = LogFiles(tmp_path, MB, clock.now)
    for data in (b"be", b"gun\nnext", b" line\n"):
        files.write(LAUNCH, "stderr", data)
        clock.at += 1_000
    files.close()
    assert lines_of(files) == [LogLine(NOON, "stderr", "begun"), LogLine(NOON + 1_000, "stderr", "next line")]


def test_all_launches_of_an_attempt_in_order(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for attempt, generation, take in ((1, 10, 0), (1, 5, 0), (1, 5, 1), (2, 5, 0), (1, 9, 0)):
        launch = Launch(ATTEMPT._replace(number=attempt), generation, take)
        files.write(launch, "stdout", f"{attempt}.{generation}.{take}".encode())
    assert texts_of(files) == ["1.5.0", "1.5.1", "1.9.0", "1.10.0"]
    assert texts_of(files, ATTEMPT._replace(number=2)) == ["2.5.0"]


def test_lines_that_nobody_wrote_are_shown_as_they_are(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"one\n")
    with pack_of(tmp_path).open("ab") as file:
        file.write(b"a note \xff\n")
    files.write(LAUNCH, "stdout", b"two\n")
    assert lines_of(files) == [
        LogLine(NOON, "stdout", "one"),
        LogLine(NOON, "log", "a note \ufffd"),
        LogLine(NOON, "stdout", "two"),
    ]


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    file_of(tmp_path).mkdir(parents=True)
    assert lines_of(files) == []


def test_a_very_long_line_comes_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "LONGEST_LINE", 100)
    files = files_in(tmp_path)
    for _ in range(8):
        files.write(LAUNCH, "stdout", b"x" * 30)
    files.write(LAUNCH, "stdout", b"\n")
    assert texts_of(files) == ["x" * 120, "x" * 120, ""]
    pack_of(tmp_path).unlink()
    file_of(tmp_path).parent.mkdir(parents=True)
    file_of(tmp_path).write_bytes(b"y" * 250)
    reading = files.reading(ATTEMPT, 90)
    assert [line.text for line in reading.more()] == ["y" * 180]
    assert reading.more() == []
    assert [line.text for line in reading.rest()] == ["y" * 70]


def test_a_large_log_is_read_in_little_memory(tmp_path: Path) -> None:
    files = files_in(tmp_path, 16 * MB)
    data = (b"z" * 99 + b"\n") * 600
    for _ in range(300):
        files.write(LAUNCH, "stdout", data)
    files.end(LAUNCH)

    async def read() -> int:
        count = 0
        async for _ in files.read(ATTEMPT):
            count += 1
        return count

    tracemalloc.start()
    try:
        assert asyncio.run(read()) > 110_000
        assert tracemalloc.get_traced_memory()[1] < 4 * MB
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------------------------------------------- follow
def test_following(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    more = reading.Reading.more

    def looking(self: reading.Reading) -> list[LogLine]:
        looks.append("one more")
        return more(self)

    monkeypatch.setattr(reading.Reading, "more", looking)

    async def follow() -> None:
        files = files_in(tmp_path)
        lines = files.follow(ATTEMPT)
        first = asyncio.create_task(some_of(lines, 1))
        await until(lambda: len(looks) >= 2)
        files.write(LAUNCH, "stdout", b"one\ntw")
        assert await first == ["one"]
        files.write(LAUNCH, "stdout", b"o\nthr")
        assert await some_of(lines, 1) == ["two"]
        files.end(LAUNCH)
        files.write(LAUNCH._replace(generation=6), "stdout", b"again\n")
        assert await some_of(lines, 2) == ["thr", "again"]
        await lines.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(follow())


def test_a_reader_keeps_up_with_files_that_change(tmp_path: Path) -> None:
    files = files_in(tmp_path, 16 * KB)
    reading = files.reading(ATTEMPT)
    seen: list[str] = []
    for number in range(3_000):
        files.write(LAUNCH, "stdout", b"%d\n" % number)
        if number % 20 == 0:
            while lines := reading.more():
                seen += [line.text for line in lines]
    while lines := reading.more():
        seen += [line.text for line in lines]
    assert seen == [str(number) for number in range(3_000)]


def test_a_reader_that_is_too_slow_is_told_what_it_has_missed(tmp_path: Path) -> None:
    files = files_in(tmp_path, 16 * KB)
    reading = files.reading(ATTEMPT, 700)
    total = 0
    for number in range(4_000):
        files.write(LAUNCH, "stdout", b"%04d\n" % number)
        if number % 400 == 0:
            total += sum(_size(line) for line in reading.more())
    while lines := reading.more():
        total += sum(_size(line) for line in lines)
    assert total == 4_000 * 5
    assert reading.rest() == []


def _size(line: LogLine) -> int:
    """Bytes that it stands for."""
    return (
        int(line.text[1:].partition(" ")[0].replace(",", "")) if line.stream == "log" else len(line.text) + 1
    )


def test_last_lines_before_the_next_file_are_not_missed(tmp_path: Path) -> None:
    """They may come between a look at a file and a look for others."""
    files = files_in(tmp_path)
    reading = files.reading(ATTEMPT)
    files.write(LAUNCH, "stdout", b"one\n")
    assert [line.text for line in reading.more()] == ["one"]
    reading._data()
    files.write(LAUNCH, "stdout", b"two\n")
    files.write(LAUNCH._replace(generation=6), "stdout", b"three\n")
    texts = []
    assert reading._go_on([])
    while lines := reading.more():
        texts += [line.text for line in lines]
    assert texts == ["two", "three"]
