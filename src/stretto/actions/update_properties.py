"""Change the properties of a workflow."""

from datetime import UTC, datetime

from stretto.actions.caller import Caller
from stretto.actions.parts.changing import change_properties
from stretto.actions.parts.property_rules import check_strategy, updated
from stretto.actions.publish import DEFAULT_LIMITS, Outdated
from stretto.definition import Limits, validate_properties
from stretto.model.errors import InvalidDefinition
from stretto.model.properties import Properties, PropertiesSnapshot, PropertiesUpdate
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def update_properties(
    store: Store,
    caller: Caller,
    workflow_id: str,
    update: PropertiesUpdate,
    *,
    hints: Hints = SILENT,
    if_match: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> PropertiesSnapshot:
    """What the update names is set, or set back; the rest stays. The rules are those of a push. A run
    strategy that could not go on with the runs that are there is refused, with what must end before. With
    `if_match` the properties must be those that were created then, or nothing is changed, and `Outdated`
    says who was first.
    """

    def rule(found: Found, before: PropertiesSnapshot) -> Properties:
        if if_match is not None and before.create_time != if_match:
            raise _outdated(workflow_id, before, if_match)
        after = updated(before, update)
        _check_values(update, limits)
        check_strategy(found, after.run_strategy)
        return after

    return await change_properties(
        store, caller, workflow_id, "Updated the workflow properties", rule, hints=hints
    )


def _check_values(update: PropertiesUpdate, limits: Limits) -> None:
    problems = validate_properties(update, limits)
    if problems:
        raise InvalidDefinition(problems, source="update of the properties")


def _outdated(workflow_id: str, now: PropertiesSnapshot, expected: int) -> Outdated:
    """With who has changed them, and when."""
    at = datetime.fromtimestamp((now.create_time or 0) / 1_000, UTC).isoformat(timespec="seconds")
    author = f"User [{getattr(now.author, 'name', '')}] changed them at {at}"
    message = f"The properties of workflow [{workflow_id}] are those of [{now.create_time}], not [{expected}]"
    hint = "look at what has changed, and change them again"
    return Outdated(f"{message}: {author}", details=(author,), hint=hint)
