"""Who may do what to a workflow: one rule, asked by every action.

    admin, owner       everything
    everybody else     what a role of theirs allows, and the lists of the workflow do not keep to others

A list that is empty keeps nothing to anybody. Who stands on a stronger list stands on the weaker ones, too:
authors may run and see, runners may see.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stretto.actions.caller import Caller, Role
from stretto.engine.inline_ids import is_inline
from stretto.model.errors import Forbidden
from stretto.model.properties import AccessControl, Properties
from stretto.model.words import Word
from stretto.ports.paging import Cut
from stretto.ports.run_snapshot import InstancePage
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow


class Right(Word):
    """What somebody wants to do to a workflow, and the verb for it."""

    VIEW = "see"
    RUN = "run"
    CHANGE = "change"


# Each role allows what those before it do; so do the lists of a workflow.
ROLES: Final = (Role.VIEWER, Role.RUNNER, Role.AUTHOR, Role.ADMIN)
RIGHTS: Final = tuple(Right)
LISTS: Final[Mapping[Right, str]] = {Right.VIEW: "viewers", Right.RUN: "runners", Right.CHANGE: "authors"}
ROLE_PREFIX: Final = "role:"
NOBODY: Final = AccessControl()


def has_role(caller: Caller, role: Role) -> bool:
    """Whether somebody has a role, or a stronger one."""
    return not caller.roles.isdisjoint(ROLES[ROLES.index(role) :])


def may(caller: Caller, right: Right, properties: Properties | None) -> bool:
    """Whether somebody may do something to a workflow; None: there is none yet."""
    return _why_not(caller, right, properties) is None


def check_may(caller: Caller, right: Right, workflow_id: str, properties: Properties | None) -> None:
    """Raise `Forbidden`, with who may, if the caller may not."""
    reason = _why_not(caller, right, properties)
    if reason is not None:
        owner = properties.owner if properties is not None else None
        raise Forbidden(
            f"User [{caller.name}] may not {right} workflow [{workflow_id}]: {reason}",
            hint="ask an admin" if owner is None else f"ask the owner [{owner.name}] or an admin",
        )


def check_role(caller: Caller, role: Role, what: str) -> None:
    """Raise `Forbidden` if the caller lacks the role for something that belongs to no workflow."""
    if not has_role(caller, role):
        raise Forbidden(
            f"User [{caller.name}] may not {what}: that takes the role [{role}]", hint="ask an admin"
        )


async def check_access(store: Store, caller: Caller, right: Right, workflow_id: str) -> None:
    """The same for a workflow that has not been read; an iteration belongs to the workflow around its loop.

    Nothing is known of one that is not there: whoever goes on will say so.
    """
    if has_role(caller, Role.ADMIN):
        return
    home = workflow_id
    if is_inline(workflow_id):
        page = await store.runs(InstancePage(workflow_id, Cut(most=1)))
        home = page.elements[0].root.workflow_id if page.elements else workflow_id
    row = await read_workflow(store, home)
    check_may(caller, right, home, None if row is None else row.properties)


async def check_assigned(store: Store, caller: Caller, workflow_id: str, assignees: Sequence[str]) -> None:
    """Raise `Forbidden` if a question is for others; admins and the owner answer everything."""
    if not assignees or any(is_named(caller, entry) for entry in assignees):
        return
    if not await is_privileged(store, caller, workflow_id):
        names = ", ".join(f"[{entry}]" for entry in assignees)
        raise Forbidden(
            f"User [{caller.name}] may not answer: that is for {names}",
            hint="ask one of them, the owner or an admin",
        )


async def is_privileged(store: Store, caller: Caller, workflow_id: str) -> bool:
    """Whether somebody may answer every question of a workflow: admins and its owner may."""
    if has_role(caller, Role.ADMIN):
        return True
    row = await read_workflow(store, workflow_id)
    owner = None if row is None else row.properties.owner
    return owner is not None and owner.name == caller.name


def _why_not(caller: Caller, right: Right, properties: Properties | None) -> str | None:
    """What stands in the way."""
    owner = None if properties is None else properties.owner
    if has_role(caller, Role.ADMIN) or (owner is not None and owner.name == caller.name):
        return None
    role = ROLES[RIGHTS.index(right)]
    if not has_role(caller, role):
        return f"that takes the role [{role}]"
    control = (None if properties is None else properties.access_control) or NOBODY
    if not getattr(control, LISTS[right]):
        return None
    names = [LISTS[each] for each in RIGHTS[RIGHTS.index(right) :]]
    allowed = {entry: None for name in names for entry in getattr(control, name)}
    if any(is_named(caller, entry) for entry in allowed):
        return None
    return f"it is for {', '.join(f'[{entry}]' for entry in allowed)}"


def is_named(caller: Caller, entry: str) -> bool:
    """By name, or by `role:x` with one of their roles."""
    if not entry.startswith(ROLE_PREFIX):
        return entry == caller.name
    name = entry.removeprefix(ROLE_PREFIX).upper()
    return any(role.value == name and has_role(caller, role) for role in ROLES)


def names_of(caller: Caller) -> tuple[str, ...]:
    """All that `is_named` takes for the caller, with names of roles in capitals."""
    return (caller.name, *(f"{ROLE_PREFIX}{role.value}" for role in ROLES if has_role(caller, role)))
