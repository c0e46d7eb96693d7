"""The definition of a run as it is shown: names and tags of inline workflows and children."""

from typing import Any

import pytest
from tests.unit.actions.test_nesting import OUTER, WHILE, foreach, inline
from tests.unit.actions.world import ANN, World, flow

from stretto.actions.add_tag import add_tag
from stretto.actions.reading.instances import get_run, list_instances
from stretto.actions.reading.steps import get_attempt
from stretto.actions.reading.workflows import get_version
from stretto.actions.restart import restart
from stretto.engine import effects as todo
from stretto.engine.events import ResultState
from stretto.engine.records import RunKey
from stretto.model.instance import WorkflowInstance
from stretto.model.request import InstanceRestartRequest, PageRequest
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag

P = RunPolicy
WORK = "step: {id: a, type: Python}"


def first_run_fails(effect: todo.StartWork) -> ResultState:
    """The second iteration, in the first run of its workflow."""
    bad = (effect.attempt.run.instance_id, effect.attempt.run.run_id) == (2, 1)
    return ResultState.FATAL_ERROR if bad else ResultState.DONE


def shown(world: World, workflow_id: str, instance_id: int = 1, run: str = "latest") -> WorkflowInstance:
    return world.do(get_run(world.store, ANN, workflow_id, instance_id, run))


def names(tags: Any) -> list[str]:
    return [tag.name for tag in tags or ()]


def ran(*steps: str, runtime: Any = first_run_fails, more: str = "", **request: Any) -> World:
    world = World(runtime)
    world.publish(flow(*steps, more=more))
    world.start(**request)
    return world.settle()


def again(world: World, policy: RunPolicy) -> World:
    world.do(restart(world.store, ANN, "flow", 1, InstanceRestartRequest(restart_policy=policy)))
    return world.settle()


def identity(world: World, run: int, step: str, *, of: str = "flow", instance: int = 1) -> str:
    attempt = world.do(get_attempt(world.store, ANN, of, instance, str(run), step, "1"))
    return f"[{of}][{instance}][{run}][{step}][1][{attempt.step_uuid}]"


# ------------------------------------------------------------------------------------------ inline workflows
def test_the_inline_workflow_of_a_foreach_in_a_foreach_is_named_after_its_step() -> None:
    world = ran(OUTER, runtime=lambda _effect: ResultState.DONE)
    outer = inline(world, "outer")
    inner = inline(world, "inner", RunKey(outer, 2, 1))
    found = shown(world, inner, 3)
    assert found.runtime_workflow is not None
    name = identity(world, 1, "inner", of=outer, instance=2)
    description = f"Maestro foreach inline workflow including steps within foreach created by {name}"
    assert (found.runtime_workflow.name, found.runtime_workflow.description) == (name, description)
    assert found.runtime_workflow.params == {}


def test_the_inline_workflow_of_a_while_is_named_after_its_step() -> None:
    world = ran(WHILE.replace("id: again", "id: again, tags: [slow, {name: gpu}]"))
    found = shown(world, inline(world, "again"), 2)
    assert found.runtime_workflow is not None
    assert found.runtime_workflow.name == identity(world, 1, "again")
    assert found.runtime_workflow.description == (
        f"Maestro while loop inline workflow including steps created by {found.runtime_workflow.name}"
    )
    assert names(found.runtime_workflow.tags) == ["slow", "gpu", "maestro_while"]
    assert found.run_config is not None
    assert names(found.run_config.runtime_tags) == ["maestro_while"]


def test_the_version_of_an_inline_workflow_has_its_own_metadata() -> None:
    world = ran(WHILE)
    version = world.do(get_version(world.store, ANN, inline(world, "again"), "latest"))
    assert version.workflow.name == identity(world, 1, "again")
    assert names(version.workflow.tags) == ["maestro_while"]
    assert version.metadata is not None
    assert (version.metadata.workflow_id, version.metadata.workflow_version_id) == (inline(world, "again"), 1)
    assert (version.metadata.version_author, version.metadata.create_time) == (None, None)


def test_the_list_of_iterations_has_the_names_too() -> None:
    world = ran(foreach("each", "i", [1, 3], WORK), runtime=lambda _effect: ResultState.DONE)
    page = world.do(list_instances(world.store, ANN, inline(world, "each"), PageRequest(first=5)))
    found = {each.runtime_workflow.name for each in page.elements if each.runtime_workflow is not None}
    assert found == {identity(world, 1, "each")}


def test_who_does_not_want_the_definition_gets_none() -> None:
    world = ran(foreach("each", "i", [1, 3], WORK), runtime=lambda _effect: ResultState.DONE)
    page = world.do(list_instances(world.store, ANN, inline(world, "each"), PageRequest(first=5), fields=()))
    assert [each.runtime_workflow for each in page.elements] == [None, None]


# ------------------------------------------------------------------------------------------ restarts
def test_a_restarted_iteration_keeps_its_name_and_a_new_one_has_that_of_the_new_run() -> None:
    loop = foreach("each", "i", [1, 2, 3], WORK).replace("id: each", "id: each, concurrency: 1")
    world = again(ran(loop), P.RESTART_FROM_INCOMPLETE)
    name = inline(world, "each")
    kept, restarted, new = (shown(world, name, each).runtime_workflow for each in (1, 2, 3))
    assert kept is not None
    assert restarted is not None
    assert new is not None
    assert kept.name == restarted.name == identity(world, 1, "each")
    assert new.name == identity(world, 2, "each")
    assert shown(world, name, 2).workflow_run_id == 2


def test_iterations_of_a_run_from_the_beginning_have_the_name_of_that_run() -> None:
    inner = foreach("inner", "j", [5], WORK.replace("id: a", "id: b"))
    world = again(ran(foreach("each", "i", [1, 2], WORK, inner)), P.RESTART_FROM_BEGINNING)
    name = inline(world, "each")
    for number in (1, 2):
        found = shown(world, name, number).runtime_workflow
        assert found is not None
        assert found.name == identity(world, 2, "each")


@pytest.mark.parametrize(
    ("policy", "runs"),
    [(P.RESTART_FROM_INCOMPLETE, [1, 1, 2]), (P.RESTART_FROM_BEGINNING, [1, 2, 2])],
)
def test_only_the_first_round_of_a_restarted_while_is_restarted(policy: RunPolicy, runs: list[int]) -> None:
    loop = WHILE.replace("k < 2", "k < 3").replace("type: NoOp", "type: Python")
    world = again(ran(loop), policy)
    name = inline(world, "again", RunKey("flow", 1, 2))
    found = [shown(world, name, each).runtime_workflow for each in (1, 2, 3)]
    assert [each.name for each in found if each is not None] == [
        identity(world, run, "again") for run in runs
    ]


# ------------------------------------------------------------------------------------------ tags
def test_a_child_has_the_tag_of_its_step_beside_its_own() -> None:
    world = World(lambda _effect: ResultState.DONE)
    world.publish(flow("{id: a, type: Python}", name="kid", more="  tags: [own]\n"))
    sub = "subworkflow: {id: s, tags: [aside], params: {subworkflow_id: {value: kid, type: STRING}}}"
    world.publish(flow(sub, more="  tags: [of-parent]\n"))
    world.start(runtime_tags=(Tag(name="of-request"),))
    world.settle()
    found = shown(world, "kid")
    assert found.runtime_workflow is not None
    assert found.run_config is not None
    assert names(found.runtime_workflow.tags) == ["own", "maestro_subworkflow"]
    assert names(found.run_config.runtime_tags) == ["maestro_subworkflow"]


def test_tags_of_the_properties_are_not_those_of_the_definition() -> None:
    world = World(lambda _effect: ResultState.DONE)
    world.publish(flow("{id: a, type: Python}", more="  tags: [both, {name: mine, level: 1}]\n"))
    for name in ("both", "mine", "asked", "alone"):
        world.do(add_tag(world.store, ANN, "flow", Tag(name=name)))
    world.start(runtime_tags=(Tag(name="asked"),))
    world.settle()
    found = shown(world, "flow")
    assert found.runtime_workflow is not None
    assert found.run_properties is not None
    assert names(found.runtime_workflow.tags) == ["both", "mine", "asked"]
    assert found.runtime_workflow.tags[1].attributes == {"level": 1}  # type: ignore[index]
    assert names(found.run_properties.tags) == ["both", "mine", "asked", "alone"]


def test_a_restart_has_the_tags_of_the_instance_and_none_of_its_own() -> None:
    world = ran(foreach("each", "i", [1, 2], WORK), runtime_tags=(Tag(name="asked"),))
    world.do(add_tag(world.store, ANN, "flow", Tag(name="asked")))
    found = shown(again(world, P.RESTART_FROM_INCOMPLETE), "flow")
    assert found.runtime_workflow is not None
    assert found.run_config is not None
    assert names(found.runtime_workflow.tags) == ["asked"]
    assert found.run_config.runtime_tags is None
    assert names(shown(world, "flow", run="1").run_config.runtime_tags) == ["asked"]  # type: ignore[union-attr]
