"""How properties change: what a push and an update make of those that were there, and who may."""

from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.model.errors import Forbidden, InvalidRequest
from stretto.model.properties import Properties, PropertiesSnapshot, PropertiesUpdate, RunStrategy
from stretto.ports.workflows import Found
from stretto.strategies import check_change

RESET_BY_PUSH: Final = ("run_strategy", "step_concurrency", "alerting")


def pushed(before: PropertiesSnapshot | None, given: Properties) -> Properties:
    """After a push: what it does not name stays, but for three properties that then go back to unset."""
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
    """A workflow is handed over by its owner or an admin; one without an owner is claimed by an author."""
    if before is None or before.owner == after.owner or Role.ADMIN in caller.roles:
        return
    if before.owner is None and Role.AUTHOR in caller.roles:
        return
    if before.owner is not None and before.owner.name == caller.name:
        return
    owner = "nobody" if before.owner is None else before.owner.name
    raise Forbidden(
        f"User [{caller.name}] can not change the owner [{owner}] of workflow [{before.workflow_id}]",
        hint="ask the owner or an admin",
    )


def check_strategy(found: Found, after: RunStrategy | None) -> None:
    """A given strategy must be able to go on with the runs that are there."""
    if found.row is not None and after is not None:
        counts = found.counts
        check_change(found.row.strategy, after, counts.queued, counts.running, counts.failed)


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
