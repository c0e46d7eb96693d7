"""What functions print in this process reaches the log of their step, and the program as before."""

import asyncio
import io
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.logs import Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.python import output
from stretto.runtimes.python.output import RoutedStream, StepOutput, routed_output, unrouted

ONE = Launch(AttemptKey(RunKey("etl", 1, 1), "one", 1), 1, 0)
TWO = Launch(AttemptKey(RunKey("etl", 1, 1), "two", 1), 1, 0)


class Kept:
    """A sink that keeps all, and counts how often it is called."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], str] = {}
        self.calls = 0

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        assert threading.current_thread() is threading.main_thread()
        self.calls += 1
        key = launch.attempt.step_id, stream
        self.texts[key] = self.texts.get(key, "") + data.decode()

    def end(self, launch: Launch) -> None:
        """Nothing is open."""


Seen = pytest.CaptureFixture[str]


def is_routed() -> bool:
    return RoutedStream in {type(sys.stdout), type(sys.stderr)}


@pytest.fixture(autouse=True)
def streams() -> Iterator[None]:
    yield
    assert not is_routed()


def printed(work: Callable[[], Any], launch: Launch = ONE) -> Kept:
    """What is kept of something that runs in a thread."""
    kept = Kept()

    async def main() -> None:
        step = StepOutput(launch, kept)
        with step.around():
            await asyncio.to_thread(work)
        step.close()

    with routed_output():
        asyncio.run(main())
    return kept


def test_prints_of_a_thread_are_kept_and_seen(capsys: Seen) -> None:
    def work() -> None:
        print("a", 1)  # noqa: T201
        sys.stdout.write("b\n")
        sys.stdout.writelines(["c\n", "d\n"])
        print("e", file=sys.stderr)  # noqa: T201
        assert logging.lastResort is not None
        logging.lastResort.handle(logging.makeLogRecord({"msg": "f"}))  # as of who configured nothing
        sys.stdout.buffer.write(b"g\n")
        sys.stdout.flush()

    kept = printed(work)
    assert kept.texts == {("one", "stdout"): "a 1\nb\nc\nd\ng\n", ("one", "stderr"): "e\nf\n"}
    assert capsys.readouterr() == ("a 1\nb\nc\nd\ng\n", "e\nf\n")


def test_handlers_that_were_made_while_it_is_routed_are_kept(capsys: Seen) -> None:
    def work() -> None:
        log.info("known")

    log = logging.getLogger("tests.own")
    with routed_output():
        log.setLevel(logging.INFO)
        log.propagate = False
        log.addHandler(logging.StreamHandler())
        assert printed(work).texts == {("one", "stderr"): "known\n"}
    assert capsys.readouterr().err == "known\n"


def test_who_prints_at_once_prints_into_logs_of_their_own() -> None:
    kept = Kept()

    async def speak(launch: Launch) -> None:
        step = StepOutput(launch, kept)
        with step.around():
            for number in range(3):
                print(launch.attempt.step_id, number)  # noqa: T201
                await asyncio.sleep(0)
                await asyncio.create_task(asyncio.to_thread(print, "below"))
        step.close()

    async def main() -> None:
        await asyncio.gather(speak(ONE), speak(TWO))
        print("nobody's")  # noqa: T201

    with routed_output():
        asyncio.run(main())
    assert kept.texts == {
        (each, "stdout"): "".join(f"{each} {number}\nbelow\n" for number in range(3))
        for each in ("one", "two")
    }


def test_what_is_kept_in_another_way_is_not_kept_twice() -> None:
    def work() -> None:
        with unrouted():
            print("elsewhere")  # noqa: T201

    assert printed(work).texts == {}


def test_a_function_that_prints_nothing_costs_no_write_and_wakes_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, woken = Kept(), []

    async def main() -> None:
        step = StepOutput(ONE, kept)
        monkeypatch.setattr(
            asyncio.get_running_loop(), "call_soon_threadsafe", lambda *given, **_: woken.append(given)
        )
        with step.around():
            pass
        step.close()

    asyncio.run(main())
    assert (kept.calls, woken) == (0, [])


def test_many_small_prints_are_written_together() -> None:
    def work() -> None:
        for number in range(10_000):
            print(number)  # noqa: T201

    kept = printed(work)
    assert kept.texts["one", "stdout"].count("\n") == 10_000
    assert kept.calls < 10_000


def test_a_thread_that_prints_faster_than_can_be_stored_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MOST_WAITING", 100)
    most = 0

    def work() -> None:
        for _ in range(1_000):
            sys.stdout.write("x" * 50)

    class Small(Kept):
        def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
            nonlocal most
            most = max(most, len(data))
            super().write(launch, stream, data)

    kept = Small()

    async def main() -> None:
        step = StepOutput(ONE, kept)
        with step.around():
            await asyncio.to_thread(work)
        step.close()

    with routed_output():
        asyncio.run(main())
    assert len(kept.texts["one", "stdout"]) == 50_000
    assert most <= 150


def test_what_can_not_be_stored_in_time_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MOST_WAITING", 100)
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    kept = Kept()

    async def main() -> None:
        step = StepOutput(ONE, kept)

        def work() -> None:
            with step.around():
                for _ in range(10):
                    sys.stdout.write("x" * 50)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()  # this event loop does nothing else meanwhile
        await asyncio.sleep(0)
        step.close()

    with routed_output():
        asyncio.run(main())
    assert kept.texts == {("one", "stdout"): "x" * 100, ("one", "stderr"): "(400 bytes were left out here)\n"}


def test_what_a_thread_prints_that_was_left_behind_is_not_kept(capsys: Seen) -> None:
    kept = Kept()

    async def main() -> None:
        step = StepOutput(ONE, kept)
        with step.around():
            step.close()
            await asyncio.to_thread(print, "late")

    with routed_output():
        asyncio.run(main())
    assert (kept.texts, capsys.readouterr().out) == ({}, "late\n")


def test_streams_are_put_back_with_the_last_who_wants_them() -> None:
    program = sys.stdout
    first, second = routed_output(), routed_output()
    first.__enter__()
    second.__enter__()
    assert is_routed()
    assert vars(sys.stdout)["program"] is program
    first.__exit__(None, None, None)
    assert is_routed()
    second.__exit__(None, None, None)
    assert sys.stdout is program


def test_somebody_else_s_stream_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    own = io.StringIO()
    with routed_output():
        ours = sys.stdout
        sys.stdout = own
    assert sys.stdout is own
    monkeypatch.setattr(sys, "stdout", vars(ours)["program"])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)  # as of a program without a console
        with routed_output():
            assert sys.stderr is None


def test_a_routed_stream_answers_as_that_of_the_program() -> None:
    with routed_output():
        assert sys.stdout.isatty() is False
        assert sys.stdout.buffer.writable()
        with pytest.raises(TypeError):
            sys.stdout.write(b"bytes")  # type: ignore[arg-type]
