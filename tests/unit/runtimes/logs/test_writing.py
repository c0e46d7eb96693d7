"""What launches print, in files of a bounded size."""

import errno
import logging
import os
import shutil
import stat
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtimes.logs.stand import (
    ATTEMPT,
    KB,
    LAUNCH,
    RUN,
    Clock,
    files_in,
    lines_of,
    pack_of,
    size_of,
    texts_of,
)

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.logs import LogLine, LogReader, LogSink
from stretto.ports.runtime import Launch
from stretto.runtimes.logs import writing
from stretto.runtimes.logs.files import LogFiles
from stretto.runtimes.logs.forgetting import Forgetting

NOON_TEXT = "2026-11-16T03:33:20.123Z"


def launch(number: int, generation: int = 5) -> Launch:
    return Launch(AttemptKey(RUN, f"step{number}", 1), generation)


# ------------------------------------------------------------------------------------------------------ files
def test_a_person_can_read_it(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    sink: LogSink = files
    sink.write(LAUNCH, "stdout", b"one\ntw")
    sink.write(LAUNCH, "stderr", b"why\n")
    sink.write(LAUNCH, "stdout", b"o\n")
    assert pack_of(tmp_path).parent == tmp_path / "etl" / "0k"
    assert pack_of(tmp_path).name.startswith("12.1.w")
    assert pack_of(tmp_path).read_text().splitlines() == [
        "# etl/12/1:load/1 5.0 0 1794800000123",
        f"{NOON_TEXT} stdout F one",
        f"{NOON_TEXT} stdout P tw",
        f"{NOON_TEXT} stderr F why",
        f"{NOON_TEXT} stdout F o",
    ]
    sink.end(LAUNCH)
    reader: LogReader = files
    assert reader is files
    assert [(line.stream, line.text) for line in lines_of(files)] == [
        ("stdout", "one"),
        ("stderr", "why"),
        ("stdout", "two"),
    ]


def test_nothing_is_made_without_a_byte(tmp_path: Path) -> None:
    files = files_in(tmp_path / "logs")
    files.write(LAUNCH, "stdout", b"")
    files.end(LAUNCH)
    files.end(LAUNCH)
    files.close()
    assert not (tmp_path / "logs").exists()
    assert lines_of(files) == []


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "logs"
    old = os.umask(0)
    try:
        files = files_in(folder)
        files.write(LAUNCH, "stdout", b"x")
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").rglob("*")}
    assert modes.pop(pack_of(tmp_path).name) == 0o600
    assert set(modes.values()) == {0o700}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_what_an_older_release_wrote_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    files = files_in(folder)
    files.write(LAUNCH, "stdout", b"x")
    files.close()
    pack = pack_of(tmp_path)
    for mode, kept in ((0o644, 0o600), (0o640, 0o640), (0o664, 0o660), (0o666, 0o600)):
        pack.chmod(mode)
        Forgetting(folder).some(0)
        assert stat.S_IMODE(pack.stat().st_mode) == kept


def test_a_few_files_are_open_at_once(tmp_path: Path) -> None:
    files = files_in(tmp_path, most_open=3)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers
    for text in (b"a\n", b"b\n"):
        for number in range(50):
            files.write(launch(number), "stdout", text)
            assert len(os.listdir("/proc/self/fd")) <= before + 3  # noqa: PTH208
    for number in range(50):
        assert texts_of(files, launch(number).attempt) == ["a", "b"]
    files.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert not files._writers


# ----------------------------------------------------------------------------------------------------- bounds
def test_of_much_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    files = files_in(tmp_path, 64 * KB)
    for number in range(10_000):
        files.write(LAUNCH, "stdout", b"%06d%b\n" % (number, b"x" * 40))
    assert size_of(tmp_path) <= 64 * KB
    assert size_of(tmp_path) > 52 * KB
    files.end(LAUNCH)
    lines = lines_of(files)
    gap = next(place for place, line in enumerate(lines) if line.stream == "log")
    first, last = lines[:gap], lines[gap + 1 :]
    assert [int(line.text[:6]) for line in first] == list(range(len(first)))
    assert [int(line.text[:6]) for line in last] == list(range(10_000 - len(last), 10_000))
    missing = 47 * (10_000 - len(first) - len(last))
    assert lines[gap].text == f"({missing:,} bytes were left out here)"
    assert len(first) > 300
    assert len(last) > 200


@pytest.mark.parametrize(
    "data", [b"\n", b"y\n", b"x", b"x" * 99 + b"\n"], ids=["empty", "yes", "one", "usual"]
)
def test_much_at_once_is_bounded_too(tmp_path: Path, data: bytes) -> None:
    files = files_in(tmp_path, 64 * KB)
    files.write(LAUNCH, "stderr", data * (1024 * KB // len(data)))
    assert size_of(tmp_path) <= 64 * KB
    shown = sum(len(line.text) for line in lines_of(files) if line.stream == "stderr")
    assert shown <= 64 * KB


def test_the_least_room(tmp_path: Path) -> None:
    files = files_in(tmp_path, 1)
    files.write(LAUNCH, "stdout", b"\n" * 100_000)
    assert size_of(tmp_path) <= 16 * KB


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=3000)), max_size=40))
def test_nothing_else_is_left_out(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[str, bytes]]
) -> None:
    """As bytes: what is shown, and the number of those left out, are all that was printed."""
    files = files_in(tmp_path_factory.mktemp("logs"), 16 * KB)
    for stream, data in written:
        files.write(LAUNCH, "stdout" if stream == "stdout" else "stderr", data)
    reading = files.reading(ATTEMPT, 512)
    lines: list[LogLine] = []
    while more := reading.more():
        lines += more
    gaps = [line.text for line in lines if line.stream == "log"]
    assert len(gaps) <= 1
    assert size_of(files.folder) <= 16 * KB
    assert reading._seen == sum(len(data) for _, data in written)
    if not gaps:
        lines += reading.rest()
        for name in ("stdout", "stderr"):
            whole = b"".join(data for stream, data in written if stream == name)
            texts = [line.text for line in lines if line.stream == name]
            shown = [each.removesuffix(b"\r").decode(errors="replace") for each in whole.split(b"\n")[:-1]]
            rest = whole.rpartition(b"\n")[2].decode(errors="replace")
            assert texts == [*shown, *([rest] if rest else [])]


# ------------------------------------------------------------------------------------------ going on, trouble
def test_a_launch_goes_on_in_another_process(tmp_path: Path) -> None:
    """As one does whose work is elsewhere, after another node has taken it over. Each process keeps what it
    may of it, in files of its own.
    """
    first = files_in(tmp_path, 16 * KB)
    first.write(LAUNCH, "stdout", b"a" * 49 + b"\n")
    first.end(LAUNCH)
    first.write(LAUNCH, "stdout", b"b" * 49 + b"\n")
    clock = Clock()
    clock.at += 1
    second = LogFiles(tmp_path, 16 * KB, clock.now)
    for _ in range(1000):
        second.write(LAUNCH, "stdout", b"c" * 49 + b"\n")
    second.close()
    clock.at += 1
    third = LogFiles(tmp_path, 16 * KB, clock.now)
    third.write(LAUNCH, "stdout", b"d" * 49 + b"\n")
    third.close()
    assert size_of(tmp_path) <= 17 * KB
    texts = texts_of(third)
    assert texts[:3] == ["a" * 49, "b" * 49, "c" * 49]
    assert texts[-2:] == ["c" * 49, "d" * 49]
    (gap,) = [text for text in texts if "left out" in text]
    assert gap == f"({50 * (1003 - len(texts) + 1):,} bytes were left out here)"


def test_a_record_that_was_cut_off_is_the_last_of_its_file(tmp_path: Path) -> None:
    files_in(tmp_path).write(LAUNCH, "stdout", b"whole\nhalf of it\n")
    path = pack_of(tmp_path)
    os.truncate(path, path.stat().st_size - 7)
    files = files_in(tmp_path)
    assert texts_of(files) == ["whole", "half"]
    files.write(LAUNCH._replace(generation=6), "stdout", b"next\n")
    assert texts_of(files) == ["whole", "half", "next"]
    path.write_bytes(b"")
    files_in(tmp_path).write(LAUNCH, "stdout", b"again\n")
    assert texts_of(files) == ["again", "next"]


def test_a_folder_that_is_removed_in_the_middle(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = files_in(tmp_path / "logs", most_open=1)
    files.write(LAUNCH, "stdout", b"one\n")
    shutil.rmtree(tmp_path / "logs")
    files.write(LAUNCH, "stdout", b"two\n")  # into a file that nobody can find
    other = Launch(AttemptKey(RunKey("etl", 13, 1), "load", 1), 5)
    files.write(other, "stdout", b"other\n")  # so that the first is closed
    files.write(LAUNCH, "stdout", b"three\n")
    assert texts_of(files) == ["(8 bytes were left out here)", "three"]
    assert not caplog.records


def test_no_way_to_make_a_folder_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "logs").write_text("a file")
    files = files_in(tmp_path / "logs")
    for _ in range(3):
        files.write(LAUNCH, "stdout", b"one\n")
    files.write(launch(1), "stdout", b"one\n")
    files.end(LAUNCH)
    assert [(record.levelno, record.name) for record in caplog.records] == [
        (logging.WARNING, "stretto.runtimes.logs.files")
    ] * 2
    assert caplog.records[0].message.startswith(
        "the output of [etl][12][1][load][1][5][0] is not kept, until this is put right: "
    )
    assert lines_of(files) == []


def test_a_drive_that_is_not_there(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise FileNotFoundError("no such drive")

    monkeypatch.setattr(Path, "mkdir", refuse)
    files_in(Path("/nowhere/logs")).write(LAUNCH, "stdout", b"one\n")
    assert "no such drive" in caplog.records[0].message


def test_a_folder_that_is_deleted_again_and_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_make", lambda _folder: None)
    files_in(tmp_path / "logs").write(LAUNCH, "stdout", b"one\n")
    assert "No such file or directory" in caplog.records[0].message


class Full(FileIO):
    """On a disk that is always full."""

    def __init__(self, *_args: object, **_options: object) -> None:
        super().__init__("/dev/full", "ab")


class Slow(FileIO):
    """Takes a few bytes at a time, as a disk may that is nearly full."""

    def write(self, data: Any, /) -> int:
        return super().write(bytes(data)[:10])


class Late(FileIO):
    """Tells only at the end that nothing was kept, as disks elsewhere may."""

    def close(self) -> None:
        super().close()
        raise OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a disk")
def test_a_full_disk_ends_no_step(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "FileIO", Full)
    files = files_in(tmp_path)
    for _ in range(3):
        files.write(LAUNCH, "stdout", b"one\n")
    files.end(LAUNCH)
    (record,) = caplog.records
    assert record.message.endswith("is not kept, until this is put right: [Errno 28] No space left on device")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a disk")
def test_what_was_lost_is_counted_and_what_comes_later_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    files = LogFiles(tmp_path, 64 * KB, clock.now)
    for trouble in (False, True, False, True, True, False):
        clock.at += 1_000
        monkeypatch.setattr(writing, "FileIO", Full if trouble else FileIO)
        for each in files._open:
            each.close()
        for _ in range(2):
            files.write(LAUNCH, "stdout", b"lost\n" if trouble else b"kept\n")
    files.close()
    kept = ["kept"] * 2
    assert texts_of(files) == [
        *kept,
        "(10 bytes were left out here)",
        *kept,
        "(20 bytes were left out here)",
        *kept,
    ]
    assert len(caplog.records) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a disk")
def test_of_large_output_what_was_lost_is_counted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    files = LogFiles(tmp_path, 64 * KB, clock.now, most_open=1)
    other = launch(1)._replace(attempt=AttemptKey(RunKey("etl", 13, 1), "load", 1))
    for _ in range(400):
        files.write(LAUNCH, "stdout", b"x" * 49 + b"\n")
        files.write(other, "stdout", b"y")  # so that the file of the first is closed, and opened again
    monkeypatch.setattr(writing, "FileIO", Full)
    files.write(LAUNCH, "stdout", b"lost\n")
    monkeypatch.setattr(writing, "FileIO", FileIO)
    clock.at += 1_000
    files.write(LAUNCH, "stdout", b"kept\n")
    files.close()
    assert texts_of(files)[-3:] == ["x" * 49, "(5 bytes were left out here)", "kept"]


def test_from_the_start_nothing_could_be_kept(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    clock = Clock()
    files = LogFiles(tmp_path / "logs", 64 * KB, clock.now)
    files.write(LAUNCH, "stdout", b"lost\n")
    (tmp_path / "logs").unlink()
    files.write(LAUNCH, "stdout", b"lost, too\n")
    clock.at += 1_000
    files.write(LAUNCH, "stdout", b"kept\n")
    files.close()
    assert texts_of(files) == ["(15 bytes were left out here)", "kept"]


def test_a_disk_that_takes_little_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "FileIO", Slow)
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"a line that is longer than that\n")
    assert texts_of(files) == ["a line that is longer than that"]
    files.close()


def test_a_disk_that_tells_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "FileIO", Late)
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"one\n")
    files.end(LAUNCH)
