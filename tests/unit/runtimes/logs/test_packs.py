"""Output of many launches in few files."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.runtimes.logs.stand import (
    ATTEMPT,
    KB,
    LAUNCH,
    RUN,
    Clock,
    file_of,
    files_in,
    packs_in,
    texts_of,
)

from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.runtime import Launch
from stretto.runtimes.logs import packs as packs_module
from stretto.runtimes.logs import sections
from stretto.runtimes.logs.files import LogFiles
from stretto.runtimes.logs.packs import Packs
from stretto.runtimes.logs.sections import PackIndex, run_in, title_of
from stretto.runtimes.logs.writing import opened

STEPS = 1_000


def inodes_in(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*"))


def bytes_in(folder: Path) -> int:
    """As the disk counts them."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


def launches(run: RunKey = RUN, count: int = STEPS) -> list[Launch]:
    return [Launch(AttemptKey(run, f"step{number}", 1), 5) for number in range(count)]


def iteration(number: int, step: str = "each") -> RunKey:
    return RunKey(inline_workflow_id(Loop.FOREACH, 7, "etl", 12, step, 12), number, 1)


# ------------------------------------------------------------------------------------------- inodes and bytes
def test_a_thousand_steps_of_a_run_take_a_handful_of_inodes(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for each in launches():
        files.write(each, "stdout", b"a line that a step prints\n")
        files.write(each, "stderr", b"and another one\n")
        files.end(each)
    assert inodes_in(tmp_path) <= 4
    assert bytes_in(tmp_path) <= STEPS * 300
    assert texts_of(files, launches()[-1].attempt) == ["a line that a step prints", "and another one"]


def test_steps_that_print_in_turns_take_no_more(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for text in (b"one\n", b"two\n"):
        for each in launches():
            files.write(each, "stdout", text)
    assert inodes_in(tmp_path) <= 4
    assert texts_of(files, launches()[0].attempt) == ["one", "two"]


def test_a_thousand_iterations_take_a_handful_of_inodes(tmp_path: Path) -> None:
    """Also those of loops in loops: each has a workflow of its own."""
    files = files_in(tmp_path)
    for number in range(1, STEPS + 1):
        files.write(Launch(AttemptKey(iteration(number), "send", 1), 5), "stdout", b"%d\n" % number)
        inner = iteration(1, f"inner{number}")
        files.write(Launch(AttemptKey(inner, "send", 1), 5), "stdout", b"inner %d\n" % number)
    assert inodes_in(tmp_path) <= 8
    assert texts_of(files, AttemptKey(iteration(777), "send", 1)) == ["777"]
    assert texts_of(files, AttemptKey(iteration(1, "inner777"), "send", 1)) == ["inner 777"]


def test_a_thousand_runs_take_one_inode_each(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for number in range(1, STEPS):
        for step in ("one", "two", "three"):
            launch = Launch(AttemptKey(RunKey("etl", number, 1), step, 1), 5)
            files.write(launch, "stdout", b"line\n")
            files.end(launch)
    assert inodes_in(tmp_path) <= STEPS + 2


# ------------------------------------------------------------------------------------------------- full packs
@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs_module, "FULL", 4 * KB)


@pytest.mark.usefixtures("small")
def test_a_full_pack_has_an_index_and_the_next_one_goes_on(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for text in (b"one\n", b"two\n", b"three\n"):
        for each in launches(count=50):
            files.write(each, "stdout", text)
    paths = packs_in(tmp_path)
    assert len(paths) > 2
    last = paths[0].read_bytes().splitlines()[-1]
    begin = int(last.removeprefix(b"# end "))
    assert paths[0].read_bytes()[begin:].startswith(b"# index\netl/12/1:step0/1 0 ")
    for each in launches(count=50):
        assert texts_of(files, each.attempt) == ["one", "two", "three"]


@pytest.mark.usefixtures("small")
def test_of_a_full_pack_only_what_its_index_names_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = files_in(tmp_path)
    for each in launches(count=100):
        files.write(each, "stdout", b"one\n")
    seen: list[int] = []
    monkeypatch.setattr(PackIndex, "_headers", lambda _self, lines: seen.append(len(lines)), raising=True)
    (full, *_) = packs_in(tmp_path)
    for number in (1, 7):
        index = PackIndex(full, title_of(launches()[number].attempt) + b" ")
        index.look()
        index.look()
    other = PackIndex(full, title_of(ATTEMPT) + b" ")
    other.look()
    assert len(seen) == 2
    assert sum(seen) < 300


@pytest.mark.usefixtures("small")
def test_an_index_that_can_not_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = files_in(tmp_path)

    def refuse(*_args: object) -> bytes:
        raise OSError("full")

    monkeypatch.setattr(packs_module, "index_of", refuse)
    for text in (b"one\n", b"two\n"):
        for each in launches(count=50):
            files.write(each, "stdout", text)
    assert len(packs_in(tmp_path)) > 1
    assert texts_of(files, launches()[3].attempt) == ["one", "two"]


def test_more_runs_than_are_known_begin_new_packs(tmp_path: Path) -> None:
    packs = Packs(tmp_path, "ab", opened, most_known=2)
    first = packs.of(RUN)
    assert packs.of(RUN) is first
    for number in (13, 14):
        packs.of(RunKey("etl", number, 1))
    assert packs.of(RUN) is not first


# ----------------------------------------------------------------------------------------------- large output
def test_what_is_large_has_files_of_its_own(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    for number in range(4_000):
        files.write(LAUNCH, "stdout", b"%06d%b\n" % (number, b"x" * 40))
        files.write(launches(count=1)[0], "stdout", b"x" if number % 1000 == 0 else b"")
    names = [path.name for path in file_of(tmp_path).parent.iterdir()]
    assert len(names) == 1
    assert names[0].startswith("1.5.0.w")
    (pack,) = packs_in(tmp_path)
    assert pack.stat().st_size < 70 * KB
    assert [int(text[:6]) for text in texts_of(files)] == list(range(4_000))
    shared = files.run_reading(RUN)
    reading = shared.reading(ATTEMPT)
    shared.look()
    seen = 0
    while lines := reading.more():
        seen += len(lines)
    assert seen == 4_000


def test_a_reader_that_looked_before_the_rest_was_written(tmp_path: Path) -> None:
    """The pack is complete when a file of the launch alone appears, and must not be left too early."""
    files = files_in(tmp_path)
    shared = files.run_reading(RUN)
    reading = shared.reading(ATTEMPT)
    files.write(LAUNCH, "stdout", b"first\n")
    shared.look()
    for number in range(4_000):
        files.write(LAUNCH, "stdout", b"%06d%b\n" % (number, b"x" * 40))
    lines = []
    while more := reading.more():
        lines += more
    assert [line.text[:6] for line in lines] == ["first", *(f"{number:06}" for number in range(4_000))]


# --------------------------------------------------------------------------------------- several processes
def test_two_processes_write_for_one_run_into_files_of_their_own(tmp_path: Path) -> None:
    one, two = files_in(tmp_path), files_in(tmp_path)
    for number in range(100):
        one.write(launches()[0], "stdout", b"one %d\n" % number)
        two.write(launches()[1], "stdout", b"two %d\n" % number)
    assert len(packs_in(tmp_path)) == 2
    assert texts_of(two, launches()[0].attempt) == [f"one {number}" for number in range(100)]
    assert texts_of(one, launches()[1].attempt) == [f"two {number}" for number in range(100)]


KILLED = """
import os, signal, sys
from pathlib import Path
from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.files import LogFiles

files = LogFiles(Path(sys.argv[1]), 1 << 20, lambda: 1_794_800_000_123)
launches = [Launch(AttemptKey(RunKey("etl", 12, 1), f"step{n}", 1), 5) for n in range(20)]
for number in range(5_000):
    files.write(launches[number % 20], "stdout", b"%d\\n" % number)
files.write(launches[0], "stdout", b"no line bre")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_printed_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)  # noqa: S603 - our own
    assert done.returncode == -signal.SIGKILL
    files = files_in(tmp_path)
    assert texts_of(files, launches()[0].attempt) == [*map(str, range(0, 5_000, 20)), "no line bre"]
    assert texts_of(files, launches()[19].attempt) == [*map(str, range(19, 5_000, 20))]


@pytest.mark.parametrize("cut", range(1, 80, 7))
def test_a_pack_that_ends_anywhere_is_read_up_to_there(tmp_path: Path, cut: int) -> None:
    files = files_in(tmp_path)
    for number, each in enumerate(launches(count=3)):
        files.write(each, "stdout", b"line %d\n" % number)
    (pack,) = packs_in(tmp_path)
    os.truncate(pack, pack.stat().st_size - cut)
    assert texts_of(files, launches()[0].attempt) == ["line 0"]
    texts = texts_of(files, launches()[2].attempt)
    assert texts in ([], [""]) or "line 2".startswith(texts[0]) or pack.read_text().endswith(texts[0])
    shared = files.run_reading(RUN)
    shared.look()
    assert [line.text for line in shared.reading(launches()[0].attempt).more()] == ["line 0"]


# ------------------------------------------------------------------------------------------------ odd content
def test_names_that_could_be_taken_for_something_else(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    steps = ["a", "a b", "a/1", "a\n# b", "\ud800", "ä", "a%20b"]
    keys = [AttemptKey(RunKey(f"wf {step}", 1, 1), step, 1) for step in steps]
    keys += [AttemptKey(RUN, step, 1) for step in steps]
    for number, key in enumerate(keys):
        files.write(Launch(key, 5), "stdout", b"# etl/12/1:a/1 5.0 0 0\n# end 0\n%d\n" % number)
    for number, key in enumerate(keys):
        assert texts_of(files, key)[2:] == [str(number)]
    for path in packs_in(tmp_path):
        run = run_in(path)
        assert run == RUN or run in {key.run for key in keys}


def test_a_pack_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.pack"
    assert run_in(path) is None
    path.write_bytes(b"# etl/12/1:load/1 what\nnothing\n# etl/12/1:other/1 5.0 0 0\nnothing\n")
    index = PackIndex(path, b"etl/12/1:")
    index.look()
    assert list(index.launches) == [b"etl/12/1:other/1"]
    path.write_bytes(b"nothing")
    assert run_in(path) is None
    assert PackIndex(path, b"").torn(b"") == b""


def test_a_pack_that_is_deleted_while_it_is_read(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    files.write(LAUNCH, "stdout", b"one\nhalf")
    reading = files.reading(ATTEMPT)
    assert [line.text for line in reading.more()] == ["one"]
    (path,) = packs_in(tmp_path)
    index = PackIndex(path, title_of(ATTEMPT) + b" ")
    index.look()
    files.write(LAUNCH, "stdout", b" more\n")
    assert index.torn(title_of(ATTEMPT)) == b""  # what came meanwhile is whole
    path.unlink()
    assert reading.more() == []
    assert [line.text for line in reading.rest()] == ["half"]
    index.look()
    assert index.torn(title_of(ATTEMPT)) == b""


def test_large_packs_are_read_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "READ_AT_ONCE", 200)
    files = files_in(tmp_path)
    for text in (b"one\n", b"two\n"):
        for each in launches(count=20):
            files.write(each, "stdout", text)
    assert texts_of(files, launches()[13].attempt) == ["one", "two"]


# ------------------------------------------------------------------------------------------------ old folders
def test_what_older_releases_have_written_is_read(tmp_path: Path) -> None:
    old = file_of(tmp_path)
    old.parent.mkdir(parents=True)
    old.write_bytes(b"2026-11-16T03:33:20.123Z stdout F one\n2026-11-16T03:33:20.123Z stdout P tw\n")
    (old.parent / "1.5.0.from6.log").write_bytes(b"2026-11-16T03:33:20.124Z stdout F o\n")
    files = LogFiles(tmp_path, 64 * KB, Clock().now)
    assert texts_of(files) == ["one", "two"]
    files.write(LAUNCH._replace(generation=6), "stdout", b"three\n")
    files.close()
    assert texts_of(files) == ["one", "two", "three"]

    async def follow() -> list[str]:
        lines = files.follow(ATTEMPT)
        return [(await anext(lines)).text for _ in range(3)]

    assert asyncio.run(follow()) == ["one", "two", "three"]
