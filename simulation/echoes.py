"""Letters that come again, although they were dealt with: whoever sent them did not hear that they arrived.

An action of a user is another one if it comes again, a line for the change log is written again, and a launch
that is sent to a node is work done again: senders of these know whether they were stored. What started a run
does not come again after that run is forgotten: it is told by the run that it was dealt with, and nobody
repeats himself for as long as runs are kept.
"""

from typing import Final

from simulation.watch import Touched
from stretto.ports.messages import OUTCOME_KINDS, Fire, Kind, Letter

TWICE: Final = frozenset(Kind) - OUTCOME_KINDS - {Kind.LOG, Kind.START}


class Echoes:
    """All letters of a world that may come again."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []

    def seen(self, touched: Touched) -> None:
        for _, before, after in touched.of("messages"):
            if before is None and after is not None and after.body.kind in TWICE:
                letter = Letter(
                    ref=after.ref, body=after.body, to_group=after.to_group, to_node=after.to_node
                )
                self._letters.append(letter)
        for key, _, after in touched.of("runs"):
            if after is None:
                self._letters = [each for each in self._letters if not _starts(each, key.workflow_id)]

    def one(self, pick: int) -> Letter | None:
        return self._letters[pick % len(self._letters)] if self._letters else None


def _starts(letter: Letter, workflow_id: str) -> bool:
    return isinstance(letter.body, Fire) and letter.body.workflow_id == workflow_id
