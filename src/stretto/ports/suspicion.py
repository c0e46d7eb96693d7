"""What a careful owner of a flow group was about to touch when it died, and how often that has happened.

One death proves little: whoever ends a process from outside hits something at random. What owners were at
each time they died is set aside.
"""

from typing import Final

import msgspec

from stretto.engine.records import RunKey

DEATHS_TO_BE_GUILTY: Final = 3
MOST_ACCUSED: Final = 16  # of a group; those that were met longest ago are forgotten first

Suspect = RunKey | int  # a run, or the id of a message


class Accused(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an owner was at when it died."""

    what: Suspect
    deaths: int


class Suspicion(msgspec.Struct, frozen=True, kw_only=True):
    """Of one group, since an owner held it in peace."""

    suspect: Suspect | None = None  # what the owner is about to touch
    accused: tuple[Accused, ...] = ()

    def noting(self, suspect: Suspect | None) -> "Suspicion":
        """The owner turns to something else; with None it says that the last one did no harm."""
        innocent = self.suspect if suspect is None else None
        accused = tuple(each for each in self.accused if each.what != innocent)
        return Suspicion(suspect=suspect, accused=accused)

    def after_a_death(self) -> "Suspicion":
        """The owner has died: what it was at is accused once more, or set aside, and then forgotten here."""
        if self.suspect is None:
            return self
        others = tuple(each for each in self.accused if each.what != self.suspect)
        if self.guilty is not None:
            return Suspicion(accused=others)
        accused = Accused(what=self.suspect, deaths=self._deaths + 1)
        return Suspicion(accused=(*others, accused)[-MOST_ACCUSED:])

    @property
    def guilty(self) -> Suspect | None:
        """What is to be set aside, should the owner die now."""
        return self.suspect if self._deaths + 1 >= DEATHS_TO_BE_GUILTY else None

    @property
    def _deaths(self) -> int:
        return next((each.deaths for each in self.accused if each.what == self.suspect), 0)


NONE: Final = Suspicion()
