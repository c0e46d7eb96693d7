"""Triggers: signals that are matched, fires that start runs, and times that come."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from tests.unit.actions.world import ANN, BEGIN, NOOP, WORK, World, flow, going_on

from stretto.actions.activate import activate
from stretto.actions.announce import announce
from stretto.actions.deactivate import deactivate
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.fire_timer import MOST_FIRES, Round, fire_timer, planned_fires
from stretto.actions.fire_trigger import Dropped, fire_trigger
from stretto.actions.match_triggers import MEANWHILE, match_new_triggers, match_signal
from stretto.actions.parts.firing import Fired
from stretto.actions.parts.trigger_trouble import QUIET
from stretto.actions.reading.why_workflow import why_workflow
from stretto.actions.update_properties import update_properties
from stretto.engine.records import RunKey
from stretto.model.errors import WrongState
from stretto.model.initiator import SignalInitiator, TimeInitiator
from stretto.model.properties import PropertiesUpdate
from stretto.model.request import SignalRequest
from stretto.model.response import StartStatus
from stretto.model.runs import RunCounts
from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import CatchUp
from stretto.model.user import User
from stretto.ports.failures import OutcomeUnknown, Stale
from stretto.ports.history import NewestInInstance
from stretto.ports.messages import Fire
from stretto.ports.paging import Cut
from stretto.ports.places import group_of_workflow
from stretto.ports.run_snapshot import InstancePage, read_newest_run
from stretto.ports.signals import SignalPage
from stretto.ports.triggers import FiresDue, NamedSignalTrigger, TimeTriggerRow
from stretto.store.memory.hints import MemoryHints

HOUR = 3_600_000
FIRST = -(-BEGIN // HOUR) * HOUR  # the first full hour
HOURLY = "  time_triggers: [{type: CRON, cron: '0 * * * *', timezone: Asia/Tokyo}]\n"
PLAIN = "  signal_triggers: [{definitions: {go: {}}}]\n"
JOINED = (
    "  signal_triggers: [{definitions: {table: {join_keys: [day]},"
    " quota: {join_keys: [date], match_params: {left: {value: 0, operator: '>'}}}}}]\n"
)
HOME = group_of_workflow("flow")


def made(more: str, *, step: str = NOOP, strategy: str = "PARALLEL", script: Any = None) -> World:
    world = World() if script is None else World(script)
    world.publish(flow(step, strategy=strategy, more=more))
    return world


def signal(world: World, name: str, **params: str | int) -> SignalInstance:
    request = SignalRequest(
        name=name, params=params or None, request_id=f"{name} {world.clock.time} {params}"
    )
    return world.do(announce(world.store, ANN, request))


def fires(world: World) -> list[tuple[int, Fire]]:
    mail = world.do(world.store.fetch("node-1", [HOME]))  # type: ignore[arg-type]
    return [(each.id, each.body) for each in mail.messages if isinstance(each.body, Fire)]


def fire(world: World) -> Fired | Dropped:
    """The one fire that waits."""
    ((message_id, body),) = fires(world)
    return world.do(fire_trigger(world.store, message_id, body))


def triggered(condition: str = "", world_more: str = "") -> str:
    return (
        "  signal_triggers:\n  - definitions: {go: {}}\n"
        "    params: {day: {expression: \"return params.getFromSignal('go', 'day');\", type: LONG}}\n"
        f"{condition}{world_more}"
    )


def started(world: World, condition: str = "", **params: str | int) -> World:
    """A signal has come, and its trigger has fired."""
    world.publish(flow(NOOP, more=triggered(condition)))
    world.do(match_signal(world.store, signal(world, "go", **(params or {"day": 7}))))
    return world


# -------------------------------------------------------------------------------------------------- matching
def test_signals_are_joined_by_their_keys() -> None:
    world = made(JOINED)
    told: list[frozenset[int]] = []
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.append(groups))

    def came(name: str, **params: str | int) -> int:
        return world.do(match_signal(world.store, signal(world, name, **params), hints=hints))

    assert came("table", day=1) == 0
    assert came("quota", date=2, left=5) == 0
    assert came("quota", date=1, left=0) == 0  # does not match
    assert came("other", day=1) == 0
    assert told == []
    assert came("quota", date=1, left=9) == 1
    assert told == [frozenset({HOME})]
    ((_id, body),) = fires(world)
    assert dict(body.seqs) == {"table": 1, "quota": 3}
    assert came("table", day=2) == 1


def test_a_signal_is_matched_once_however_often_somebody_looks() -> None:
    world = made(PLAIN)
    came = signal(world, "go")
    assert [world.do(match_signal(world.store, came)) for _ in range(3)] == [1, 0, 0]


def test_a_signal_that_found_no_trigger_is_found_by_the_trigger() -> None:
    """The announcement is committed, and its fan-out reads the triggers, just before these are committed."""
    world = made(JOINED)
    world.do(deactivate(world.store, ANN, "flow"))
    change = world.store.change_workflow

    async def late(*args: Any) -> Any:
        done = await change(*args)
        for day in (1, 2):
            sets: list[tuple[str, dict[str, str | int]]] = [
                ("table", {"day": day}),
                ("quota", {"date": day, "left": 1}),
                ("quota", {}),
                ("table", {}),
            ]
            for name, params in sets:
                request = SignalRequest(name=name, params=params, request_id=f"{day} {params}")
                await announce(world.store, ANN, request)
        return done

    world.swap("change_workflow", late)
    world.do(activate(world.store, ANN, "flow", "1"))
    assert [dict(body.seqs) for _id, body in fires(world)] == [
        {"table": 3, "quota": 3},  # the newest were looked at first
        {"table": 1, "quota": 1},
    ]


def test_what_came_before_a_trigger_does_not_count() -> None:
    world = made(PLAIN)
    world.do(deactivate(world.store, ANN, "flow"))
    signal(world, "go")
    world.do(activate(world.store, ANN, "flow", "1"))
    assert fires(world) == []


def test_a_look_ends_with_what_is_old() -> None:
    """A trigger that stays keeps what it took; nobody reads all that was ever announced for it."""
    world = made(PLAIN)
    for _ in range(250):
        signal(world, "go")
        world.advance(1_000)
    read: list[Cut] = []
    signals = world.store.signals

    async def counted(selection: SignalPage) -> Any:
        read.append(selection.cut)
        return await signals(selection)

    world.swap("signals", counted)
    assert world.do(match_new_triggers(world.store, "flow", world.clock.time)) == 250  # nobody had looked
    assert len(read) == 1
    assert world.do(match_new_triggers(world.store, "flow", world.clock.time - 200_000 + MEANWHILE)) == 0
    assert len(read) == 1 + 3


# --------------------------------------------------------------------------------------------------- signals
def test_a_fire_starts_a_run_and_its_message_is_gone() -> None:
    world = started(World())
    (_id, body) = fires(world)[0]
    told: list[frozenset[int]] = []
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.append(groups))
    answer = world.do(fire_trigger(world.store, _id, body, hints=hints))
    assert answer == Fired(run=RunKey("flow", 1, 1), status=StartStatus.CREATED)
    assert fires(world) == []
    record = world.row().record
    initiator = record.initiator
    assert isinstance(initiator, SignalInitiator)
    assert (initiator.trigger_uuid, initiator.signal_id_map) == (body.trigger_id, {"go": 1})
    assert {name: each.evaluated_result for name, each in (initiator.params or {}).items()} == {"day": 7}
    assert "day" not in record.params
    assert told == [frozenset({world.row().group})]
    assert "trigger uuid" in str(record.timeline)


@pytest.mark.parametrize(
    ("condition", "starts"),
    [
        ("    condition: day > 5\n", True),
        ("    condition: day > 9\n", False),
        ("    condition: params.getFromSignal('day') == 7\n", True),
        ("    condition: go__day == 8\n", False),
        ("    condition: nobody > 1\n", False),
        ("    condition: day / 0 > 1\n", False),
    ],
)
def test_the_condition_decides(condition: str, starts: bool) -> None:
    world = started(World(), condition)
    answer = fire(world)
    assert isinstance(answer, Fired) is starts
    assert (fires(world) == []) is starts
    assert (world.do(read_newest_run(world.store, "flow", 1)) is not None) is starts


def test_parameters_that_can_not_be_evaluated_drop_the_fire() -> None:
    world = started(World(), hour=3)
    answer = fire(world)
    assert isinstance(answer, Dropped)
    assert "day" in answer.reason


def told(world: World) -> list[str]:
    return [each.log for each in world.do(world.store.workflow_timeline("flow")) if "trigger" in each.log]


@pytest.mark.parametrize(
    ("condition", "params", "said"),
    [
        ("    condition: nobody > 1\n", {"day": 7}, "[condition] refers to [nobody]"),
        ("    condition: day / 0 > 1\n", {"day": 7}, "condition"),
        ("", {"hour": 7}, "param [trigger.day]"),
    ],
)
def test_a_fire_that_can_not_be_evaluated_is_on_the_timeline(
    condition: str, params: dict[str, int], said: str
) -> None:
    world = started(World(), condition, **params)
    assert isinstance(fire(world), Dropped)
    (line,) = told(world)
    assert "of version 1 on [go] started no run, and its signals are used up:" in line
    assert said in line
    found = world.do(why_workflow(world.store, ANN, "flow"))
    assert found.sentence == "version 1 of workflow [flow] has 1 trigger, 1 of them in trouble"
    assert found.triggers[0].trouble == (line,)
    assert (found.triggers[0].troubled_at or 0) >= world.clock.time


def test_the_same_trouble_is_not_told_for_each_of_a_thousand_signals() -> None:
    world = started(World(), "    condition: nobody > 1\n", day=1)
    for day in range(2, 6):
        world.do(match_signal(world.store, signal(world, "go", day=day)))
    for message_id, body in fires(world):
        assert isinstance(world.do(fire_trigger(world.store, message_id, body)), Dropped)
    assert len(told(world)) == 1
    world.clock.time += QUIET + 10
    ((message_id, body), *_others) = fires(world)
    world.do(fire_trigger(world.store, message_id, body))
    assert len(told(world)) == 2
    (trigger,) = world.do(why_workflow(world.store, ANN, "flow")).triggers
    assert len(trigger.trouble) == 1  # told once, however often it is on the timeline


def test_a_dedup_expression_that_can_not_be_evaluated_is_on_the_timeline() -> None:
    world = started(World(), "    dedup_expr: nobody\n", day=1)
    assert isinstance(fire(world), Fired)
    assert "could not evaluate its dedup_expr, and went on without:" in told(world)[0]


@pytest.mark.parametrize(
    ("condition", "starts"),
    [
        ("    condition: day > least\n", True),
        ("    condition: day > least + 5\n", False),
        ("    condition: workflow_id == 'flow'\n", True),
        ("    condition: RUN_TS > 0\n", True),
        ("    condition: next == 8\n", True),
    ],
)
def test_a_condition_sees_parameters_and_defaults_of_the_workflow(condition: str, starts: bool) -> None:
    own = (
        "  params: {least: {value: 5, type: LONG}, day: {value: 0, type: LONG},"
        " next: {expression: day + 1, type: LONG}}\n"
    )
    world = World()
    world.publish(flow(NOOP, more=own + triggered(condition)))
    world.do(match_signal(world.store, signal(world, "go", day=7)))
    assert isinstance(fire(world), Fired) is starts


def test_parameters_of_a_trigger_see_each_other_and_the_workflow() -> None:
    more = (
        "  params: {day: {value: 3, type: LONG}}\n  signal_triggers:\n  - definitions: {go: {}}\n"
        "    params: {late: {expression: day * 2, type: LONG}, day: {expression: day + 1, type: LONG}}\n"
    )
    world = made(more)
    world.do(match_signal(world.store, signal(world, "go")))
    assert isinstance(fire(world), Fired)
    initiator = world.row().record.initiator
    assert isinstance(initiator, SignalInitiator)
    results = {name: param.evaluated_result for name, param in (initiator.params or {}).items()}
    assert results == {"late": 8, "day": 4}


@pytest.mark.parametrize(("semantics", "day", "has_late"), [("MAESTRO", 3, False), ("STRETTO", 4, True)])
def test_whether_parameters_of_a_trigger_are_those_of_the_run(
    semantics: str, day: int, has_late: bool
) -> None:
    """They are in the initiator either way; with Maestro's semantics they are nowhere else."""
    more = (
        f"  semantics: {semantics}\n  params: {{day: {{value: 3, type: LONG}},"
        " told: {expression: \"params.getFromSignal('day')\", type: LONG}}\n"
        "  signal_triggers:\n  - definitions: {go: {}}\n"
        "    params: {day: {value: 4, type: LONG}, late: {value: 8, type: LONG}}\n"
    )
    step = "{id: a, type: NoOp, params: {late: {expression: \"params.getFromSignal('late')\", type: LONG}}}"
    world = World()
    world.publish(flow(step, more=more))
    world.do(match_signal(world.store, signal(world, "go")))
    assert isinstance(fire(world), Fired)
    record = world.settle().row().record
    assert (record.params["day"].evaluated_result, record.params["told"].evaluated_result) == (day, 4)
    assert ("late" in record.params, "late" in record.run_params) == (has_late, has_late)
    (read,) = world.do(world.store.attempts(NewestInInstance("flow", 1)))
    assert (read.record.params or {})["late"].evaluated_result == 8


def test_why_of_a_trigger_that_never_fires() -> None:
    world = made(HOURLY.replace("0 * * * *", "0 0 30 2 *"))
    (trigger,) = world.do(why_workflow(world.store, ANN, "flow")).triggers
    assert trigger.sentence.endswith("; it never fires any more")
    assert trigger.next_fire is None


def test_why_a_workflow_is_not_started() -> None:
    world = made(HOURLY)

    def why() -> tuple[str, list[tuple[str, int | None]]]:
        found = world.do(why_workflow(world.store, ANN, "flow"))
        return found.sentence, [(each.sentence, each.next_fire) for each in found.triggers]

    hourly = ("it starts a run every hour (Asia/Tokyo)", FIRST)
    assert why() == ("version 1 of workflow [flow] has 1 trigger", [hourly])
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(time_trigger_disabled=True)))
    off = "version 1 of workflow [flow] has no trigger in force; its time triggers are switched off"
    assert why() == (off, [])
    world.do(deactivate(world.store, ANN, "flow"))
    by = "ann switched it off at 2023-11-14T22:13:20+00:00"
    assert why() == (f"no version of workflow [flow] is active, so no trigger starts it; {by}", [])
    world.publish(flow(NOOP, name="two", more=PLAIN + HOURLY))
    both = world.do(why_workflow(world.store, ANN, "two"))
    assert both.sentence == "version 1 of workflow [two] has 2 triggers"
    assert both.triggers[1].sentence == "it starts a run for each signal [go]"


def test_a_run_that_can_not_be_evaluated_is_kept() -> None:
    more = PLAIN + "  params: {x: {expression: \"return params.getFromSignal('go', 'day');\", type: LONG}}\n"
    world = made(more)
    world.do(match_signal(world.store, signal(world, "go")))
    answer = fire(world)
    assert isinstance(answer, Fired)
    assert world.status() == "FAILED"


@pytest.mark.parametrize(
    ("expression", "statuses"),
    [
        ("'\"hello\"'", ["CREATED", "DUPLICATED"]),
        ("'return day % 2;'", ["CREATED", "DUPLICATED"]),  # a number is written as a text
        ("'return UUID.randomUUID().toString();'", ["CREATED", "CREATED"]),
        ("bad expr", ["CREATED", "CREATED"]),
    ],
)
def test_a_fire_may_say_what_makes_it_the_same_as_another(expression: str, statuses: list[str]) -> None:
    world = World()
    world.publish(flow(NOOP, more=triggered(f"    dedup_expr: {expression}\n")))
    found = []
    for day in (7, 9):
        world.do(match_signal(world.store, signal(world, "go", day=day)))
        answer = fire(world)
        assert isinstance(answer, Fired)
        found.append(answer.status.value)
    assert found == statuses


def test_a_trigger_that_is_gone_starts_nothing() -> None:
    world = started(World())
    world.do(deactivate(world.store, ANN, "flow"))
    answer = fire(world)
    assert isinstance(answer, Dropped)
    assert "no trigger" in answer.reason


def test_what_changed_since_the_trigger_was_read_counts() -> None:
    world = started(World())
    ((message_id, body),) = fires(world)
    (row,) = world.do(world.store.signal_triggers(NamedSignalTrigger(body.trigger_id)))

    async def old(_selection: NamedSignalTrigger) -> Any:
        return [row]

    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(signal_trigger_disabled=True)))
    world.swap("signal_triggers", old)
    answer = world.do(fire_trigger(world.store, message_id, body))
    assert isinstance(answer, Dropped)
    assert "disabled" in answer.reason
    world.do(deactivate(world.store, ANN, "flow"))
    answer = world.do(fire_trigger(world.store, message_id, body))
    assert isinstance(answer, Dropped)
    assert "active" in answer.reason


def test_a_fire_whose_outcome_was_unknown_starts_one_run() -> None:
    world = started(World())
    ((message_id, body),) = fires(world)
    transact, failures = world.store.transact, [OutcomeUnknown("no answer")]

    async def shaky(*args: Any) -> Any:
        done = await transact(*args)
        if failures:
            raise failures.pop()
        return done

    world.swap("transact", shaky)
    answer = world.do(fire_trigger(world.store, message_id, body))
    assert answer == Fired(run=RunKey("flow", 1, 1), status=StartStatus.DUPLICATED)
    assert world.do(read_newest_run(world.store, "flow", 2)) is None


def test_a_fire_that_somebody_else_dealt_with_is_told() -> None:
    world = started(World())
    ((message_id, body),) = fires(world)
    world.do(world.store.withdraw(message_id))
    with pytest.raises(Stale):
        world.do(fire_trigger(world.store, message_id, body))


def test_a_fire_that_is_refused_stays() -> None:
    """Two unfinished runs are more than FIRST_ONLY can choose from."""
    world = World(going_on)
    world.publish(flow(WORK, more=triggered(), strategy="PARALLEL"))
    for _ in range(2):
        world.start()
    look = world.store.change_workflow

    async def unaware(workflow_id: str, decide: Any) -> Any:
        return await look(
            workflow_id, lambda found: decide(msgspec.structs.replace(found, counts=RunCounts(0, 0, 0)))
        )

    world.swap("change_workflow", unaware)
    world.publish(flow(WORK, more=triggered(), strategy="FIRST_ONLY"))
    world.do(match_signal(world.store, signal(world, "go", day=1)))
    with pytest.raises(WrongState):
        fire(world)
    assert len(fires(world)) == 1


def test_a_workflow_without_an_owner_fires_too() -> None:
    world = started(World())
    rows = world.store.workflow_rows

    async def ownerless(workflow_ids: tuple[str]) -> Any:
        ((workflow_id, found),) = (await rows(workflow_ids)).items()
        properties = msgspec.structs.replace(found.properties, owner=None)
        return {workflow_id: msgspec.structs.replace(found, properties=properties)}

    world.swap("workflow_rows", ownerless)
    assert isinstance(fire(world), Fired)
    assert world.row().record.owner is None


# ----------------------------------------------------------------------------------------------------- times
def due(world: World) -> list[TimeTriggerRow]:
    return list(world.do(world.store.time_triggers(FiresDue(range(128), world.clock.time))).elements)


def fire_due(world: World) -> list[Fired]:
    return world.do(fire_timer(world.store, due(world)))


def times(world: World) -> list[int]:
    page = world.do(world.store.runs(InstancePage("flow", Cut(most=200))))
    initiators = [row.record.initiator for row in reversed(page.elements)]
    return [each.trigger_time or 0 for each in initiators if isinstance(each, TimeInitiator)]


def test_a_time_starts_a_run() -> None:
    world = made(HOURLY)
    world.advance(FIRST - BEGIN + 5)
    told: list[frozenset[int]] = []
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.append(groups))
    (row,) = due(world)
    assert world.do(fire_timer(world.store, [row], hints=hints)) == [
        Fired(run=RunKey("flow", 1, 1), status=StartStatus.CREATED)
    ]
    record = world.row().record
    assert record.initiator == TimeInitiator(
        trigger_uuid=row.trigger_id, trigger_time=FIRST, timezone="Asia/Tokyo"
    )
    assert record.params["RUN_TS"].evaluated_result == FIRST
    assert record.params["WORKFLOW_CRON_TIMEZONE"].evaluated_result == "Asia/Tokyo"
    assert told == [frozenset({world.row().group})]
    assert due(world) == []
    assert world.do(world.store.next_trigger_due(range(128))) == FIRST + HOUR


def test_each_fire_that_was_missed_is_started() -> None:
    world = made(HOURLY)
    world.advance(FIRST - BEGIN + 3 * HOUR)
    fired = fire_due(world)
    assert [each.run.instance_id for each in fired] == [1, 2, 3, 4]
    assert times(world) == [FIRST + hours * HOUR for hours in range(4)]
    assert due(world) == []


def test_what_was_missed_goes_through_the_run_strategy() -> None:
    world = made(HOURLY, step=WORK, strategy="LAST_ONLY")
    world.advance(FIRST - BEGIN + 2 * HOUR)
    assert [each.status for each in fire_due(world)] == [
        StartStatus.STOPPED,
        StartStatus.STOPPED,
        StartStatus.CREATED,
    ]


def test_triggers_of_one_workflow_fire_in_the_order_of_time() -> None:
    more = "  time_triggers: [{type: CRON, cron: '0 * * * *'}, {type: CRON, cron: '30 * * * *'}]\n"
    world = made(more)
    world.advance(FIRST - BEGIN + HOUR + 40 * 60_000)
    fire_due(world)
    half = HOUR // 2
    expected = [FIRST + number * half for number in range(4)]
    assert [at for at in times(world) if at >= FIRST] == expected


def test_a_long_absence_is_made_up_in_parts() -> None:
    world = made(HOURLY.replace("}]", ", catch_up_limit: 150}]"))
    world.advance(FIRST - BEGIN + 149 * HOUR)
    for _ in range(150 // MOST_FIRES):
        assert len(fire_due(world)) == MOST_FIRES
    assert due(world) == []
    assert times(world) == [FIRST + hours * HOUR for hours in range(150)]


def test_a_trigger_that_is_cut_off_waits_for_the_next_part() -> None:
    more = "  time_triggers: [{type: CRON, cron: '0 * * * *'}, {type: CRON, cron: '59 * * * *'}]\n"
    world = made(more.replace("'0 * * * *'", "'0 * * * *', catch_up_limit: 300"))
    world.advance(FIRST - BEGIN + 200 * HOUR + 30 * 60_000)
    (first, second) = sorted(due(world), key=lambda row: row.trigger.catch_up_limit or 0, reverse=True)
    found = planned_fires([second, first], world.clock.time)
    assert {each.row.trigger_id for each in found.fires} == {first.trigger_id}
    assert [each.trigger_id for each in found.advances] == [first.trigger_id]
    assert found.lines == ()  # those of the other trigger are dropped, and told, when its turn comes


def caught_up(rule: str, hours: int) -> tuple[World, list[str]]:
    """An hourly trigger after so many hours without a server, and what its workflow's timeline says of it."""
    world = made(HOURLY.replace("}]", f", {rule}}}]") if rule else HOURLY)
    world.advance(FIRST - BEGIN + hours * HOUR + 30 * 60_000)
    while due(world):
        fire_due(world)
    lines = world.do(world.store.workflow_timeline("flow"))
    return world, [each.log for each in lines if "missed" in each.log]


def moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000, UTC).isoformat(timespec="seconds")


def test_only_the_latest_missed_fire_is_started() -> None:
    world, lines = caught_up("catch_up: latest", 3)
    assert times(world) == [FIRST + 3 * HOUR]
    span = f"from {moment(FIRST)} to {moment(FIRST + 2 * HOUR)}"
    assert lines == [f"The trigger [0 * * * *] dropped 3 missed fires, {span} (catch_up latest)"]
    assert world.do(world.store.next_trigger_due(range(128))) == FIRST + 4 * HOUR
    (line,) = [each for each in world.do(world.store.workflow_timeline("flow")) if "missed" in each.log]
    assert (line.author, line.timestamp) == (User(name="stretto"), world.clock.time)


def test_no_missed_fire_is_started() -> None:
    world, lines = caught_up("catch_up: none", 0)
    assert times(world) == []
    assert lines == [f"The trigger [0 * * * *] dropped 1 missed fire, at {moment(FIRST)} (catch_up none)"]
    world.advance(30 * 60_000)
    fire_due(world)
    assert times(world) == [FIRST + HOUR]  # that one is in time


def test_a_hundred_missed_fires_are_started_unless_somebody_asks_for_more() -> None:
    world, lines = caught_up("", 120)
    assert times(world) == [FIRST + hours * HOUR for hours in range(21, 121)]
    span = f"from {moment(FIRST)} to {moment(FIRST + 20 * HOUR)}"
    assert lines == [f"The trigger [0 * * * *] dropped 21 missed fires, {span} (catch_up all, limit 100)"]
    world, lines = caught_up("catch_up: all, catch_up_limit: 121", 120)
    assert len(times(world)) == 121
    assert lines == []


def test_a_week_of_minutes_takes_a_bounded_number_of_transactions() -> None:
    world = made("  time_triggers: [{type: CRON, cron: '* * * * *'}]\n")
    world.advance(7 * 24 * HOUR)
    transact, calls = world.store.transact, 0

    async def counted(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        return await transact(*given)

    world.swap("transact", counted)
    while due(world):
        fire_due(world)
    assert len(times(world)) == 101  # 100 missed ones, and one in time
    assert calls == 11
    (line,) = [each.log for each in world.do(world.store.workflow_timeline("flow")) if "missed" in each.log]
    assert "dropped more than 1,000 missed fires" in line


def test_a_workflow_that_was_switched_off_has_missed_nothing() -> None:
    world = made(HOURLY)
    world.do(deactivate(world.store, ANN, "flow"))
    world.advance(5 * HOUR)
    world.do(activate(world.store, ANN, "flow", "1"))
    assert due(world) == []
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(time_trigger_disabled=True)))
    world.advance(5 * HOUR)
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(time_trigger_disabled=False)))
    assert due(world) == []


def test_a_trigger_whose_catch_up_changes_goes_on_from_where_it_was() -> None:
    world = made(HOURLY)
    world.advance(3 * HOUR)
    before = due(world)
    world.publish(flow(NOOP, more=HOURLY.replace("}]", ", catch_up: latest}]")))
    (row,) = due(world)
    assert (row.trigger_id, row.next_fire_at) == (before[0].trigger_id, before[0].next_fire_at)
    assert row.trigger.catch_up is CatchUp.LATEST
    assert len(fire_due(world)) == 1


def test_a_trigger_that_is_not_in_force_has_dropped_nothing() -> None:
    world = made(HOURLY.replace("}]", ", catch_up: none}]"))
    world.advance(3 * HOUR)
    rows = due(world)
    world.do(delete_workflow(world.store, ANN, "flow"))
    assert world.do(fire_timer(world.store, rows)) == []


def test_the_last_fire_of_all() -> None:
    more = "  time_triggers: [{type: CRON, cron: '0 0 12 1 1 ? 2024'}]\n"
    world = made(more)
    world.advance(100 * 24 * HOUR)
    assert len(fire_due(world)) == 1
    assert due(world) == []
    assert world.do(world.store.next_trigger_due(range(128))) is None
    assert planned_fires(world.do(world.store.triggers_of("flow"))[0], world.clock.time) == Round([])


def test_a_fuzzy_trigger_is_as_late_as_ever() -> None:
    more = "  time_triggers: [{type: CRON, cron: '0 * * * *', fuzzy_max_delay: 30 min}]\n"
    world = made(more)
    world.advance(3 * HOUR)
    (row,) = due(world)
    fire_due(world)
    found = times(world)
    assert {at % HOUR for at in found} == {row.jitter}
    assert row.jitter


def test_two_who_see_the_same_time_start_one_run() -> None:
    world = made(HOURLY)
    world.advance(FIRST - BEGIN)
    rows = due(world)
    assert len(world.do(fire_timer(world.store, rows))) == 1
    assert world.do(fire_timer(world.store, rows)) == []
    assert times(world) == [FIRST]


def test_what_is_not_due_does_not_fire() -> None:
    world = made(HOURLY)
    rows, _signals = world.do(world.store.triggers_of("flow"))
    assert world.do(fire_timer(world.store, rows)) == []


def test_a_deleted_workflow_has_no_times() -> None:
    world = made(HOURLY)
    world.advance(FIRST - BEGIN)
    rows = due(world)
    world.do(delete_workflow(world.store, ANN, "flow"))
    assert world.do(fire_timer(world.store, rows)) == []


def test_a_time_that_nobody_wants_any_more_moves_on() -> None:
    """The trigger is switched off under the reader's eyes; if its row were left, it would be due for ever."""
    world = made(HOURLY)
    world.advance(FIRST - BEGIN)
    rows = world.store.workflow_rows

    async def switched_off(workflow_ids: tuple[str]) -> Any:
        ((workflow_id, found),) = (await rows(workflow_ids)).items()
        properties = msgspec.structs.replace(found.properties, time_trigger_disabled=True)
        return {workflow_id: msgspec.structs.replace(found, properties=properties)}

    world.swap("workflow_rows", switched_off)
    assert fire_due(world) == []
    assert due(world) == []
    assert world.do(world.store.next_trigger_due(range(128))) == FIRST + HOUR
    assert world.do(read_newest_run(world.store, "flow", 1)) is None
