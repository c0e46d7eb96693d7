"""What an owner of a flow group was doing when it died, and how often that has happened.

An owner of a group in which an owner died before notes, in the store, what it is about to do: read a run,
decide one event of it, or deal with a message. It withdraws the note as soon as that has returned. A death
accuses what is noted at that moment, and nothing else.

One such death proves little: a process that is killed from outside may be doing anything. An accusation
therefore names the exact operation, and ends as soon as that operation has returned once. All accusations
end when an owner dies that had noted nothing: something else kills owners here. Only an operation that never
returned, and that three owners died of while no other died without a note, is guilty.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from stretto.engine.records import RunKey

DEATHS_TO_BE_GUILTY: Final = 3
REASON: Final = f"{DEATHS_TO_BE_GUILTY} nodes in a row died while they handled it"
MOST_NOTED: Final = 16  # in one group at a time
MOST_ACCUSED: Final = 64  # of a group; those of the fewest deaths are forgotten first, then the oldest


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """One operation of an owner."""

    what: RunKey | int  # a run, or the id of a message
    at: str = ""  # what is done with it: the same words each time that the same is done


class Accused(msgspec.Struct, frozen=True, kw_only=True):
    """An operation during which owners died. It has not returned since."""

    what: RunKey | int
    at: str = ""
    deaths: int

    @property
    def suspect(self) -> Suspect:
        return Suspect(what=self.what, at=self.at)


class Suspicion(msgspec.Struct, frozen=True, kw_only=True):
    """Of one group, since an owner held it in peace."""

    noted: tuple[Suspect, ...] = ()  # what the owner is about to do, or does
    accused: tuple[Accused, ...] = ()

    def noting(self, suspects: Iterable[Suspect]) -> "Suspicion":
        """The owner turns to something else. What it had noted before has returned, and is innocent."""
        noted = tuple(suspects)
        returned = set(self.noted).difference(noted)
        return Suspicion(
            noted=noted, accused=tuple(each for each in self.accused if each.suspect not in returned)
        )

    def after_a_death(self) -> "Suspicion":
        """The owner has died: what it had noted is accused once more. What is guilty is set aside, and not
        accused any more.
        """
        aside = set(self.guilty)
        others = [each for each in self.accused if each.suspect not in self.noted]
        again = [
            Accused(what=each.what, at=each.at, deaths=self.deaths(each) + 1)
            for each in dict.fromkeys(self.noted)
        ]
        accused = [each for each in (*others, *again) if each.what not in aside]
        kept = sorted(range(len(accused)), key=lambda i: (accused[i].deaths, i))[-MOST_ACCUSED:]
        return Suspicion(accused=tuple(accused[i] for i in sorted(kept)))

    def after_a_leave(self) -> "Suspicion":
        """The owner has left in order: nobody died of what it had noted."""
        return self.noting(())

    @property
    def guilty(self) -> tuple[RunKey | int, ...]:
        """The runs and messages to be set aside, should the owner die now."""
        found = (each.what for each in self.noted if self.deaths(each) + 1 >= DEATHS_TO_BE_GUILTY)
        return tuple(dict.fromkeys(found))

    def deaths(self, suspect: Suspect) -> int:
        """How many owners in a row died of something."""
        return next((each.deaths for each in self.accused if each.suspect == suspect), 0)


NONE: Final = Suspicion()


def after_a_death(groups: Sequence[Suspicion]) -> list[Suspicion]:
    """Of all groups of an owner that has died. If nothing was noted in any of them, nothing that is noted
    first has killed it: what was accused before may have been as innocent.
    """
    if not any(each.noted for each in groups):
        return [NONE] * len(groups)
    return [each.after_a_death() for each in groups]
