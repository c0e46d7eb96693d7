"""Ends the processes of steps when this process dies without a chance to do so: a kill -9, no memory left.

A small shell holds the other end of a pipe. It is told of each process group; when the pipe closes, whatever
the reason, it ends the groups that are left.
"""

from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen
from typing import Final

GRACE: Final = 5  # seconds between the request to end and the end
SCRIPT: Final = f"""
trap '' HUP INT TERM
groups=' '
while read -r sign group; do
    case $sign in
        +) groups="$groups$group " ;;
        -) case $groups in *" $group "*) groups="${{groups%% $group *}} ${{groups#* $group }}" ;; esac ;;
    esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group"; done
sleep {GRACE}
for group in $groups; do kill -s KILL -- "-$group"; done
"""


class Watchdog:
    """Started with the first group, in a session of its own: what ends us must not end it."""

    def __init__(self) -> None:
        self._process: Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """End this group if we die."""
        self._tell(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """The group has ended."""
        self._tell(f"- {group}\n")

    def close(self) -> None:
        """Nothing is left to watch. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None  # noqa: S101 - it was asked for
            with suppress(OSError):
                process.stdin.close()
            process.wait()

    def _tell(self, line: str) -> None:
        if self._process is None:
            self._process = Popen(  # noqa: S603 - our own
                ["/bin/sh", "-c", SCRIPT],
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=DEVNULL,
                start_new_session=True,
            )
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        with suppress(OSError):  # somebody killed it: then nobody watches, and all else goes on
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
