"""What readers see."""

from typing import Any

import msgspec
import pytest
from tests.unit.actions.world import ANN, CHAIN, NOOP, WORK, World, failing, flow, going_on

from stretto.actions.deactivate import deactivate
from stretto.actions.parts.finding import step_in
from stretto.actions.reading import why as reading_why
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.instances import (
    get_instance,
    get_run,
    instance_action_map,
    list_instances,
    list_runs,
)
from stretto.actions.reading.steps import get_attempt, get_step, list_steps, step_action_map
from stretto.actions.reading.why import why_run, why_step
from stretto.actions.reading.workflows import (
    get_overview,
    get_properties,
    get_timeline,
    get_version,
    list_versions,
)
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.engine.events import ResultState
from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import LoopRecord, RunKey
from stretto.model.actions import INSTANCE_ACTIONS, STEP_ACTIONS
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.page import Page, PageInfo
from stretto.model.param import InternalParamMode
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.request import InstanceRestartRequest, PageRequest, StepRestartRequest
from stretto.model.response import Hold
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.model.workflow import EnrichedExtras
from stretto.ports.history import FilteredRuns, RunFilter, RunList
from stretto.ports.paging import Cut, Slice
from stretto.ports.run_snapshot import NewestRun, RunPage
from stretto.strategies import Waiting

LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}]}"
)
INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE


def made(text: str = "", runtime: Any = going_on) -> World:
    world = World(runtime)
    world.publish(text or flow(*CHAIN))
    world.start()
    return world.settle()


# ------------------------------------------------------------------------------------------------- workflows
def test_versions() -> None:
    world = World()
    for _ in range(3):
        world.publish(flow(NOOP))
    assert world.do(get_version(world.store, ANN, "flow", "2")).is_latest is False
    page = world.do(list_versions(world.store, ANN, "flow", PageRequest(first=2)))
    numbers = [each.metadata and each.metadata.workflow_version_id for each in page.elements]
    assert numbers == [3, 2]
    assert (page.total_count, page.page_info.end_cursor, page.page_info.has_next_page) == (3, "2", True)


def test_an_enriched_version_says_what_comes_by_itself() -> None:
    world = World()
    triggers = "[{type: CRON, cron: '0 * * * *'}, {type: PREDEFINED, expression: '@daily'}]"
    world.publish(flow("{id: a, type: Sleep}", more=f"  time_triggers: {triggers}\n"))
    extras = world.do(get_version(world.store, ANN, "flow", "1", enrich=True)).enriched_extras
    assert extras is not None
    assert "RUN_TS" in (extras.workflow_params or {})
    assert "step_id" in (extras.step_params or {})["a"]
    fires = extras.next_execution_times or ()
    assert len(fires) == 2
    assert extras.next_execution_time == min(each for each in fires if each is not None)
    world.do(deactivate(world.store, ANN, "flow"))
    after = world.do(get_version(world.store, ANN, "flow", "1", enrich=True)).enriched_extras
    assert after is not None
    assert (after.next_execution_time, after.next_execution_times) == (None, (None, None))


def test_the_overview_counts() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    overview = world.do(get_overview(world.store, ANN, "flow"))
    assert (overview.active_version_id, overview.latest_instance_id) == (1, 2)
    assert overview.nonterminal_instances == {"CREATED": 1, "IN_PROGRESS": 1, "PAUSED": 0}
    assert overview.failed_instances == 0
    with pytest.raises(NotFound):
        world.do(get_overview(world.store, ANN, "other"))


def test_a_default_strategy_is_shown() -> None:
    world = World()
    world.publish("properties: {owner: ann}\nworkflow: {id: flow, steps: [{step: {id: a, type: NoOp}}]}")
    shown = world.do(get_overview(world.store, ANN, "flow")).properties_snapshot
    assert shown is not None
    assert shown.run_strategy is not None
    assert shown.run_strategy.rule == "SEQUENTIAL"
    assert world.do(get_properties(world.store, ANN, "flow")).run_strategy is None
    assert world.do(get_timeline(world.store, ANN, "other")).timeline_events == []


# ----------------------------------------------------------------------------------------------------- pages
def five() -> World:
    world = World()
    world.publish(flow(NOOP))
    for _ in range(5):
        world.start()
    return world.settle()


@pytest.mark.parametrize(
    ("request_", "ids", "before", "after", "index"),
    [
        (PageRequest(first=2), [5, 4], False, True, 1),
        (PageRequest(first=2, cursor="4"), [3, 2], True, True, 3),
        (PageRequest(first=9, cursor="4"), [3, 2, 1], True, False, 3),
        (PageRequest(last=2), [2, 1], True, False, 4),
        (PageRequest(last=2, cursor="2"), [4, 3], True, True, 2),
        (PageRequest(first=5, cursor=""), [5, 4, 3, 2, 1], False, False, 1),
    ],
)
def test_pages_of_instances(
    request_: PageRequest, ids: list[int], before: bool, after: bool, index: int
) -> None:
    world = five()
    page = world.do(list_instances(world.store, ANN, "flow", request_))
    assert [each.workflow_instance_id for each in page.elements] == ids
    info = page.page_info
    assert (info.start_cursor, info.end_cursor) == (str(ids[0]), str(ids[-1]))
    assert (info.has_previous_page, info.has_next_page, info.start_index) == (before, after, index)
    assert page.total_count == 5


def test_empty_pages() -> None:
    world = five()
    page = world.do(list_instances(world.store, ANN, "flow", PageRequest(first=2, cursor="1")))
    assert (page.elements, page.total_count, page.page_info.start_cursor) == ((), 5, None)
    world.publish(flow(NOOP, name="other"))
    assert world.do(list_instances(world.store, ANN, "other", PageRequest(last=2))).total_count == 0


@pytest.mark.parametrize(
    "request_",
    [
        PageRequest(),
        PageRequest(first=1, last=1),
        PageRequest(first=0),
        PageRequest(last=201),
        PageRequest(first=1, cursor="x"),
    ],
)
def test_bad_pages_are_refused(request_: PageRequest) -> None:
    world = five()
    with pytest.raises(InvalidRequest):
        world.do(list_instances(world.store, ANN, "flow", request_))


# ------------------------------------------------------------------------------------------------- instances
def test_a_run_before_during_and_after() -> None:
    world = World(going_on)
    world.publish(flow(*CHAIN))
    world.start()
    queued = world.do(get_instance(world.store, ANN, "flow", 1))
    assert (queued.status, queued.runtime_overview) == ("CREATED", None)
    world.settle()
    running = world.do(get_instance(world.store, ANN, "flow", 1))
    assert running.status == "IN_PROGRESS"
    assert running.timeout_in_millis is None  # the default is a setting of the engine
    assert running.runtime_overview is not None
    assert list(running.runtime_overview.step_overview) == ["RUNNING"]
    assert list(running.runtime_dag or {}) == ["a", "b", "c"]
    assert running.internal_id == 10_000
    assert running.run_status is RunStatus.IN_PROGRESS
    statuses = [line.status for line in running.timeline if hasattr(line, "status")]
    assert statuses == ["CREATED", "IN_PROGRESS"]
    plain = world.do(get_run(world.store, ANN, "flow", 1, "latest", enriched=False))
    assert plain.aggregated_info is None
    assert not any(hasattr(line, "status") for line in plain.timeline)


def test_a_queued_run_has_no_execution() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    assert world.do(get_instance(world.store, ANN, "flow", 2)).execution_id is None
    assert world.do(get_instance(world.store, ANN, "flow", 1)).execution_id is not None


def restarted() -> World:
    """Five steps: one failed, its successor was not created; the second run makes good for both."""
    world = made(runtime=failing("b"))
    world.runtime = failing()
    request = InstanceRestartRequest(restart_policy=INCOMPLETE)
    world.do(restart(world.store, ANN, "flow", 1, request))
    return world.settle()


def test_the_aggregated_view_spans_runs() -> None:
    world = restarted()
    view = world.do(get_instance(world.store, ANN, "flow", 1))
    assert view.aggregated_info is not None
    views = view.aggregated_info.step_aggregated_views
    assert {step: (each.workflow_run_id, each.status.value) for step, each in views.items()} == {
        "a": (1, "SUCCEEDED"),
        "b": (2, "SUCCEEDED"),
        "c": (2, "SUCCEEDED"),
    }
    assert view.status == "SUCCEEDED"
    assert list(view.runtime_dag or {}) == ["b", "c"]
    page = world.do(list_runs(world.store, ANN, "flow", 1, PageRequest(first=1)))
    assert [each.workflow_run_id for each in page.elements] == [2]
    assert page.page_info.has_next_page
    assert world.do(get_run(world.store, ANN, "flow", 1, "1")).status == "FAILED"
    for run, error in (("9", NotFound), ("x", InvalidRequest)):
        with pytest.raises(error):
            world.do(get_run(world.store, ANN, "flow", 1, run))


def test_an_older_failure_stands_beside_a_run_that_succeeded() -> None:
    siblings = flow("{id: a, type: Python}", "{id: b, type: Python}")
    world = made(siblings, failing("a", "b"))
    world.runtime = failing()
    request = StepRestartRequest(restart_policy=INCOMPLETE)
    world.do(restart_step(world.store, ANN, "flow", 1, "a", request))
    world.settle()
    view = world.do(get_instance(world.store, ANN, "flow", 1))
    assert (view.status, view.run_status) == ("FAILED", RunStatus.SUCCEEDED)


def test_many_runs_are_folded_page_by_page() -> None:
    world = restarted()
    runs = world.store.runs

    async def one_by_one(selection: RunList) -> Any:
        if isinstance(selection, RunPage):
            selection = selection._replace(cut=msgspec.structs.replace(selection.cut, most=1))
        return await runs(selection)

    for _ in range(2):
        request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
        world.do(restart(world.store, ANN, "flow", 1, request))
        world.settle()
    world.swap("runs", one_by_one)
    assert world.do(get_instance(world.store, ANN, "flow", 1)).workflow_run_id == 4


def test_iterations_are_instances_too() -> None:
    world = made(flow(LOOP), failing())
    (loop,) = world.do(world.store.loops(world.row().key))
    page = world.do(list_instances(world.store, ANN, loop.inline_id, PageRequest(first=5)))
    assert [each.workflow_instance_id for each in page.elements] == [2, 1]
    assert list(page.elements[0].runtime_dag or {}) == ["g"]
    assert world.do(get_step(world.store, ANN, loop.inline_id, 1, "g")).runtime_state.status == "SUCCEEDED"


def test_what_is_gone_is_not_found() -> None:
    world = made()
    row = world.row()
    lost = msgspec.structs.replace(row, root=RunKey("other", 1, 1))
    with pytest.raises(NotFound, match=r"\[other\]\[1\]"):
        world.do(definition_of(world.store, lost))
    for work in (
        get_instance(world.store, ANN, "flow", 9),
        get_step(world.store, ANN, "flow", 1, "zzz"),
        get_attempt(world.store, ANN, "flow", 1, "1", "zzz", "latest"),
        get_attempt(world.store, ANN, "flow", 1, "1", "a", "7"),
        why_step(world.store, ANN, "flow", 1, "zzz"),
    ):
        with pytest.raises(NotFound):
            world.do(work)


def test_lists_of_what_is_not_there_are_empty_pages() -> None:
    world, part = made(), PageRequest(first=5)
    for work in (
        list_versions(world.store, ANN, "other", part),
        list_instances(world.store, ANN, "other", part),
        list_instances(world.store, ANN, "maestro_foreach_1_11_abc", PageRequest(last=2, cursor="1")),
        list_runs(world.store, ANN, "flow", 9, part),
        list_runs(world.store, ANN, "other", 1, PageRequest(last=3)),
    ):
        page: Page[Any] = world.do(work)
        assert (page.elements, page.total_count, page.page_info) == ((), 0, PageInfo())
    with pytest.raises(InvalidRequest):
        world.do(list_versions(world.store, ANN, "other", PageRequest(first=0)))


def extras_of(*steps: str, more: str = "") -> EnrichedExtras:
    world = World()
    world.publish(flow(*steps, more=more))
    extras = world.do(get_version(world.store, ANN, "flow", "1", enrich=True)).enriched_extras
    assert extras is not None
    return extras


def test_enriched_parameters_have_the_marks_of_the_system() -> None:
    mine = "  params: {mine: {value: 1, type: LONG}}\n"
    extras = extras_of("{id: a, type: NoOp, params: {own: {value: x, type: STRING}}}", more=mine)
    params, step = extras.workflow_params or {}, (extras.step_params or {})["a"]
    assert params["workflow_id"].internal_mode is step["step_id"].internal_mode is InternalParamMode.RESERVED
    assert params["job_template_version"].internal_mode is InternalParamMode.OPTIONAL
    assert params["job_template_version"].value is None
    assert params["mine"].internal_mode is step["own"].internal_mode is None


def test_enriched_parameters_of_types_have_maestros_validators_and_tags() -> None:
    http = "{id: h, type: Http, params: {http: {value: {url: {value: u, type: STRING}}, type: MAP}}}"
    step = extras_of(LOOP, http, "{id: s, type: Sleep}").step_params or {}
    loop = step["f"]
    assert (loop["loop_params"].validator, loop["loop_index"].validator) == ("@NotEmpty", "@Min(0)")
    assert loop["loop_params"].internal_mode is InternalParamMode.REQUIRED
    inside = step["h"]["http"].value
    assert inside["body"].internal_mode is InternalParamMode.OPTIONAL  # without a value, and there
    assert inside["url"].internal_mode is InternalParamMode.REQUIRED
    assert "sleep_seconds" not in step["s"]  # Maestro has no default for it


def test_what_an_author_says_of_a_default_counts() -> None:
    sub = (
        "subworkflow: {id: s, params: {subworkflow_id: {value: kid, type: STRING,"
        " validator: \"param != 'x'\", tags: [mine]}}}"
    )
    found = (extras_of(sub).step_params or {})["s"]
    assert found["subworkflow_id"].validator == "param != 'x'"
    assert [tag.name for tag in found["subworkflow_id"].tags or ()] == ["mine"]
    assert found["subworkflow_version"].validator == "@NotEmpty"
    image = "{image: {value: i, type: STRING}}"
    pod = f"{{id: k, type: Kubernetes, params: {{kubernetes: {{value: {image}, type: MAP, tags: [t]}}}}}}"
    tags = (extras_of(pod).step_params or {})["k"]["kubernetes"].tags
    assert [tag.name for tag in tags or ()] == ["kubernetes", "t"]


# ----------------------------------------------------------------------------------------------------- steps
def test_attempts_are_readable() -> None:
    retries = "{error_retry_limit: 1, backoff: {type: FIXED_BACKOFF}}"
    step = f"{{id: a, type: Python, tags: [t], retry_policy: {retries}}}"
    world = made(flow(step, "{id: b, type: Python}"))
    world.report("a", ResultState.FATAL_ERROR)
    world.do(restart_step(world.store, ANN, "flow", 1, "a", StepRestartRequest(restart_policy=INCOMPLETE)))
    world.settle()
    first = world.do(get_attempt(world.store, ANN, "flow", 1, "latest", "a", "1"))
    newest = world.do(get_attempt(world.store, ANN, "flow", 1, "1", "a", "LATEST"))
    assert (first.runtime_state.status, newest.runtime_state.status) == ("FATALLY_FAILED", "RUNNING")
    assert (first.step_attempt_id, newest.step_attempt_id) == (1, 2)
    assert first.step_instance_id == newest.step_instance_id
    assert first.step_uuid != newest.step_uuid
    assert (newest.step_retry.error_retry_limit, newest.step_retry.retryable) == (1, False)
    assert newest.definition is not None
    assert newest.definition.failure_mode == "FAIL_AFTER_RUNNING"
    assert [tag.name for tag in newest.tags or ()] == ["t"]
    with pytest.raises(InvalidRequest):
        world.do(get_attempt(world.store, ANN, "flow", 1, "1", "a", "newest"))


def test_steps_of_an_instance_and_of_a_run() -> None:
    world = restarted()
    over_all = world.do(list_steps(world.store, ANN, "flow", 1))
    assert [(each.step_id, each.workflow_run_id) for each in over_all] == [("a", 1), ("b", 2), ("c", 2)]
    assert [each.step_id for each in world.do(list_steps(world.store, ANN, "flow", 1, "2"))] == ["b", "c"]
    assert world.do(list_steps(world.store, ANN, "flow", 9)) == []
    transition = over_all[0].transition
    assert transition.successors["b"].evaluated_result is True
    lines = [
        line.status
        for line in world.do(get_step(world.store, ANN, "flow", 1, "a")).timeline
        if hasattr(line, "status")
    ]
    assert lines[0] == "CREATED"
    assert lines[-1] == "SUCCEEDED"


def test_a_timeout_is_shown() -> None:
    world = made(flow("{id: a, type: Python, timeout: 60}"))
    assert world.do(get_step(world.store, ANN, "flow", 1, "a")).timeout_in_millis == 60_000


def test_action_maps() -> None:
    assert instance_action_map() is INSTANCE_ACTIONS
    assert step_action_map() is STEP_ACTIONS


def test_steps_that_a_step_added_are_found_in_its_loop() -> None:
    world = made(flow(LOOP), failing())
    (loop,) = world.do(world.store.loops(world.row().key))
    row = world.row(loop.inline_id, 1)
    added = step_in(world.do(definition_of(world.store, row)).steps, "g")
    assert added is not None

    async def loops(_run: RunKey) -> list[LoopRecord]:
        return [msgspec.structs.replace(loop, steps=(added,))]

    initiator = row.record.initiator
    (parent,) = initiator.ancestors  # type: ignore[union-attr]
    other = msgspec.structs.replace(initiator, ancestors=(msgspec.structs.replace(parent, step_id="zzz"),))
    row.record.initiator = other
    world.swap("loops", loops)
    assert world.do(definition_of(world.store, row)).steps == (added,)
    assert step_in((), "g") is None


# ------------------------------------------------------------------------------------------------------- why
def test_why_a_run_is_queued() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    assert "number 1 in the queue" in world.do(why_run(world.store, ANN, "flow", 2)).sentence
    row = world.row(instance_id=2)
    world.report("a", ResultState.DONE)

    runs = world.store.runs

    async def old(selection: RunList) -> Any:
        return Slice(elements=(row,)) if isinstance(selection, NewestRun) else await runs(selection)

    world.swap("runs", old)
    assert "just left the queue" in world.do(why_run(world.store, ANN, "flow", 2)).sentence


def test_nothing_is_in_the_way_of_a_run_whose_turn_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    run, strategy = RunKey("flow", 2, 1), RunStrategy(rule=RunStrategyRule.SEQUENTIAL)
    free = Waiting(run=run, strategy=strategy, hold=Hold.NOTHING, ahead=(), running=(), failed=())
    monkeypatch.setattr(reading_why, "explain", lambda *_: free)
    (blocker,) = world.do(why_run(world.store, ANN, "flow", 2)).blockers
    assert (blocker.ref, blocker.moves_when) == ("flow/2/1", "its turn comes, which is now")


def test_why_a_run_goes_on_and_how_it_ended() -> None:
    world = made()
    answer = world.do(why_run(world.store, ANN, "flow", 1))
    assert [(each.step_id, each.status.value) for each in answer.steps] == [
        ("a", "RUNNING"),
        ("b", "NOT_CREATED"),
        ("c", "NOT_CREATED"),
    ]
    assert "its work goes on" in str(world.do(why_step(world.store, ANN, "flow", 1, "a")))
    for step in "abc":
        world.report(step, ResultState.DONE)
    assert "ended SUCCEEDED" in world.do(why_run(world.store, ANN, "flow", 1)).sentence
    assert "it ended SUCCEEDED" in str(world.do(why_step(world.store, ANN, "flow", 1, "a")))


def test_why_a_loop_goes_on() -> None:
    world = made(flow(LOOP))
    said = str(world.do(why_step(world.store, ANN, "flow", 1, "f")))
    assert "0 of 2 iterations have ended, 2 are under way" in said
    inline = next(key.workflow_id for key in world.flows[RunKey("flow", 1, 1)].tree.live if key[0] != "flow")
    assert world.do(why_step(world.store, ANN, inline, 1, "g")).status == "RUNNING"


def test_what_undoes_a_run_is_told_from_the_run() -> None:
    undo = "compensation: {step: {id: undo, type: Python}}"
    steps = (
        f"{{id: a, type: Python, {undo}, transition: {{successors: {{b: 'true'}}}}}}",
        "{id: b, type: Python}",
    )
    world = made(flow(*steps), failing("b"))
    page = world.do(world.store.runs(FilteredRuns(RunFilter(), Cut())))
    assert [row.key.workflow_id for row in page.elements] == ["flow"]
    inline = inline_workflow_id(Loop.COMPENSATION, 10_000, "flow", 1, "a", 1)
    row = world.row(inline, 1)
    assert [step.id for step in world.do(definition_of(world.store, row)).steps] == ["undo"]
    assert world.do(get_step(world.store, ANN, inline, 1, "undo")).runtime_state.status == "SUCCEEDED"

    async def gone(_selection: RunList) -> Slice[Any]:
        return Slice()

    world.swap("runs", gone)
    with pytest.raises(NotFound, match=r"\[flow\]\[1\]\[1\]"):
        world.do(definition_of(world.store, row))
