"""Where owners kept dying, the next one notes what it is about to touch; if it dies, that is set aside.

What was touched and did no harm for a while is innocent: its note is taken back, so that an owner who is
killed from outside while nothing happens sets nothing aside.
"""

from typing import Final

from stretto.node.asks import NoteSuspect
from stretto.node.desk import Desk
from stretto.node.group import Group
from stretto.ports.suspicion import Suspect

INNOCENT_AFTER: Final = 1_000  # milliseconds


def is_noted(desk: Desk, group: Group, suspect: Suspect) -> bool:
    """Whether something may be touched. If not yet, it is noted, and may be later."""
    if not group.careful:
        return True
    if group.suspect == suspect:
        group.touched = desk.steady()
        return True
    _note(desk, group, suspect)
    return False


def _note(desk: Desk, group: Group, suspect: Suspect | None) -> None:
    if group.noting:
        return
    group.noting = True

    def then(_answer: object) -> None:
        group.noting = False
        group.suspect = suspect
        if suspect is not None:
            group.touched = desk.steady()
            desk.after(INNOCENT_AFTER, lambda: _look(desk, group, suspect))

    def otherwise(_error: Exception) -> None:
        group.noting = False

    desk.insist(NoteSuspect(lease=group.lease, suspect=suspect), then, otherwise)


def _look(desk: Desk, group: Group, suspect: Suspect) -> None:
    """Whether it is innocent by now. A group that was given up may not be written to, and says so."""
    if group.suspect != suspect:
        return
    left = INNOCENT_AFTER - round((desk.steady() - group.touched) * 1_000)
    if left > 0:
        desk.after(left, lambda: _look(desk, group, suspect))
    else:
        _note(desk, group, None)
