"""Become the owner of a workflow, or hand it to somebody else."""

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.changing import change_properties
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.user import User
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def claim_ownership(
    store: Store, caller: Caller, workflow_id: str, owner: User | None = None, *, hints: Hints = SILENT
) -> PropertiesSnapshot:
    """The new owner is the caller, or who is named. An admin or the owner may do it; a workflow that has no
    owner can be claimed by any author.
    """
    new = owner or caller.user

    def rule(_found: Found, before: PropertiesSnapshot) -> Properties:
        return msgspec.structs.replace(before, owner=new)

    return await change_properties(
        store, caller, workflow_id, f"Changed the owner to [{new.name}]", rule, hints=hints
    )
