"""Steps that turn against the processes which look after them: they stop, trace or kill their parents."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.flow_engine.stubborn import _begun, _flow

from stretto import step
from stretto.definition import parse_all
from stretto.model.workflow import Definition

GRANDPARENT = "$(cut -d ' ' -f 4 /proc/$$PPID/stat)"
TRACER = (
    "import ctypes, os, pathlib, sys, time; "
    "attached = ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), 0, 0) == 0; "
    "pathlib.Path(sys.argv[2]).write_text(str(attached)); "
    "time.sleep(300)"
)
SHELL = {
    "stops": "kill -STOP $$PPID",
    "stops its group": "kill -STOP -- -$$PPID",
    "stops it again and again": "(while :; do kill -STOP $$PPID; done) &",
    "stops it and its parent": f"kill -STOP {GRANDPARENT} $$PPID",
    "stops both again and again": f"parent={GRANDPARENT}; (while :; do kill -STOP $$PPID $$parent; done) &",
    "traces": (
        "setsid {python} -c '{tracer}' $$PPID {file}.traced & "
        "while ! [ -s {file}.traced ]; do sleep 0.01; done"
    ),
}


def attack(name: str, file: str, python: str) -> str:
    """A line of a script."""
    return SHELL[name].replace("{python}", python).replace("{tracer}", TRACER).replace("{file}", file)


SCRIPT = """
workflow:
  id: attacks
  steps:
    - step:
        id: attacks
        type: Shell
        timeout: {timeout}
        retry_policy: {{timeout_retry_limit: 0, platform_retry_limit: 0, error_retry_limit: 0}}
        params:
          script:
            type: STRING
            value: |
              setsid sleep 300 &
              away=$!
              {attack}
              echo "$$$$ $$away" > {file}.part; mv {file}.part {file}
              {then}
"""


def script(line: str, file: Path, *, timeout: int = 3_600, then: str = "sleep 300") -> Definition:
    (definition,) = parse_all(SCRIPT.format(attack=line, file=file, timeout=timeout, then=then))
    return definition


def _away() -> int:
    """A process that has left the group of its parent."""
    return subprocess.Popen(["sleep", "300"], start_new_session=True).pid  # noqa: S607 - wherever it is


@step(isolation="process")
def stops_parent(file: str) -> None:
    pid = _away()
    os.kill(os.getppid(), signal.SIGSTOP)
    _begun(file, pid)
    time.sleep(300)


@step(isolation="process")
def stops_itself(file: str) -> None:
    pid = _away()
    _begun(file, pid)
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(300)


WORK: dict[str, Any] = {"stops_parent": stops_parent, "stops_itself": stops_itself}
ATTACKS = {name: _flow(f"{name}_attack", work) for name, work in WORK.items()}
LIMITED_ATTACKS = {
    name: _flow(f"{name}_attack_limited", work.with_options(timeout=4, timeout_retries=0))
    for name, work in WORK.items()
}
