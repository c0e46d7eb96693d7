"""Which process a node is, and whether that one is gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stretto.node import process
from stretto.node.process import is_gone, own_address

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began")


@LINUX
def test_this_process_is_here() -> None:
    assert f"/{os.getpid()}/" in own_address()
    assert not is_gone(own_address())


@LINUX
def test_a_process_that_has_ended_is_gone() -> None:
    code = "from stretto.node.process import own_address; print(own_address())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603
    assert is_gone(done.stdout.strip())


@LINUX
def test_another_process_with_the_same_number_is_not_the_one_that_is_gone() -> None:
    host, pid, _began, world = own_address().split("/", 3)
    assert is_gone(f"{host}/{pid}/1/{world}")


@LINUX
def test_a_zombie_is_gone() -> None:
    code = "from stretto.node.process import own_address; print(own_address(), flush=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert process.stdout is not None
    said = process.stdout.read().strip()  # it has ended, and nobody has waited for it
    process.stdout.close()
    while "Z" not in Path(f"/proc/{process.pid}/stat").read_text():
        pass
    assert is_gone(said)
    process.wait()


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "host",
        "host/12",
        "10.0.0.1:8080",
        "host/12/34/another-boot/pid:[1]",
        "host/x/34/world",
    ],
)
def test_of_others_nobody_knows(text: str | None) -> None:
    assert not is_gone(text)


def test_a_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(process, "_BOOT", tmp_path / "none")
    assert own_address().endswith(f"/{os.getpid()}")
    assert not is_gone(own_address())
