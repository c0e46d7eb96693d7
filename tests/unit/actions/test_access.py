"""Who may do what: the rule, and every action against every kind of caller."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.actions.test_lists import SEEN_BY_VIEWERS
from tests.unit.actions.test_page import answers_in_the_code
from tests.unit.actions.world import ANN, WORK, World, failing, flow, going_on

from stretto.actions import (
    act_on_step,
    act_on_steps,
    activate,
    add_tag,
    announce,
    answer_step,
    bulk,
    check_text,
    claim_ownership,
    deactivate,
    delete_breakpoint,
    delete_workflow,
    job_templates,
    pause,
    publish,
    publish_if_new,
    release,
    remove_tag,
    report_output,
    restart,
    restart_step,
    resume_attempt,
    resume_breakpoint,
    set_breakpoint,
    skip_step,
    start,
    stop,
    stop_workflow,
    tag_permits,
    unblock,
    update_properties,
)
from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import Right, check_may, may
from stretto.actions.parts.bulk_item import BulkAction
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.finding import find_run
from stretto.actions.reading import (
    artifacts,
    breakpoints,
    flatten,
    grids,
    instance_lines,
    instances,
    iteration_map,
    nesting,
    states,
    stats,
    steps,
    tree,
    version_diff,
    version_text,
    why,
    why_workflow,
    workflows,
)
from stretto.actions.reading.log_target import LogTarget, log_target_of
from stretto.definition import load
from stretto.definition.parse import Options
from stretto.definition.reading.read import Format
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Forbidden, NotFound, StrettoError
from stretto.model.initiator import Ancestor, ManualInitiator, PathNode, SubworkflowInitiator
from stretto.model.job_template import JobTemplateDefinition, JobTemplateRequest
from stretto.model.output_data import OutputDataRequest
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import AccessControl, Properties, PropertiesUpdate
from stretto.model.request import (
    BreakpointRequest,
    CallbackRequest,
    InstanceRestartRequest,
    PageRequest,
    SignalRequest,
    StartRequest,
    StepRestartRequest,
)
from stretto.model.response import StartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.params import ParamLimits
from stretto.ports.run_snapshot import read_newest_run
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow

VIEW, RUN, CHANGE = Right
ALL = frozenset(Right)
LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}]}"
)
PATH = (
    PathNode(workflow_id="flow", instance_id=1, step_id="f"),
    PathNode(workflow_id="any", instance_id=1, step_id="g"),
)
ATTEMPT = AttemptKey(RunKey("flow", 1, 1), "a", 1)
KEPT = AccessControl(viewers=("vic",), runners=("rita",), authors=("art",))
INCOMPLETE = RunPolicy.RESTART_FROM_INCOMPLETE
Work = Callable[[World, Caller], Coroutine[Any, Any, Any]]


def who(name: str, *roles: Role) -> Caller:
    return Caller(user=User(name=name), roles=frozenset(roles))


# --------------------------------------------------------------------------------------------------- the rule
OWNER = User(name="ann")


@pytest.mark.parametrize(
    ("control", "caller", "rights"),
    [
        (None, who("root", Role.ADMIN), ALL),
        (None, who("eve", Role.AUTHOR), ALL),
        (None, who("eve", Role.RUNNER), {VIEW, RUN}),
        (None, who("eve", Role.VIEWER), {VIEW}),
        (None, who("eve"), set()),
        (None, who("ann"), ALL),  # the owner
        (AccessControl(), who("eve", Role.RUNNER), {VIEW, RUN}),
        (KEPT, who("root", Role.ADMIN), ALL),
        (KEPT, who("ann", Role.VIEWER), ALL),
        (KEPT, who("eve", Role.AUTHOR), set()),
        (KEPT, who("vic", Role.AUTHOR), {VIEW}),
        (KEPT, who("rita", Role.AUTHOR), {VIEW, RUN}),
        (KEPT, who("rita", Role.VIEWER), {VIEW}),  # a list takes nothing away, and gives nothing
        (KEPT, who("art", Role.AUTHOR), ALL),
        (AccessControl(runners=("rita",)), who("eve", Role.AUTHOR), {VIEW, CHANGE}),
        (AccessControl(viewers=("role:runner",)), who("eve", Role.VIEWER), set()),
        (AccessControl(viewers=("role:runner",)), who("eve", Role.RUNNER), {VIEW, RUN}),
        (AccessControl(runners=("role:AUTHOR", "vic")), who("eve", Role.AUTHOR), ALL),
        (AccessControl(runners=("role:AUTHOR", "vic")), who("eve", Role.RUNNER), {VIEW}),
        (AccessControl(viewers=("role:nobody",)), who("role:nobody", Role.VIEWER), set()),
    ],
)
def test_the_rule(control: AccessControl | None, caller: Caller, rights: set[Right]) -> None:
    properties = Properties(owner=OWNER, access_control=control)
    assert {right for right in Right if may(caller, right, properties)} == rights


def test_a_workflow_that_is_not_there_yet_is_for_who_has_the_role() -> None:
    assert may(who("eve", Role.AUTHOR), CHANGE, None)
    assert not may(who("eve", Role.RUNNER), CHANGE, None)


@pytest.mark.parametrize(
    ("properties", "caller", "said", "hint"),
    [
        (
            Properties(owner=OWNER, access_control=KEPT),
            who("eve", Role.AUTHOR),
            "User [eve] may not run workflow [flow]: it is for [rita], [art]",
            "ask the owner [ann] or an admin",
        ),
        (
            Properties(),
            who("eve", Role.VIEWER),
            "User [eve] may not run workflow [flow]: that takes the role [RUNNER]",
            "ask an admin",
        ),
        (None, who("eve"), "that takes the role [RUNNER]", "ask an admin"),
    ],
)
def test_a_refusal_says_who_may(properties: Properties | None, caller: Caller, said: str, hint: str) -> None:
    with pytest.raises(Forbidden) as caught:
        check_may(caller, RUN, "flow", properties)
    assert said in caught.value.message
    assert caught.value.hint == hint


# ------------------------------------------------------------------------------------------------ the actions
def definition() -> Any:
    (found,) = load(flow(WORK), Options(rules=False))
    return found


def changed() -> Any:
    made = definition()
    return replace(made, workflow=replace(made.workflow, description="another version"))


async def log_target(world: World, caller: Caller) -> LogTarget:
    return await log_target_of(
        world.store, caller, await find_run(world.store, "flow", 1, "1"), None, "latest"
    )


def template() -> JobTemplateRequest:
    made = JobTemplateDefinition(job_type="copy", step_type="NoOp", version="default")
    return JobTemplateRequest(owner=OWNER, status="ok", support="none", definition=made)


START = StartRequest(initiator=ManualInitiator())
SOME = act_on_steps.Chosen(steps=("a",))
RESTART = InstanceRestartRequest(restart_policy=INCOMPLETE)
PAGE = PageRequest(first=5)

ON_WORKFLOWS: dict[str, tuple[Right, Work]] = {
    "publish.publish": (CHANGE, lambda w, c: publish.publish(w.store, c, definition())),
    "publish_if_new.publish_if_new": (
        CHANGE,
        lambda w, c: publish_if_new.publish_if_new(w.store, c, changed()),
    ),
    "activate.activate": (CHANGE, lambda w, c: activate.activate(w.store, c, "flow", "1")),
    "deactivate.deactivate": (CHANGE, lambda w, c: deactivate.deactivate(w.store, c, "flow")),
    "update_properties.update_properties": (
        CHANGE,
        lambda w, c: update_properties.update_properties(w.store, c, "flow", PropertiesUpdate()),
    ),
    "add_tag.add_tag": (CHANGE, lambda w, c: add_tag.add_tag(w.store, c, "flow", Tag(name="t"))),
    "remove_tag.remove_tag": (CHANGE, lambda w, c: remove_tag.remove_tag(w.store, c, "flow", "t")),
    "claim_ownership.claim_ownership": (
        CHANGE,
        lambda w, c: claim_ownership.claim_ownership(w.store, c, "flow", OWNER),
    ),
    "delete_workflow.delete_workflow": (
        CHANGE,
        lambda w, c: delete_workflow.delete_workflow(w.store, c, "flow"),
    ),
    "start.start": (RUN, lambda w, c: start.start(w.store, c, "flow", "1", START)),
    "start.start_batch": (
        RUN,
        lambda w, c: in_batch(w.store, c),
    ),
    "stop.stop": (RUN, lambda w, c: stop.stop(w.store, c, "flow", 1)),
    "stop.kill": (RUN, lambda w, c: stop.kill(w.store, c, "flow", 1)),
    "pause.pause": (RUN, lambda w, c: pause.pause(w.store, c, "flow", 1)),
    "pause.resume": (RUN, lambda w, c: pause.resume(w.store, c, "flow", 1)),
    "release.release_flow": (RUN, lambda w, c: release.release_flow(w.store, c, RunKey("flow", 1, 1))),
    "act_on_steps.stop_steps": (RUN, lambda w, c: act_on_steps.stop_steps(w.store, c, "flow", 1, SOME)),
    "act_on_steps.kill_steps": (RUN, lambda w, c: act_on_steps.kill_steps(w.store, c, "flow", 1, SOME)),
    "act_on_steps.pause_steps": (RUN, lambda w, c: act_on_steps.pause_steps(w.store, c, "flow", 1, SOME)),
    "act_on_steps.resume_steps": (RUN, lambda w, c: act_on_steps.resume_steps(w.store, c, "flow", 1, SOME)),
    "unblock.unblock": (RUN, lambda w, c: unblock.unblock(w.store, c, "flow", 1)),
    "unblock.unblock_workflow": (RUN, lambda w, c: unblock.unblock_workflow(w.store, c, "flow")),
    "stop_workflow.stop_workflow": (RUN, lambda w, c: stop_workflow.stop_workflow(w.store, c, "flow")),
    "stop_workflow.kill_workflow": (RUN, lambda w, c: stop_workflow.kill_workflow(w.store, c, "flow")),
    "restart.restart": (RUN, lambda w, c: restart.restart(w.store, c, "flow", 1, RESTART)),
    "restart_step.restart_step": (
        RUN,
        lambda w, c: restart_step.restart_step(
            w.store, c, "flow", 1, "a", StepRestartRequest(restart_policy=INCOMPLETE)
        ),
    ),
    "act_on_step.stop_step": (RUN, lambda w, c: act_on_step.stop_step(w.store, c, "flow", 1, "a")),
    "act_on_step.kill_step": (RUN, lambda w, c: act_on_step.kill_step(w.store, c, "flow", 1, "a")),
    "act_on_step.bypass_step": (RUN, lambda w, c: act_on_step.bypass_step(w.store, c, "flow", 1, "a")),
    "skip_step.skip_step": (RUN, lambda w, c: skip_step.skip_step(w.store, c, "flow", 1, "a")),
    "answer_step.answer_step": (
        RUN,
        lambda w, c: answer_step.answer_step(w.store, c, ATTEMPT, CallbackRequest()),
    ),
    "report_output.report_output": (
        RUN,
        lambda w, c: report_output.report_output(w.store, c, ATTEMPT, OutputDataRequest()),
    ),
    "resume_attempt.resume_attempt": (RUN, lambda w, c: resume_attempt.resume_attempt(w.store, c, ATTEMPT)),
    "resume_breakpoint.resume_breakpoint": (
        RUN,
        lambda w, c: resume_breakpoint.resume_breakpoint(w.store, c, "flow", "a"),
    ),
    "set_breakpoint.set_breakpoint": (
        RUN,
        lambda w, c: set_breakpoint.set_breakpoint(
            w.store, c, BreakpointRequest(workflow_id="flow", step_id="a")
        ),
    ),
    "delete_breakpoint.delete_breakpoint": (
        RUN,
        lambda w, c: delete_breakpoint.delete_breakpoint(w.store, c, "flow", "a"),
    ),
    "reading.workflows.get_version": (VIEW, lambda w, c: workflows.get_version(w.store, c, "flow", "1")),
    "reading.workflows.get_graph": (VIEW, lambda w, c: workflows.get_graph(w.store, c, "flow", "1")),
    "reading.workflows.list_versions": (VIEW, lambda w, c: workflows.list_versions(w.store, c, "flow", PAGE)),
    "reading.workflows.get_properties": (VIEW, lambda w, c: workflows.get_properties(w.store, c, "flow")),
    "reading.workflows.list_properties": (
        VIEW,
        lambda w, c: workflows.list_properties(w.store, c, "flow", PAGE),
    ),
    "reading.workflows.get_overview": (VIEW, lambda w, c: workflows.get_overview(w.store, c, "flow")),
    "reading.workflows.get_timeline": (VIEW, lambda w, c: workflows.get_timeline(w.store, c, "flow")),
    "reading.version_text.get_source": (
        VIEW,
        lambda w, c: version_text.get_source(w.store, c, "flow", "1", Format.YAML),
    ),
    "reading.version_text.get_form": (
        VIEW,
        lambda w, c: version_text.get_form(w.store, c, "flow", "1", ParamLimits()),
    ),
    "reading.version_diff.get_version_diff": (
        VIEW,
        lambda w, c: version_diff.get_version_diff(w.store, c, "flow", "1", "1"),
    ),
    "reading.instances.get_instance": (VIEW, lambda w, c: instances.get_instance(w.store, c, "flow", 1)),
    "reading.instances.get_run_status": (
        VIEW,
        lambda w, c: instances.get_run_status(w.store, c, "flow", 1, "1"),
    ),
    "reading.instances.get_run_with_steps": (
        VIEW,
        lambda w, c: instances.get_run_with_steps(w.store, c, "flow", 1, "1"),
    ),
    "reading.instances.get_run": (VIEW, lambda w, c: instances.get_run(w.store, c, "flow", 1, "1")),
    "reading.instances.list_instances": (
        VIEW,
        lambda w, c: instances.list_instances(w.store, c, "flow", PAGE),
    ),
    "reading.instance_lines.list_instance_lines": (
        VIEW,
        lambda w, c: instance_lines.list_instance_lines(w.store, c, "flow", PAGE),
    ),
    "reading.instances.list_runs": (VIEW, lambda w, c: instances.list_runs(w.store, c, "flow", 1, PAGE)),
    "reading.steps.get_step": (VIEW, lambda w, c: steps.get_step(w.store, c, "flow", 1, "a")),
    "reading.steps.get_attempt": (VIEW, lambda w, c: steps.get_attempt(w.store, c, "flow", 1, "1", "a", "1")),
    "reading.artifacts.list_artifacts": (
        VIEW,
        lambda w, c: artifacts.list_artifacts(w.store, c, "flow", 1, "1", "a", "1"),
    ),
    "reading.artifacts.get_artifact": (
        VIEW,
        lambda w, c: artifacts.get_artifact(w.store, c, "flow", 1, "1", "a", "1", "k"),
    ),
    "reading.steps.list_attempts": (VIEW, lambda w, c: steps.list_attempts(w.store, c, "flow", 1, "1", "a")),
    "reading.steps.list_steps": (VIEW, lambda w, c: steps.list_steps(w.store, c, "flow", 1)),
    "reading.states.get_state": (VIEW, lambda w, c: states.get_state(w.store, c, "flow", 1, "1")),
    "reading.grids.get_grid": (VIEW, lambda w, c: grids.get_grid(w.store, c, "flow")),
    "reading.tree.list_tree": (VIEW, lambda w, c: tree.list_tree(w.store, c, "flow", 1, "1", PAGE)),
    "reading.iteration_map.map_iterations": (
        VIEW,
        lambda w, c: iteration_map.map_iterations(w.store, c, ATTEMPT.run, "f", buckets=2),
    ),
    "reading.stats.get_stats": (VIEW, lambda w, c: stats.get_stats(w.store, c, "flow", since=0)),
    "reading.breakpoints.list_breakpoints": (
        VIEW,
        lambda w, c: breakpoints.list_breakpoints(w.store, c, "flow", "a"),
    ),
    "reading.breakpoints.list_paused": (VIEW, lambda w, c: breakpoints.list_paused(w.store, c, "flow", "a")),
    "reading.nesting.resolve_path": (
        VIEW,
        lambda w, c: nesting.resolve_path(w.store, c, "flow", 1, "1", "f"),
    ),
    "reading.nesting.get_inline_path": (VIEW, lambda w, c: nesting.get_inline_path(w.store, c, "flow", 1)),
    "reading.nesting.get_readable_path": (
        VIEW,
        lambda w, c: nesting.get_readable_path(w.store, c, "flow", 1),
    ),
    "reading.nesting.get_inline_workflow_id": (
        VIEW,
        lambda w, c: nesting.get_inline_workflow_id(w.store, c, PATH),
    ),
    "reading.flatten.list_iterations": (
        VIEW,
        lambda w, c: flatten.list_iterations(w.store, c, ATTEMPT.run, "g", PAGE),
    ),
    "reading.flatten.get_iteration": (
        VIEW,
        lambda w, c: flatten.get_iteration(w.store, c, ATTEMPT.run, "g", "1"),
    ),
    "reading.flatten.summarize_iterations": (
        VIEW,
        lambda w, c: flatten.summarize_iterations(w.store, c, ATTEMPT.run, "g"),
    ),
    "reading.why.why_run": (VIEW, lambda w, c: why.why_run(w.store, c, "flow", 1)),
    "reading.why.why_step": (VIEW, lambda w, c: why.why_step(w.store, c, "flow", 1, "a")),
    "reading.why_workflow.why_workflow": (VIEW, lambda w, c: why_workflow.why_workflow(w.store, c, "flow")),
    "reading.log_target.log_target_of": (VIEW, log_target),
}
# What belongs to no workflow takes a role.
IN_GENERAL: dict[str, tuple[Role, Work]] = {
    "publish.check_definition": (
        Role.AUTHOR,
        lambda w, c: publish.check_definition(w.store, c, definition()),
    ),
    "bulk.start_bulk": (
        Role.RUNNER,
        lambda w, c: bulk.start_bulk(w.store, c, bulk.BulkRequest(action=BulkAction.STOP, ids=())),
    ),
    "bulk.cancel_bulk": (Role.RUNNER, lambda w, c: bulk.cancel_bulk(w.store, c, "none")),
    "bulk.get_bulk": (Role.VIEWER, lambda w, c: bulk.get_bulk(w.store, c, "none")),
    "bulk.list_bulk_items": (Role.VIEWER, lambda w, c: bulk.list_bulk_items(w.store, c, "none", PAGE)),
    "bulk.list_bulks": (Role.VIEWER, lambda w, c: bulk.list_bulks(w.store, c, PAGE)),
    "check_text.check_text": (
        Role.AUTHOR,
        lambda w, c: check_text.check_text(w.store, c, check_text.CheckRequest(text=flow(WORK))),
    ),
    "announce.announce": (Role.RUNNER, lambda w, c: announce.announce(w.store, c, SignalRequest(name="go"))),
    "announce.get_signal": (Role.VIEWER, lambda w, c: announce.get_signal(w.store, c, "go", "latest")),
    "tag_permits.set_tag_permit": (
        Role.AUTHOR,
        lambda w, c: tag_permits.set_tag_permit(w.store, c, TagPermitRequest(tag="gpu", max_allowed=1)),
    ),
    "tag_permits.get_tag_permit": (Role.VIEWER, lambda w, c: tag_permits.get_tag_permit(w.store, c, "gpu")),
    "tag_permits.delete_tag_permit": (
        Role.AUTHOR,
        lambda w, c: tag_permits.delete_tag_permit(w.store, c, "gpu"),
    ),
    "job_templates.put_job_template": (
        Role.AUTHOR,
        lambda w, c: job_templates.put_job_template(w.store, c, template()),
    ),
    "job_templates.get_job_template": (
        Role.VIEWER,
        lambda w, c: job_templates.get_job_template(w.store, c, "copy"),
    ),
    "job_templates.list_job_templates": (
        Role.VIEWER,
        lambda w, c: job_templates.list_job_templates(w.store, c),
    ),
    "job_templates.delete_job_template": (
        Role.AUTHOR,
        lambda w, c: job_templates.delete_job_template(w.store, c, "copy"),
    ),
}
# Lists show to each what they may see, and what was set aside is for admins: `test_lists` tries these.
LISTS = {
    *(f"reading.{name}" for name in SEEN_BY_VIEWERS),
    "reading.all_workflows.list_outcomes",
    "reading.cluster.list_parked",
    "release.release_run",
    "release.release_message",
}
# What a node does by itself.
BY_ITSELF = {
    "bulk.carry_out_next",
    "dequeue.dequeue",
    "match_triggers.match_signal",
    "match_triggers.match_new_triggers",
    "fire_trigger.fire_trigger",
    "fire_timer.fire_timer",
    "start_child.start_child",
}
# What goes with an action or a list, which has asked.
WITH_ACTIONS = {
    "preview.preview",
    "publish.warnings_about",
    "reading.started_run.started_run",
}


async def in_batch(store: Store, caller: Caller) -> StartResponse:
    """A start in a batch, where it is refused for itself."""
    (answer,) = await start.start_batch(store, "flow", [start.PendingStart(caller, "latest", START)])
    if isinstance(answer, StrettoError):
        raise answer
    return answer


CALLERS: dict[str, tuple[Caller, set[Right] | frozenset[Right]]] = {
    "admin": (who("root", Role.ADMIN), ALL),
    "owner": (who("ann", Role.VIEWER), ALL),
    "listed author": (who("art", Role.AUTHOR), ALL),
    "listed runner": (who("rita", Role.RUNNER), {VIEW, RUN}),
    "listed viewer": (who("vic", Role.VIEWER), {VIEW}),
    "author who is not listed": (who("eve", Role.AUTHOR), set()),
}


def test_every_action_is_in_a_table() -> None:
    assert sorted([*ON_WORKFLOWS, *IN_GENERAL, *LISTS, *BY_ITSELF, *WITH_ACTIONS]) == sorted(
        answers_in_the_code()
    )


def world_with_lists() -> World:
    world = World(going_on)
    world.publish(flow(WORK, LOOP))
    update = PropertiesUpdate(access_control=KEPT)
    world.do(update_properties.update_properties(world.store, ANN, "flow", update))
    world.start()
    return world.settle()


def is_allowed(world: World, work: Work, caller: Caller) -> bool:
    """Whatever else may be wrong with what is asked, is the caller the one who may ask?"""
    try:
        world.do(work(world, caller))
    except Forbidden:
        return False
    except StrettoError:
        pass
    return True


@pytest.mark.parametrize("kind", CALLERS)
@pytest.mark.parametrize("action", ON_WORKFLOWS)
def test_a_workflow_keeps_to_its_lists(action: str, kind: str) -> None:
    right, work = ON_WORKFLOWS[action]
    caller, rights = CALLERS[kind]
    assert is_allowed(world_with_lists(), work, caller) is (right in rights)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("action", ON_WORKFLOWS)
def test_without_lists_roles_count(action: str, role: Role) -> None:
    right, work = ON_WORKFLOWS[action]
    world = World(going_on)
    world.publish(flow(WORK))
    world.start()
    world.settle()
    takes = {VIEW: 0, RUN: 1, CHANGE: 2}[right]
    if action == "claim_ownership.claim_ownership":
        takes = 2
    assert is_allowed(world, work, who("eve", role)) is (list(Role).index(role) >= takes)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("action", IN_GENERAL)
def test_what_belongs_to_no_workflow_takes_a_role(action: str, role: Role) -> None:
    takes, work = IN_GENERAL[action]
    expected = list(Role).index(role) >= list(Role).index(takes)
    assert is_allowed(World(), work, who("eve", role)) is expected


def test_an_action_that_is_refused_has_changed_nothing() -> None:
    world = world_with_lists()
    before = world.do(read_workflow(world.store, "flow"))
    for _right, work in ON_WORKFLOWS.values():
        assert not is_allowed(world, work, who("eve", Role.AUTHOR))
    assert world.do(read_workflow(world.store, "flow")) == before
    assert world.do(read_newest_run(world.store, "flow", 2)) is None


def test_iterations_belong_to_the_workflow_around_them() -> None:
    world = world_with_lists()
    (loop,) = world.do(world.store.loops(RunKey("flow", 1, 1)))
    eve = who("eve", Role.AUTHOR)
    with pytest.raises(Forbidden, match=r"workflow \[flow\]"):
        world.do(instances.get_instance(world.store, eve, loop.inline_id, 1))
    with pytest.raises(Forbidden):
        world.do(stop.stop(world.store, eve, loop.inline_id, 1))
    seen = world.do(instances.get_instance(world.store, who("vic", Role.VIEWER), loop.inline_id, 1))
    assert seen.workflow_id == loop.inline_id
    with pytest.raises(NotFound):
        world.do(instances.get_instance(world.store, eve, f"{loop.inline_id}x", 1))


def test_what_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        World().do(instances.get_instance(World().store, who("eve", Role.VIEWER), "other", 1))


def test_a_restart_that_begins_further_up_takes_the_right_up_there() -> None:
    world = World(failing("a"))
    world.publish(flow(WORK, name="child"))
    world.publish(flow("subworkflow: {id: s, params: {subworkflow_id: {value: child, type: STRING}}}"))
    world.do(
        update_properties.update_properties(world.store, ANN, "flow", PropertiesUpdate(access_control=KEPT))
    )
    world.start()
    world.settle()
    assert (world.status("child"), world.status()) == ("FAILED", "FAILED")
    with pytest.raises(Forbidden, match=r"workflow \[flow\]"):
        world.do(restart.restart(world.store, who("eve", Role.RUNNER), "child", 1, RESTART))


def test_what_a_step_starts_is_its_authors_doing() -> None:
    world = world_with_lists()
    above = Ancestor(workflow_id="p", instance_id=1, run_id=1, step_id="s", step_attempt_id=1)
    request = StartRequest(initiator=SubworkflowInitiator(ancestors=(above,)))
    attempt = AttemptKey(RunKey("p", 1, 1), "s", 1)
    sender = Sender(attempt=attempt, lease=world.leases[5], correlation_id="p:1:1")
    made = world.do(start.start(world.store, who("stretto"), "flow", "1", request, sender=sender))
    assert made.workflow_instance_id == 2
