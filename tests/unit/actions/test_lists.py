"""Lists over all workflows: filters, pages, and what each reader sees."""

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest
from tests.unit.actions.world import ANN, CHAIN, NODE, NOOP, WORK, World, failing, flow, going_on

from stretto.actions.add_tag import add_tag
from stretto.actions.announce import announce
from stretto.actions.caller import Caller, Role
from stretto.actions.reading.all_runs import (
    get_run_histogram,
    list_all_runs,
    list_children,
    list_quarantined,
)
from stretto.actions.reading.all_workflows import Extra, list_outcomes, list_schedules, list_workflows
from stretto.actions.reading.approvals import list_approvals
from stretto.actions.reading.breakpoints import list_all_breakpoints, list_all_paused
from stretto.actions.reading.cluster import get_queue, list_groups, list_nodes, list_parked
from stretto.actions.reading.limits import list_holders, list_tags, list_waiters
from stretto.actions.reading.lines import WorkflowLine
from stretto.actions.reading.listing import MOST_FETCHES, cursor_of, key_in
from stretto.actions.reading.overview import get_overview
from stretto.actions.reading.search import search
from stretto.actions.reading.signals import list_signal_names, list_signal_waits, list_signals
from stretto.actions.reading.steps import list_attempts
from stretto.actions.reading.windows import DAY
from stretto.actions.reading.workflows import list_properties
from stretto.actions.release import release_flow, release_message, release_run
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.actions.tag_permits import set_tag_permit
from stretto.actions.update_properties import update_properties
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Forbidden, InvalidRequest, NotFound
from stretto.model.page import Page
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import AccessControl, PropertiesUpdate
from stretto.model.request import BreakpointRequest, PageRequest, SignalRequest
from stretto.model.status import RunStatus
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.ports.approvals import ApprovalFilter
from stretto.ports.commit import Decided, GroupPart
from stretto.ports.history import RunFilter
from stretto.ports.outbox import MOST_TRIES
from stretto.ports.rows import Parent
from stretto.ports.signals import SignalWait
from stretto.ports.workflows import WorkflowFilter
from stretto.store.memory.hints import MemoryHints

EVE = Caller(user=User(name="eve"), roles=frozenset({Role.AUTHOR}))
ANY = PageRequest(first=100)
ALL = WorkflowFilter()
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python, tags: [gpu]}}]}"
)


def keep(world: World, workflow_id: str) -> None:
    """From now on only its owner sees it, and admins."""
    update = PropertiesUpdate(access_control=AccessControl(viewers=("ann",)))
    world.do(update_properties(world.store, ANN, workflow_id, update))


def runs(page: Page[Any]) -> list[tuple[str, int]]:
    return [(line.workflow_id, line.workflow_instance_id) for line in page.elements]


def ids(page: Page[WorkflowLine]) -> list[str]:
    return [line.workflow_id for line in page.elements]


# ------------------------------------------------------------------------------------------------------ runs
def with_runs() -> World:
    world = World(failing("x"))
    world.publish(flow("{id: x, type: Python}", name="bad"))
    world.publish(flow(NOOP, name="good", more="  tags: [daily]\n"))
    for workflow_id in ("bad", "good", "good", "bad"):
        world.start(workflow_id)
        world.advance(1_000)
    return world.settle()


def test_runs_of_all_workflows_are_listed_newest_first() -> None:
    world = with_runs()
    page = world.do(list_all_runs(world.store, ANN, RunFilter(), ANY))
    assert runs(page) == [("bad", 2), ("good", 2), ("good", 1), ("bad", 1)]
    line = page.elements[0]
    assert (line.status, line.workflow_run_id, line.workflow_version_id) == ("FAILED", 1, 1)
    assert line.owner == User(name="ann")
    assert line.correlation_id == "bad:2:1"
    assert line.parent is None


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (RunFilter(statuses=[RunStatus.FAILED]), [("bad", 2), ("bad", 1)]),
        (RunFilter(workflow_id="good"), [("good", 2), ("good", 1)]),
        (RunFilter(tag="daily"), [("good", 2), ("good", 1)]),
        (RunFilter(owner="nobody"), []),
        (RunFilter(correlation_id="good:1:1"), [("good", 1)]),
        (RunFilter(until=1_700_000_001_500), [("good", 1), ("bad", 1)]),
        (RunFilter(since=1_700_000_002_500, roots=True), [("bad", 2)]),
    ],
)
def test_filters(wanted: RunFilter, found: list[tuple[str, int]]) -> None:
    world = with_runs()
    assert runs(world.do(list_all_runs(world.store, ANN, wanted, ANY))) == found


def test_pages_go_forwards_and_back() -> None:
    world = with_runs()

    def page(**request: Any) -> Page[Any]:
        return world.do(list_all_runs(world.store, ANN, RunFilter(), PageRequest(**request)))

    first = page(first=2)
    assert runs(first) == [("bad", 2), ("good", 2)]
    assert (first.page_info.has_previous_page, first.page_info.has_next_page) == (False, True)
    second = page(first=2, cursor=first.page_info.end_cursor)
    assert runs(second) == [("good", 1), ("bad", 1)]
    assert (second.page_info.has_previous_page, second.page_info.has_next_page) == (True, False)
    assert (first.total_count, second.total_count, page(first=4).total_count) == (None, None, 4)
    back = page(last=1, cursor=second.page_info.start_cursor)
    assert runs(back) == [("good", 2)]
    assert (back.page_info.has_previous_page, back.page_info.has_next_page) == (True, True)
    again = page(last=1, cursor=back.page_info.start_cursor)
    assert runs(again) == [("bad", 2)]
    assert again.page_info.has_previous_page is False
    past = page(first=2, cursor=second.page_info.end_cursor)
    assert (runs(past), past.page_info.end_cursor, past.page_info.has_next_page) == ([], None, False)


@pytest.mark.parametrize("cursor", ["x", "%%%", "é", cursor_of([1]), cursor_of("flow"), "a" * 200])
def test_strange_cursors_are_refused(cursor: str) -> None:
    world = with_runs()
    with pytest.raises(InvalidRequest, match="Invalid cursor"):
        world.do(list_all_runs(world.store, ANN, RunFilter(), PageRequest(first=2, cursor=cursor)))


@pytest.mark.parametrize(
    "request_", [PageRequest(), PageRequest(first=1, last=1), PageRequest(first=201), PageRequest(last=5)]
)
def test_strange_requests_are_refused(request_: PageRequest) -> None:
    world = World()
    with pytest.raises(InvalidRequest):
        world.do(list_all_runs(world.store, ANN, RunFilter(), request_))


def test_a_cursor_is_a_key() -> None:
    key = (5, RunKey("ü/1", 2, 3))
    assert key_in(cursor_of(key), tuple[int, RunKey]) == key


def test_nobody_sees_runs_of_a_workflow_that_is_kept_from_them() -> None:
    world = with_runs()
    keep(world, "bad")
    assert runs(world.do(list_all_runs(world.store, EVE, RunFilter(), PageRequest(first=2)))) == [
        ("good", 2),
        ("good", 1),
    ]
    ann = Caller(user=User(name="ann"), roles=frozenset({Role.VIEWER}))
    assert len(world.do(list_all_runs(world.store, ann, RunFilter(), ANY)).elements) == 4
    nobody = Caller(user=User(name="x"), roles=frozenset())
    with pytest.raises(Forbidden):
        world.do(list_all_runs(world.store, nobody, RunFilter(), ANY))


def test_a_page_that_hides_too_much_says_where_to_go_on() -> None:
    world = World()
    world.publish(flow(NOOP, name="seen"))
    world.publish(flow(NOOP, name="kept"))
    world.start("seen")
    for _ in range(MOST_FETCHES + 3):
        world.advance(1_000)
        world.start("kept")
    keep(world, "kept")
    short = world.do(list_all_runs(world.store, EVE, RunFilter(), PageRequest(first=1)))
    assert (runs(short), short.page_info.has_next_page) == ([], True)
    assert short.page_info.start_cursor is None
    rest = PageRequest(first=1, cursor=short.page_info.end_cursor)
    assert runs(world.do(list_all_runs(world.store, EVE, RunFilter(), rest))) == [("seen", 1)]
    back = PageRequest(last=1, cursor=cursor_of((0, RunKey("", 0, 0))))
    assert runs(world.do(list_all_runs(world.store, EVE, RunFilter(), back))) == [("seen", 1)]
    up = PageRequest(
        last=1, cursor=world.do(list_all_runs(world.store, EVE, RunFilter(), back)).page_info.start_cursor
    )
    hidden = world.do(list_all_runs(world.store, EVE, RunFilter(), up))
    assert (runs(hidden), hidden.page_info.has_previous_page) == ([], True)
    assert hidden.page_info.start_cursor is not None


def test_children_and_quarantined_runs() -> None:
    world = World(going_on)
    world.publish(flow(WORK, name="child"))
    world.publish(flow("subworkflow: {id: s, params: {subworkflow_id: {value: child, type: STRING}}}"))
    world.start()
    world.settle()
    attempt = AttemptKey(RunKey("flow", 1, 1), "s", 1)
    page = world.do(list_children(world.store, ANN, attempt, ANY))
    assert runs(page) == [("child", 1)]
    parent = page.elements[0].parent
    assert parent is not None
    assert (parent.workflow_id, parent.step_id) == ("flow", "s")
    assert runs(world.do(list_quarantined(world.store, ANN, ANY))) == []


# ------------------------------------------------------------------------------------------------- workflows
def test_workflows_are_listed_by_id() -> None:
    world = with_runs()
    page = world.do(list_workflows(world.store, ANN, ALL, PageRequest(first=1)))
    assert ids(page) == ["bad"]
    (line,) = page.elements
    assert (line.active_version_id, line.latest_version_id) == (1, 1)
    assert (line.recent, line.outcomes, line.next_fire) == (None, None, None)
    rest = world.do(
        list_workflows(world.store, ANN, ALL, PageRequest(first=5, cursor=page.page_info.end_cursor))
    )
    assert ids(rest) == ["good"]
    back = world.do(
        list_workflows(world.store, ANN, ALL, PageRequest(last=5, cursor=rest.page_info.start_cursor))
    )
    assert ids(back) == ["bad"]
    assert ids(world.do(list_workflows(world.store, ANN, WorkflowFilter(prefix="g"), ANY))) == ["good"]
    keep(world, "bad")
    assert ids(world.do(list_workflows(world.store, EVE, ALL, ANY))) == ["good"]


def test_tags_of_the_definition_are_found() -> None:
    """As those of the properties, of the request and of a subworkflow's own definition are."""
    world = World()
    sub = "subworkflow: {id: s, params: {subworkflow_id: {value: below, type: STRING}}}"
    world.publish(flow(NOOP, name="below", more="  tags: [inner]\n"))
    world.publish(flow(sub, more="  tags: [outer, {name: shared, team: data}]\n"))
    shared = Tag(name="shared", attributes={"team": "ops"})
    for tag in (shared, Tag(name="own")):
        world.do(add_tag(world.store, ANN, "flow", tag))
    world.start(runtime_tags=(Tag(name="once"),))
    world.settle()

    def found(tag: str) -> tuple[list[str], list[tuple[str, int]]]:
        lines = world.do(list_workflows(world.store, ANN, WorkflowFilter(tag=tag), ANY))
        return ids(lines), runs(world.do(list_all_runs(world.store, ANN, RunFilter(tag=tag), ANY)))

    for name in ("outer", "shared", "own"):
        assert found(name) == (["flow"], [("flow", 1)])
    assert found("inner") == (["below"], [("below", 1)])
    assert found("once") == ([], [("flow", 1)])
    (line,) = world.do(list_workflows(world.store, ANN, WorkflowFilter(tag="outer"), ANY)).elements
    assert [tag.name for tag in line.tags] == ["outer", "shared", "own"]
    assert line.tags[1].attributes["team"] == "ops"  # the properties override the definition
    assert world.do(search(world.store, ANN, "out")).tags == ("outer",)
    world.publish(flow(sub, more="  tags: [later]\n"))
    assert (found("outer"), found("later")) == (([], [("flow", 1)]), (["flow"], []))
    world.start()
    assert found("later") == (["flow"], [("flow", 2)])


def test_a_list_shows_what_it_is_asked_for() -> None:
    world = with_runs()
    world.publish(flow(NOOP, name="cron", more="  time_triggers: [{type: CRON, cron: '0 * * * *'}]\n"))
    lines = world.do(list_workflows(world.store, ANN, ALL, ANY, include=list(Extra))).elements
    shown = {line.workflow_id: line for line in lines}
    assert [(run[0], run[2]) for run in shown["bad"].recent or ()] == [(2, "F"), (1, "F")]
    assert [dict(each.statuses) for each in shown["bad"].outcomes or ()] == [{RunStatus.FAILED: 2}]
    assert (shown["cron"].recent, shown["cron"].outcomes) == ((), ())
    assert shown["cron"].next_fire == world.do(world.store.next_trigger_due(range(128)))
    assert shown["bad"].next_fire is None
    late = world.do(
        list_workflows(world.store, ANN, ALL, ANY, include=[Extra.OUTCOMES], since=2**50)
    ).elements
    assert {line.outcomes for line in late} == {()}


def test_outcomes_and_schedules_are_for_who_may_see_them() -> None:
    world = with_runs()
    world.publish(flow(NOOP, name="cron", more="  time_triggers: [{type: CRON, cron: '0 * * * *'}]\n"))
    assert {each.workflow_id for each in world.do(list_outcomes(world.store, ANN, ["bad", "good"], 0))} == {
        "bad",
        "good",
    }
    keep(world, "bad")
    keep(world, "cron")
    assert {each.workflow_id for each in world.do(list_outcomes(world.store, EVE, ["bad", "good"], 0))} == {
        "good"
    }
    assert len(world.do(list_schedules(world.store, ANN, ANY)).elements) == 1
    assert world.do(list_schedules(world.store, EVE, ANY)).elements == ()


def test_properties_as_they_stood() -> None:
    world = World()
    world.publish(flow(NOOP))
    for number in (5, 6):
        world.advance(10)
        world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(step_concurrency=number)))
    page = world.do(list_properties(world.store, ANN, "flow", PageRequest(first=2)))
    assert [each.step_concurrency for each in page.elements] == [6, 5]
    older = PageRequest(first=2, cursor=page.page_info.end_cursor)
    assert [
        each.step_concurrency for each in world.do(list_properties(world.store, ANN, "flow", older)).elements
    ] == [None]


# ------------------------------------------------------------------------------------------- steps and waits
def test_all_attempts_of_a_step() -> None:
    world = with_runs()
    (line,) = world.do(list_attempts(world.store, ANN, "bad", 1, "latest", "x"))
    assert (line.step_attempt_id, line.status) == (1, "FATALLY_FAILED")
    assert line.end_time is not None
    with pytest.raises(NotFound, match=r"Run \[bad\]\[1\]\[1\] has no step \[nowhere\]"):
        world.do(list_attempts(world.store, ANN, "bad", 1, "latest", "nowhere"))


def test_a_step_that_was_not_created_has_no_attempts() -> None:
    world = World(failing("a"))
    world.publish(flow(*CHAIN))
    world.start()
    assert world.do(list_attempts(world.store, ANN, "flow", 1, "latest", "b")) == []


def test_breakpoints_of_all_workflows() -> None:
    world = World()
    world.publish(flow(NOOP, LOOP))
    world.publish(flow(NOOP, name="kept"))
    for workflow_id, step_id in (("flow", "a"), ("flow", "g"), ("kept", "a")):
        world.do(
            set_breakpoint(world.store, ANN, BreakpointRequest(workflow_id=workflow_id, step_id=step_id))
        )
    keep(world, "kept")
    page = world.do(list_all_breakpoints(world.store, ANN, PageRequest(first=1)))
    rest = world.do(
        list_all_breakpoints(world.store, ANN, PageRequest(first=5, cursor=page.page_info.end_cursor))
    )
    assert [each.step_id for each in (*page.elements, *rest.elements)] == ["a", "a", "g"]
    assert [each.workflow_id for each in world.do(list_all_breakpoints(world.store, EVE, ANY)).elements] == [
        "flow"
    ]


def test_who_waits_stands_in_line() -> None:
    world = World(going_on)
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="gpu", max_allowed=1)))
    numbers = ", ".join(map(str, range(6)))
    world.publish(flow(LOOP.replace("[1, 2]", f"[{numbers}]"), more="  instance_step_concurrency: 9\n"))
    world.start()
    world.settle()

    def page(**request: Any) -> Page[Any]:
        return world.do(list_waiters(world.store, ANN, "gpu", PageRequest(**request)))

    def places(found: Page[Any]) -> list[int]:
        return [each.place for each in found.elements]

    whole = page(first=9)
    assert places(whole) == [1, 2, 3, 4, 5]
    first = page(first=2)
    assert (places(first), first.page_info.has_next_page) == ([1, 2], True)
    second = page(first=2, cursor=first.page_info.end_cursor)
    assert second.elements == whole.elements[2:4]
    back = page(last=1, cursor=second.page_info.start_cursor)
    assert back.elements == whole.elements[1:2]


def test_who_holds_and_who_waits() -> None:
    world = World(going_on)
    world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag="gpu", max_allowed=1)))
    world.publish(flow(LOOP))
    world.start()
    world.settle()
    (use,) = [each for each in world.do(list_tags(world.store, ANN, ANY)).elements if each.tag == "gpu"]
    assert (use.max_allowed, use.held, use.waiting) == (1, 1, 1)
    holders = world.do(list_holders(world.store, EVE, "gpu", ANY)).elements
    waiters = world.do(list_waiters(world.store, EVE, "gpu", ANY)).elements
    assert [each.attempt.step_id for each in holders] == ["g"]
    assert [(each.place, each.row.attempt.step_id) for each in waiters] == [(1, "g")]
    keep(world, "flow")
    assert world.do(list_holders(world.store, EVE, "gpu", ANY)).elements == ()
    assert world.do(list_waiters(world.store, EVE, "gpu", ANY)).elements == ()
    assert len(world.do(list_waiters(world.store, ANN, "gpu", ANY)).elements) == 1


def test_signals_and_who_waits_for_them() -> None:
    world = World()
    world.publish(flow(NOOP))
    for number in range(3):
        world.do(announce(world.store, ANN, SignalRequest(name="go", params={"n": number})))
    run = RunKey("flow", 1, 1)
    waits = [SignalWait(name="go", attempt=AttemptKey(run, "s", 1), index=each, group=1) for each in range(3)]
    lost = SignalWait(
        name="go", attempt=AttemptKey(RunKey("maestro_foreach_x", 1, 1), "s", 1), index=0, group=1
    )
    part = GroupPart(lease=world.leases[1], decisions=(Decided(waits=(*waits, lost)),))
    world.do(world.store.commit(NODE, [part]))
    names = world.do(list_signal_names(world.store, EVE, ANY)).elements
    assert [(each.name, each.last_seq, each.waits) for each in names] == [("go", 3, 4)]
    page = world.do(list_signals(world.store, EVE, "go", PageRequest(first=2)))
    assert [each.seq_id for each in page.elements] == [3, 2]
    first = world.do(list_signal_waits(world.store, EVE, "go", PageRequest(first=2)))
    assert [each.index for each in first.elements] == [0, 1]
    rest = PageRequest(first=2, cursor=first.page_info.end_cursor)
    assert [each.index for each in world.do(list_signal_waits(world.store, EVE, "go", rest)).elements] == [2]
    with pytest.raises(InvalidRequest):
        world.do(list_signal_waits(world.store, EVE, "go", PageRequest(last=2, cursor="x")))


# --------------------------------------------------------------------------------------------------- cluster
def test_nodes_and_groups() -> None:
    world = World()
    assert [each.node for each in world.do(list_nodes(world.store, EVE))] == [NODE]
    assert len(world.do(list_groups(world.store, EVE))) == 128


def test_what_was_parked_is_released_by_an_admin() -> None:
    world = World()
    world.publish(flow(NOOP))
    (message,) = world.do(world.store.fetch(NODE, range(128))).messages
    for _ in range(MOST_TRIES):
        world.do(world.store.postpone(world.leases[message.to_group or 0], message.id, "poison"))
    page = world.do(list_parked(world.store, ANN, ANY))
    assert [each.parked for each in page.elements] == ["poison"]
    told: list[frozenset[int]] = []
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.append(groups))
    for work in (list_parked(world.store, EVE, ANY), release_message(world.store, EVE, message.id)):
        with pytest.raises(Forbidden):
            world.do(work)
    world.do(release_message(world.store, ANN, message.id, hints=hints))
    assert message.to_group in told[0]
    assert world.do(list_parked(world.store, ANN, ANY)).elements == ()
    with pytest.raises(NotFound, match=rf"\[{message.id}\]"):
        world.do(release_message(world.store, ANN, message.id))


def test_a_run_in_quarantine_is_released_by_an_admin() -> None:
    world = World(going_on)
    world.publish(flow(WORK))
    world.start()
    world.settle()
    run = RunKey("flow", 1, 1)
    row = world.row()
    with world.store._db.transaction():
        world.store._db.runs.put(run, msgspec.structs.replace(row, quarantined="died three times"))
    (line,) = world.do(list_quarantined(world.store, ANN, ANY)).elements
    assert line.quarantined == "died three times"
    told: list[frozenset[int]] = []
    hints = MemoryHints()
    hints.listen(lambda groups, _runs: told.append(groups))
    with pytest.raises(Forbidden):
        world.do(release_run(world.store, EVE, run))
    world.do(release_run(world.store, ANN, run, hints=hints))
    assert told == [frozenset({row.group})]
    for missing, said in ((run, "is not in quarantine"), (RunKey("flow", 9, 9), "9")):
        with pytest.raises(NotFound, match=said):
            world.do(release_run(world.store, ANN, missing))


def test_who_goes_on_with_a_run_releases_all_that_it_waits_for() -> None:
    """Also over several levels, and over pages; others stay where they are."""
    world = World(going_on)
    world.publish(flow(WORK))
    world.start()
    world.start()
    world.settle()
    mine, other = world.row(), world.row("flow", 2)
    below = RunKey("below", 1, 1)
    parent = Parent(group=mine.group, attempt=AttemptKey(mine.key, "s", 1))
    with world.store._db.transaction():
        runs = world.store._db.runs
        for row in (mine, other):
            runs.put(row.key, msgspec.structs.replace(row, quarantined="died"))
        for number in range(150):
            key = RunKey("below", number + 1, 1)
            record = msgspec.structs.replace(mine.record, key=key, uuid=f"u{number}")
            above = parent if not number else Parent(group=mine.group, attempt=AttemptKey(below, "t", 1))
            row = msgspec.structs.replace(mine, record=record, root=key, parent=above, quarantined="died")
            runs.put(key, row)
    with pytest.raises(Forbidden):
        world.do(
            release_flow(world.store, msgspec.structs.replace(EVE, roles=frozenset({Role.VIEWER})), mine.key)
        )
    released = world.do(release_flow(world.store, ANN, mine.key))
    assert len(released) == 151
    assert mine.key in released
    left = world.do(list_quarantined(world.store, ANN, ANY)).elements
    assert [RunKey(each.workflow_id, each.workflow_instance_id, each.workflow_run_id) for each in left] == [
        other.key
    ]
    assert world.do(release_flow(world.store, ANN, mine.key)) == []


# ---------------------------------------------------------------------------------------------------- access
Look = Callable[[World, Caller], Coroutine[Any, Any, Any]]
SEEN_BY_VIEWERS: dict[str, Look] = {
    "all_runs.list_all_runs": lambda w, c: list_all_runs(w.store, c, RunFilter(), ANY),
    "all_runs.get_run_histogram": lambda w, c: get_run_histogram(w.store, c, RunFilter(), (0, 9), 3),
    "all_runs.list_children": lambda w, c: list_children(
        w.store, c, AttemptKey(RunKey("flow", 1, 1), "s", 1), ANY
    ),
    "all_runs.list_quarantined": lambda w, c: list_quarantined(w.store, c, ANY),
    "all_workflows.list_workflows": lambda w, c: list_workflows(w.store, c, ALL, ANY),
    "all_workflows.list_schedules": lambda w, c: list_schedules(w.store, c, ANY),
    "approvals.list_approvals": lambda w, c: list_approvals(w.store, c, ApprovalFilter(), ANY),
    "breakpoints.list_all_breakpoints": lambda w, c: list_all_breakpoints(w.store, c, ANY),
    "breakpoints.list_all_paused": lambda w, c: list_all_paused(w.store, c, ANY),
    "overview.get_overview": lambda w, c: get_overview(w.store, c, w.clock, DAY),
    "search.search": lambda w, c: search(w.store, c, "x"),
    "limits.list_tags": lambda w, c: list_tags(w.store, c, ANY),
    "limits.list_holders": lambda w, c: list_holders(w.store, c, "gpu", ANY),
    "limits.list_waiters": lambda w, c: list_waiters(w.store, c, "gpu", ANY),
    "signals.list_signal_names": lambda w, c: list_signal_names(w.store, c, ANY),
    "signals.list_signals": lambda w, c: list_signals(w.store, c, "go", ANY),
    "signals.list_signal_waits": lambda w, c: list_signal_waits(w.store, c, "go", ANY),
    "cluster.list_nodes": lambda w, c: list_nodes(w.store, c),
    "cluster.get_queue": lambda w, c: get_queue(w.store, c),
    "cluster.list_groups": lambda w, c: list_groups(w.store, c),
}


@pytest.mark.parametrize("name", SEEN_BY_VIEWERS)
def test_lists_take_the_role_of_a_viewer(name: str) -> None:
    world = World()
    with pytest.raises(Forbidden, match=r"\[VIEWER\]"):
        world.do(SEEN_BY_VIEWERS[name](world, Caller(user=User(name="x"), roles=frozenset())))
    world.do(SEEN_BY_VIEWERS[name](world, Caller(user=User(name="x"), roles=frozenset({Role.VIEWER}))))
