"""Run the tests as CI does: `python -m scripts.ci_tests [pytest arguments]`.

A test that fails is run once more, alone and in series. If it passes then, it is flaky: the run goes on, and
the last lines name it, so that it gets mended. More than a few failures fail the run at once; so does a test
that `tests/flaky.txt` lists, because it was excused before, and a test of what must not depend on luck.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

MOST_RERUN: Final = 3
NEVER_RERUN: Final = frozenset({"ports", "simulation", "chaos", "node"})  # folders of tests, at any depth
KNOWN: Final = Path("tests/flaky.txt")
REPORT: Final = "FAILED_TESTS"  # names the file into which tests/conftest.py writes what failed
FLAKY: Final = "FLAKY_TESTS"  # names the file that .ci/run prints at its end
PYTEST: Final = (sys.executable, "-m", "coverage", "run", "-m", "pytest")
FAILURES: Final = 1  # pytest's exit code if tests failed, and nothing else went wrong


def refusal(failed: Sequence[str], known: Collection[str], most: int = MOST_RERUN) -> str | None:
    """Why the failures are not tried again; None if they are."""
    if not failed:
        return "pytest failed, and no test did"
    if len(failed) > most:
        return f"{len(failed)} tests failed; at most {most} are run again"
    strict = [name for name in failed if NEVER_RERUN.intersection(name.partition("::")[0].split("/"))]
    if strict:
        return f"{strict[0]} must never fail"
    again = [name for name in failed if name in known]
    return f"{again[0]} was flaky before ({KNOWN})" if again else None


def run_tests(arguments: Sequence[str], known: Collection[str]) -> tuple[int, list[str]]:
    """The exit code, and the tests that failed once and then passed."""
    code, failed = _pytest(arguments)
    if code != FAILURES:
        return code, []
    reason = refusal(failed, known)
    if reason is not None:
        print(f"not run again: {reason}", flush=True)
        return code, []
    print(f"running {len(failed)} failed tests again, alone", flush=True)
    code, _ = _pytest(["-n", "0", *failed])
    return code, ([] if code else failed)


def _pytest(arguments: Sequence[str]) -> tuple[int, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "failed")
        environment = {**os.environ, REPORT: str(report)}
        command = [*PYTEST, *arguments]
        code = subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 - our own tests
        return code, report.read_text().splitlines() if report.exists() else []


def main() -> int:
    known = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    code, flaky = run_tests(sys.argv[1:], known)
    lines = [f"flaky: {name}" for name in flaky]
    print(*lines, sep="\n")
    if FLAKY in os.environ:
        with Path(os.environ[FLAKY]).open("a") as file:  # CI runs tests on two versions of Python
            file.writelines(f"{line}\n" for line in lines)
    return code


if __name__ == "__main__":
    sys.exit(main())
