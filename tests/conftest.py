"""What holds for all tests: without the corpora the conformance tests are left out, and one line says so."""

import gc
import os
import signal
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests import waiting

CONFORMANCE = Path(__file__).parent / "conformance"
DATA = Path(__file__).parents[2] / "shared" / "data"
MISSING = not DATA.is_dir()

# How long an example takes says something of the machine, not of the code.
settings.register_profile(
    "unhurried", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


def pytest_configure() -> None:
    # What a person has set for their own use is no part of any test, nor of the programs that tests start.
    for name in [each for each in os.environ if each.startswith("STRETTO_")]:
        del os.environ[name]
    os.environ.pop("COLUMNS", None)  # how wide somebody's terminal is; pytest tells it to its workers
    # A shell without job control starts what is in the background deaf to Ctrl-C, which some tests send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if MISSING and os.environ.get("CI"):
        message = (
            "../shared/data is not beside the repository; in CI the conformance tests can not be left out"
        )
        raise pytest.UsageError(message)


@pytest.fixture
def at_most(request: pytest.FixtureRequest) -> Callable[[float], AbstractContextManager[None]]:
    """A bound in seconds on a block. A busy machine exceeds any, so only `make prove` judges it."""
    return waiting.at_most if "timed" in request.config.option.markexpr else lambda _seconds: nullcontext()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "at_most" in getattr(item, "fixturenames", ()):
            item.add_marker("timed")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if MISSING and collection_path == CONFORMANCE else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end, so that the collector of cycles never looks through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def time_by_folder(terminalreporter: pytest.TerminalReporter) -> dict[str, tuple[float, int]]:
    """Seconds of all workers together, and tests, of each folder in `tests`."""
    found: dict[str, tuple[float, int]] = {}
    for reports in terminalreporter.stats.values():
        for each in reports:
            if isinstance(each, pytest.TestReport):
                folder = "/".join(Path(each.nodeid.partition("::")[0]).parent.parts[:2])
                seconds, count = found.get(folder, (0.0, 0))
                found[folder] = seconds + each.duration, count + (each.when == "call")
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    report = os.environ.get("FAILED_TESTS")  # scripts/ci_tests.py runs them again
    if report:
        failed = (*terminalreporter.getreports("failed"), *terminalreporter.getreports("error"))
        names = dict.fromkeys(each.nodeid for each in failed)
        Path(report).write_text("".join(f"{name}\n" for name in names))
        for folder, (seconds, count) in sorted(time_by_folder(terminalreporter).items()):
            terminalreporter.write_line(f"{folder}: {seconds:.0f} s, {count} tests")
    if MISSING:
        terminalreporter.write_line(
            "SKIPPED tests/conformance: ../shared/data is not beside the repository", yellow=True
        )
