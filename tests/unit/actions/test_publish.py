"""Publishing a version, and everything that is checked before."""

import pytest
from tests.unit.actions.world import ANN, BEGIN, NOOP, World, author, flow

from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.job_templates import put_job_template
from stretto.actions.publish import check_definition, decide_publish, publish
from stretto.definition import Limits, load
from stretto.definition.parse import Options
from stretto.model.errors import Conflict, Forbidden, InvalidDefinition, InvalidRequest, PreconditionFailed
from stretto.model.event import DefinitionChanged, VersionChanged
from stretto.model.job_template import JobTemplateDefinition, JobTemplateRequest
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.runs import RunCounts
from stretto.model.user import User
from stretto.model.workflow import Definition
from stretto.params import ParamError
from stretto.ports.messages import Log
from stretto.ports.workflows import Found, read_workflow


def definition(text: str) -> Definition:
    (found,) = load(text, Options(rules=False))
    return found


def test_versions_count_up_and_the_newest_is_active() -> None:
    world = World()
    first = world.publish(flow(NOOP))
    second = world.publish(flow(NOOP))
    assert [v.metadata and v.metadata.workflow_version_id for v in (first, second)] == [1, 2]
    assert (first.is_active, first.is_latest, first.is_default, first.activate_time) == (
        True,
        True,
        True,
        BEGIN,
    )
    assert first.internal_id == second.internal_id == 10_000
    assert second.activated_by == ANN.user


def test_an_inactive_version_leaves_the_active_one() -> None:
    world = World()
    world.publish(flow(NOOP))
    version = world.publish(flow(NOOP) + "is_active: false\n")
    assert (version.is_active, version.is_latest, version.is_default) == (False, True, False)
    assert version.activate_time is None


def test_the_first_version_may_be_inactive() -> None:
    version = World().publish(flow(NOOP) + "is_active: false\n")
    assert (version.is_active, version.is_default) == (False, True)


def test_the_first_version_needs_an_owner() -> None:
    world = World()
    text = "workflow: {id: flow, steps: [{step: {id: a, type: NoOp}}]}"
    with pytest.raises(InvalidDefinition, match="owner"):
        world.publish(text)
    found = Found(now=BEGIN, row=None, internal_id=1, counts=RunCounts(0, 0, 0))
    with pytest.raises(InvalidRequest, match=r"first version of workflow \[flow\] must name an owner"):
        decide_publish(found, ANN, definition(text))


def test_a_push_without_properties_keeps_them() -> None:
    world = World()
    world.publish(flow(NOOP))
    version = world.publish("workflow: {id: flow, steps: [{step: {id: a, type: NoOp}}]}")
    assert version.properties_snapshot is not None
    assert version.properties_snapshot.create_time == BEGIN
    events = [
        event
        for message in world.do(world.store.fetch("node-1", range(128))).messages  # type: ignore[arg-type]
        if isinstance(message.body, Log)
        for event in message.body.events
    ]
    assert [type(event) for event in events] == [DefinitionChanged, VersionChanged]


def test_a_push_resets_three_properties_and_keeps_the_others() -> None:
    world = World()
    world.publish(
        "properties: {owner: ann, run_strategy: 3, step_concurrency: 4, description: old}\n"
        "workflow: {id: flow, steps: [{step: {id: a, type: NoOp}}]}"
    )
    after = world.publish(
        "properties: {owner: bob}\nworkflow: {id: flow, steps: [{step: {id: a, type: NoOp}}]}"
    ).properties_snapshot
    assert after is not None
    assert (after.owner, after.description) == (User(name="bob"), "old")
    assert [after.run_strategy, after.step_concurrency, after.alerting] == [None] * 3


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("{id: a, type: NoOp, transition: {successors: {x: 'true'}}}", InvalidDefinition, "x"),
        ("{id: a, type: Http, params: {}}", InvalidDefinition, "http"),
    ],
)
def test_a_bad_definition_is_refused(text: str, error: type[Exception], said: str) -> None:
    world = World()
    with pytest.raises(error, match=said):
        world.publish(flow(text))
    assert world.do(read_workflow(world.store, "flow")) is None


def test_limits_are_the_callers() -> None:
    world = World()
    with pytest.raises(InvalidDefinition, match="1"):
        world.do(
            publish(world.store, ANN, definition(flow(NOOP, "{id: b, type: NoOp}")), limits=Limits(steps=1))
        )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("  params: {x: {expression: 'return y;', type: LONG}}\n", "y"),
        ("  params: {x: {expression: 'return x;', type: LONG}}\n", "x"),
        ("  timeout: ${x}\n  params: {x: {value: nonsense, type: STRING}}\n", "timeout"),
    ],
)
def test_the_dry_run_evaluates_the_workflow(more: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        World().publish(flow(NOOP, more=more))


def test_the_dry_run_has_stand_ins() -> None:
    more = (
        "  timeout: ${secs}\n"
        "  signal_triggers: [{definitions: {go: {}}}]\n"
        "  params:\n"
        "    secs: {value: '60', type: STRING}\n"
        "    FROM_DATE: {value: '${undefined}', type: STRING}\n"
        "    seen: {expression: \"return params.getFromSignal('go', 'day');\", type: STRING}\n"
        "    unique: {expression: 'return params.nextUniqueId();', type: LONG}\n"
        "    by: {expression: \"params.getFromInstance('INITIATOR_RUNNER_NAME')\", type: STRING}\n"
        "    zone: {expression: \"params.getFromInstance('INITIATOR_TIMEZONE')\", type: STRING}\n"
    )
    assert World().publish(flow(NOOP, more=more)).is_active


def test_a_workflow_that_asks_who_started_it() -> None:
    more = "  params: {by: {expression: \"params.getFromInstance('INITIATOR_RUNNER_NAME')\", type: STRING}}\n"
    world = World()
    world.publish(flow(NOOP, more=more))
    world.start()
    assert world.row().record.params["by"].evaluated_result == "ann"


def test_the_dry_run_merges_the_steps() -> None:
    step = "{id: a, type: Sleep, params: {sleep_seconds: {value: soon, type: STRING}}}"
    with pytest.raises(ParamError, match="sleep_seconds"):
        World().publish(flow(step))


def template(world: World, **more: object) -> None:
    request = JobTemplateRequest(
        owner=ANN.user,
        status="ready",
        support="team",
        definition=JobTemplateDefinition(job_type="copy", step_type="NoOp", version="default", **more),  # type: ignore[arg-type]
    )
    world.do(put_job_template(world.store, ANN, request))


def test_steps_take_their_job_templates() -> None:
    world = World()
    template(world, params={"rows": ParamDefinition(type=ParamType.LONG, value=1)})
    step = "{id: a, type: NoOp, sub_type: copy, params: {rows: {value: many, type: STRING}}}"
    with pytest.raises(ParamError, match="rows"):
        world.publish(flow(step))
    fine = flow("{id: a, type: NoOp, sub_type: copy}", "{id: b, type: NoOp, sub_type: none}")
    assert world.publish(fine).is_active


def test_nested_steps_are_looked_up_too() -> None:
    loop = "{loop_params: {value: {i: {value: [1], type: LONG_ARRAY}}, type: MAP}}"
    inner = f"foreach: {{id: f, params: {loop}, steps: [{{step: {{id: g, type: NoOp, sub_type: copy}}}}]}}"
    assert World().publish(flow(inner)).is_active


def test_tags_can_not_be_pushed() -> None:
    world = World()
    with pytest.raises(InvalidRequest, match="tag"):
        world.publish(
            "properties: {owner: ann, tags: [x]}\nworkflow: {id: flow, steps: [{step: {id: a, type: NoOp}}]}"
        )


def test_only_the_owner_or_an_admin_hands_over() -> None:
    world = World()
    world.publish(flow(NOOP))
    with pytest.raises(Forbidden, match=r"\[eve\].*hand over.*\[flow\]"):
        world.publish(flow(NOOP, owner="eve"), author("eve"))
    assert world.publish(flow(NOOP, owner="bob"), author("ann")).is_latest


def test_a_strategy_that_can_not_go_on_is_refused() -> None:
    world = World()
    world.publish(flow("{id: a, type: Python}"))
    world.start()
    world.start()
    with pytest.raises(PreconditionFailed, match="FIRST_ONLY"):
        world.publish(flow(NOOP, strategy="FIRST_ONLY"))


def test_validation_stores_nothing() -> None:
    world = World()
    event = world.do(check_definition(world.store, ANN, definition(flow(NOOP))))
    assert (event.action, event.author) == ("VALIDATE", ANN.user)
    assert world.do(read_workflow(world.store, "flow")) is None


def test_an_id_that_is_being_deleted_can_not_be_published() -> None:
    world = World()
    world.publish(flow(NOOP))
    world.do(delete_workflow(world.store, ANN, "flow"))
    with pytest.raises(Conflict, match="flow"):
        world.publish(flow(NOOP))


def test_triggers_come_with_the_active_version() -> None:
    world = World()
    more = (
        "  time_triggers:\n"
        "    - {type: CRON, cron: '0 * * * *', timezone: UTC, fuzzy_max_delay: 10 min}\n"
        "    - {type: PREDEFINED, expression: '@daily', fuzzy_max_delay: 5000}\n"
        "  signal_triggers: [{definitions: {go: {}}}]\n"
    )
    world.publish(flow(NOOP, more=more))
    times, signals = world.do(world.store.triggers_of("flow"))
    assert len(times) == 2
    assert all(each.next_fire_at is not None and each.next_fire_at > BEGIN for each in times)
    assert all(0 <= each.jitter < 600_000 for each in times)
    assert [list(each.trigger.definitions) for each in signals] == [["go"]]
    world.publish(flow(NOOP))
    assert world.do(world.store.triggers_of("flow")) == ([], [])
