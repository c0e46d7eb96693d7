"""How properties change: what a push and an update make of those that were there, and who may."""

from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import has_role
from stretto.model.errors import Forbidden, InvalidRequest
from stretto.model.properties import Properties, PropertiesSnapshot, PropertiesUpdate, RunStrategy
from stretto.ports.workflows import Found
from stretto.strategies import check_change

RESET_BY_PUSH: Final = ("run_strategy", "step_concurrency", "alerting")


def pushed(before: PropertiesSnapshot | None, given: Properties) -> Properties:
    """After a push: what it does not name stays, but for three properties that then go back to unset. An
    empty list of tags names nothing: tags are taken off one by one.
    """
    given = msgspec.structs.replace(given, tags=given.tags or None)
    if before is None:
        return given
    unset = {name: getattr(given, name) for name in RESET_BY_PUSH}
    return msgspec.structs.replace(_overlaid(before, given), **unset)


def updated(before: PropertiesSnapshot, update: PropertiesUpdate) -> Properties:
    """After an update: what it does not name stays; a reset sets back to unset."""
    _check_resets(update)
    after = _overlaid(before, update)
    if update.reset_step_concurrency:
        after = msgspec.structs.replace(after, step_concurrency=None)
    if update.reset_run_strategy_rule:
        return msgspec.structs.replace(after, run_strategy=None)
    if update.reset_workflow_concurrency and after.run_strategy is not None:
        # The default of the rule: only PARALLEL can have had another one.
        return msgspec.structs.replace(after, run_strategy=RunStrategy(rule=after.run_strategy.rule))
    return after


def snapshot_of(after: Properties, workflow_id: str, caller: Caller, now: int) -> PropertiesSnapshot:
    """The record that holds from now on."""
    values = {name: getattr(after, name) for name in Properties.__struct_fields__}
    return PropertiesSnapshot(workflow_id=workflow_id, create_time=now, author=caller.user, **values)


def check_owner(caller: Caller, before: PropertiesSnapshot | None, after: Properties) -> None:
    """A workflow is handed over by its owner or an admin; one without an owner goes to whoever may change it.

    Asked after `access.check_may`.
    """
    if before is None or before.owner is None or before.owner == after.owner:
        return
    if not has_role(caller, Role.ADMIN) and before.owner.name != caller.name:
        raise Forbidden(
            f"User [{caller.name}] may not hand over workflow [{before.workflow_id}]",
            hint=f"ask the owner [{before.owner.name}] or an admin",
        )


def check_strategy(found: Found, after: RunStrategy | None) -> None:
    """A given strategy must be able to go on with the runs that are there."""
    if found.row is not None and after is not None:
        counts = found.counts
        check_change(found.row.strategy, after, *counts)


def _overlaid(before: Properties, given: Properties) -> Properties:
    values = {name: getattr(before, name) for name in Properties.__struct_fields__}
    values |= {name: value for name in values if (value := getattr(given, name)) is not None}
    return Properties(**values)


def _check_resets(update: PropertiesUpdate) -> None:
    if update.tags is not None:
        raise InvalidRequest("Tags can not be updated with other properties", hint="add or remove each tag")
    if update.reset_step_concurrency and update.step_concurrency is not None:
        raise InvalidRequest("Cannot both reset and set the step concurrency")
    resets = update.reset_run_strategy_rule or update.reset_workflow_concurrency
    if resets and update.run_strategy is not None:
        raise InvalidRequest("Cannot both reset and set the run strategy")
