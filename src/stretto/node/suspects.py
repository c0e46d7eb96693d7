"""Where owners kept dying, the next one notes what it is about to touch; if it dies, that is set aside."""

from stretto.node.asks import NoteSuspect
from stretto.node.desk import Desk
from stretto.node.group import Group
from stretto.ports.groups import Suspect


def is_noted(desk: Desk, group: Group, suspect: Suspect) -> bool:
    """Whether something may be touched. If not yet, it is noted, and may be later."""
    if not group.careful or group.suspect == suspect:
        return True
    if not group.noting:
        group.noting = True

        def then(_answer: object) -> None:
            group.noting = False
            group.suspect = suspect

        def otherwise(_error: Exception) -> None:
            group.noting = False

        desk.insist(NoteSuspect(lease=group.lease, suspect=suspect), then, otherwise)
    return False
