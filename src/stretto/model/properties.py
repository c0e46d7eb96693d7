"""Properties: what holds for a workflow id across its versions."""

from typing import Any, ClassVar, Final

import msgspec

from stretto.model.alerting import Alerting
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.wire.codec import Shape
from stretto.model.words import Word

DEFAULT_PARALLELISM: Final = 20
MOST_PARALLEL: Final = 1_000  # runs of one workflow at once


class RunStrategyRule(Word):
    """What happens to a new run while others of its workflow are queued or running."""

    SEQUENTIAL = "SEQUENTIAL"  # one at a time, in order; the default
    STRICT_SEQUENTIAL = "STRICT_SEQUENTIAL"  # one at a time; a failed one blocks the rest
    FIRST_ONLY = "FIRST_ONLY"  # new ones are dropped while one is unfinished
    LAST_ONLY = "LAST_ONLY"  # the newest stops and replaces the others
    PARALLEL = "PARALLEL"  # up to `workflow_concurrency` at once
    SERIAL_LATEST_ONLY = "SERIAL_LATEST_ONLY"  # one at a time; only the newest stays queued


def _short(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        return {"rule": value}
    if type(value) is int:
        return {"rule": RunStrategyRule.PARALLEL.value, "workflow_concurrency": value}
    return None


class _Absent(int):
    """Stands in for a concurrency that was not given, until `__post_init__` has put the rule's default."""


class RunStrategy(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with its concurrency; `"parallel"` and a bare number are short forms. Concurrency 0 pauses."""

    wire: ClassVar[Shape] = Shape(
        short=_short,
        missing={"rule": "rule in run strategy cannot be null: name one, such as `PARALLEL`"},
    )

    rule: RunStrategyRule
    workflow_concurrency: int = _Absent()

    def __post_init__(self) -> None:
        if isinstance(self.workflow_concurrency, _Absent):
            parallel = self.rule is RunStrategyRule.PARALLEL
            msgspec.structs.force_setattr(
                self, "workflow_concurrency", DEFAULT_PARALLELISM if parallel else 1
            )


# The default of workflows in Python: as many at once as the limits allow.
AT_ONCE: Final = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=MOST_PARALLEL)


class AccessControl(msgspec.Struct, frozen=True, kw_only=True):
    """Users, or `role:x`, that may see, run or change a workflow."""

    viewers: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()


class Properties(msgspec.Struct, frozen=True, kw_only=True):
    """As pushed with a definition, or changed on their own. Unset: keep what is there, or the default."""

    owner: User | None = None
    access_control: AccessControl | None = None
    run_strategy: RunStrategy | None = None
    step_concurrency: int | None = None
    alerting: Alerting | None = None
    alerting_disabled: bool | None = None
    signal_trigger_disabled: bool | None = None
    time_trigger_disabled: bool | None = None
    description: str | None = None
    tags: tuple[Tag, ...] | None = None


class PropertiesUpdate(Properties, frozen=True, kw_only=True):
    """A change of properties, with flags that set one back to unset."""

    reset_run_strategy_rule: bool = False
    reset_workflow_concurrency: bool = False
    reset_step_concurrency: bool = False


class PropertiesSnapshot(Properties, frozen=True, kw_only=True):
    """The properties of a workflow as they stood from `create_time` on."""

    workflow_id: str | None = None
    create_time: int | None = None
    author: User | None = None
