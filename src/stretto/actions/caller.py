"""Who asks."""

import msgspec

from stretto.model.user import User
from stretto.model.words import Word


class Role(Word):
    """What somebody may do in general; access control of a workflow is beside it."""

    VIEWER = "VIEWER"
    RUNNER = "RUNNER"
    AUTHOR = "AUTHOR"
    ADMIN = "ADMIN"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """A user as the door knows them. Where nobody is authenticated, everybody has all roles."""

    user: User
    roles: frozenset[Role] = frozenset(Role)
    reason: str = ""  # why they ask, for those who read of it later

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def because(self) -> str:
        """Their reason as the end of a sentence; empty, if they gave none."""
        return f": {self.reason}" if self.reason else ""
