"""What a process of `stretto serve` does."""

from typing import Final

import click

from stretto.model.suggest import did_you_mean

API: Final = "api"
ENGINE: Final = "engine"
SCHEDULER: Final = "scheduler"
ROLES: Final = (API, ENGINE, SCHEDULER)


def roles_in(text: str) -> frozenset[str]:
    """The roles that a text names. Schedules are looked after by the owners of flow groups, so a process has
    both of the last two roles or none.
    """
    chosen = frozenset(each.strip().lower() for each in text.split(",") if each.strip())
    for each in sorted(chosen - set(ROLES)):
        hint = did_you_mean(each, ROLES) or f"one of {', '.join(ROLES)}"
        raise click.BadParameter(f"`{each}` is not a role; {hint}", param_hint="--role")
    if not chosen:
        raise click.BadParameter(f"name at least one of {', '.join(ROLES)}", param_hint="--role")
    if (ENGINE in chosen) is not (SCHEDULER in chosen):
        raise click.BadParameter(
            f"{ENGINE} and {SCHEDULER} go together: who owns a flow group fires its triggers",
            param_hint="--role",
        )
    return chosen
