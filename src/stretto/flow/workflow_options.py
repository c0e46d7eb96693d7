"""What `@workflow(...)` says beside its steps: when it runs, how many at once, who is told."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from stretto.flow.durations import Duration, duration
from stretto.flow.errors import TraceError
from stretto.flow.option_types import HANDLERS, OF_A_CRON, TAGS, TEXT, WHOLE, Wanted, check_types
from stretto.flow.step_options import tags_of
from stretto.model.properties import AT_ONCE, Properties, RunStrategy
from stretto.model.status import RunStatus
from stretto.model.suggest import did_you_mean
from stretto.model.tag import Tag
from stretto.model.trigger import (
    CatchUp,
    CronTrigger,
    IntervalTrigger,
    PredefinedSchedule,
    PredefinedTrigger,
    SignalTrigger,
    SignalTriggerEntry,
    TimeTrigger,
)
from stretto.model.user import User
from stretto.model.wire import decode
from stretto.triggers import CronError, parse_cron, starts_nothing

Handler = Callable[[Any], Any]
STATUSES: Final = (*(status.value for status in RunStatus), "RESUMED")


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule: `Cron("0 6 * * *", timezone="Europe/Berlin")`. `within` spreads the starts over a time.

    `catch_up` says what becomes of fires that were missed because no process was there: "latest" (one run for
    all of them), "all" (the newest `catch_up_limit` of them, 100 by default), or "none".
    """

    expression: str
    timezone: str | None = None
    within: Duration | None = None
    catch_up: str = CatchUp.LATEST
    catch_up_limit: int | None = None

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in OF_A_CRON}
        check_types(given, OF_A_CRON, never_none=["expression", "catch_up"])

    def trigger(self) -> TimeTrigger:
        common: dict[str, Any] = {
            "timezone": self.timezone,
            "fuzzy_max_delay": duration(self.within, "within"),
            "catch_up": self._catch_up(),
            "catch_up_limit": self.catch_up_limit,
        }
        if self.expression.startswith("@"):
            try:
                named = PredefinedSchedule(self.expression)
            except ValueError:
                known = [each.value for each in PredefinedSchedule]
                hint = did_you_mean(self.expression, known) or f"write one of {', '.join(known)}, or a cron"
                raise TraceError(f"`{self.expression}` is not a schedule", hint) from None
            return PredefinedTrigger(expression=named, **common)
        return CronTrigger(cron=self.expression, **common)

    def _catch_up(self) -> CatchUp:
        try:
            return CatchUp(self.catch_up)
        except ValueError:
            known = [each.value for each in CatchUp]
            hint = did_you_mean(self.catch_up, known) or f"write one of {', '.join(known)}"
            raise TraceError(f"`catch_up` is `{self.catch_up}`", hint) from None


Schedule = str | Cron | CronTrigger | PredefinedTrigger | IntervalTrigger


TYPES: Final[Mapping[str, Wanted]] = {
    "id": TEXT,
    "owner": TEXT,
    "description": TEXT,
    "schedule": Wanted(
        "a cron such as `0 6 * * *`, a `Cron`, or a list of them",
        (str, Cron, CronTrigger, PredefinedTrigger, IntervalTrigger),
        many=True,
    ),
    "signals": Wanted(
        "the name of a signal, a `SignalTrigger`, or a list of them", (str, SignalTrigger), many=True
    ),
    "tags": TAGS,
    "concurrency": WHOLE,
    "on_status": Wanted("a function, or a dictionary from statuses to functions", (Mapping,), call=True),
}


class WorkflowKeywords(TypedDict, total=False):
    """The arguments of `@workflow`."""

    id: str
    owner: str
    description: str
    schedule: Schedule | Sequence[Schedule]
    signals: str | SignalTrigger | Sequence[str | SignalTrigger]
    run_strategy: str | int | Mapping[str, Any] | RunStrategy
    timeout: Duration
    tags: Sequence[str | Tag]
    concurrency: int
    undo_on_stop: bool
    on_status: Handler | Mapping[str, Handler | Sequence[Handler]]


KEYWORDS: Final = tuple(WorkflowKeywords.__annotations__)


def properties_of(options: WorkflowKeywords) -> Properties:
    """What holds for all versions of the workflow. Without a run strategy, its runs go on at once."""
    owner, strategy = options.get("owner"), options.get("run_strategy")
    return Properties(
        owner=None if owner is None else User(name=owner),
        run_strategy=AT_ONCE if strategy is None else _strategy(strategy),
    )


def _strategy(given: Any) -> RunStrategy:
    if isinstance(given, RunStrategy):
        return given
    made, problems = decode(RunStrategy, given)
    if problems:
        raise TraceError(
            f"`run_strategy` is {given!r}: {problems[0].message}",
            "write a rule such as `parallel`, or how many may run at once",
        )
    return made


def fields_of(options: WorkflowKeywords) -> dict[str, Any]:
    """The fields of the workflow itself."""
    found = {
        "description": options.get("description"),
        "timeout": duration(options.get("timeout"), "timeout"),
        "tags": tags_of(options.get("tags", ())),
        "time_triggers": tuple(map(_trigger, _sequence(options.get("schedule")))) or None,
        "signal_triggers": tuple(map(_signal, _sequence(options.get("signals")))) or None,
        "instance_step_concurrency": options.get("concurrency"),
        "undo_on_stop": _switch(options.get("undo_on_stop"), "undo_on_stop") or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _switch(given: Any, name: str) -> bool | None:
    if given is None or isinstance(given, bool):
        return given
    raise TraceError(f"`{name}` is {given!r}", "write True or False")


def _sequence(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _trigger(given: Schedule) -> TimeTrigger:
    """What can not be read is told with the other problems of the workflow; what never fires is told here,
    because a program is not asked for warnings.
    """
    cron = Cron(given) if isinstance(given, str) else given
    made = cron.trigger() if isinstance(cron, Cron) else cron
    if isinstance(made, CronTrigger):
        with suppress(CronError):
            if starts_nothing(parse_cron(made.cron)):
                raise TraceError(
                    f"the cron `{made.cron}` never fires", "no month that it names has such a day"
                )
    return made


def _signal(given: str | SignalTrigger) -> SignalTrigger:
    return SignalTrigger(definitions={given: SignalTriggerEntry()}) if isinstance(given, str) else given


def handlers_of(options: WorkflowKeywords) -> dict[str, tuple[Handler, ...]]:
    """Status -> what is called when a run comes to it."""
    given = options.get("on_status")
    if given is None:
        return {}
    if callable(given):
        return dict.fromkeys(STATUSES, (given,))
    found: dict[str, tuple[Handler, ...]] = {}
    for name, handlers in given.items():
        status = str(name).upper()
        if status not in STATUSES:
            hint = did_you_mean(status, STATUSES) or f"write one of {', '.join(STATUSES)}"
            raise TraceError(f"`on_status` names `{name}`, which is not the status of a run", hint)
        check_types(
            {f"on_status[{name}]": handlers},
            {f"on_status[{name}]": HANDLERS},
            never_none=[f"on_status[{name}]"],
        )
        found[status] = _sequence(handlers)
    return found
