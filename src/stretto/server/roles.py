"""What a process of a server does."""

from collections.abc import Iterable
from typing import Final

from stretto.model.errors import InvalidRequest
from stretto.model.suggest import did_you_mean

API: Final = "api"
ENGINE: Final = "engine"
SCHEDULER: Final = "scheduler"
ROLES: Final = (API, ENGINE, SCHEDULER)


def checked_roles(names: Iterable[str]) -> frozenset[str]:
    """The roles of these names. Schedules are looked after by the owners of flow groups, so a process has
    both of the last two roles or none.
    """
    chosen = frozenset(each.strip().lower() for each in names if each.strip())
    for each in sorted(chosen - set(ROLES)):
        hint = did_you_mean(each, ROLES) or f"one of {', '.join(ROLES)}"
        raise InvalidRequest(f"`{each}` is not a role; {hint}")
    if not chosen:
        raise InvalidRequest(f"name at least one of {', '.join(ROLES)}")
    if (ENGINE in chosen) is not (SCHEDULER in chosen):
        raise InvalidRequest(
            f"{ENGINE} and {SCHEDULER} go together: who owns a flow group fires its triggers"
        )
    return chosen
