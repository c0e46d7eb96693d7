"""Breakpoints and the attempts that they hold."""

from stretto.engine.records import RunKey
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.status import RunStatus, StepStatus
from stretto.model.user import User
from stretto.ports.breakpoints import BreakpointPage, BreakpointsAt, PausedAt, PausedPage
from stretto.ports.paging import Cut
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, attempt_record, run_record

SUITE = Suite("breakpoints")
PREFIX = "maestro_foreach_Ib2_"


def stop_at(step_id: str, workflow_id: str = "wf", **more: int) -> StepBreakpoint:
    return StepBreakpoint(workflow_id=workflow_id, step_id=step_id, **more)  # type: ignore[arg-type]


@SUITE.check
async def a_breakpoint_is_set_once(world: World) -> None:
    first = StepBreakpoint(workflow_id="wf", step_id="a", created_by=User(name="alice"), create_time=1)
    second = StepBreakpoint(workflow_id="wf", step_id="a", created_by=User(name="bob"), create_time=2)
    assert await world.store.set_breakpoint(first) == first
    assert await world.store.set_breakpoint(second) == first
    narrow = stop_at("a", workflow_instance_id=3)
    assert await world.store.set_breakpoint(narrow) == narrow
    await world.store.set_breakpoint(stop_at("b"))
    await world.store.set_breakpoint(stop_at("a", "other"))
    assert list((await world.store.breakpoints(BreakpointsAt("wf", "a"))).elements) == [first, narrow]
    assert list((await world.store.breakpoints(BreakpointsAt("wf"))).elements) == [
        first,
        narrow,
        stop_at("b"),
    ]
    assert list((await world.store.breakpoints(BreakpointsAt("nothing"))).elements) == []


@SUITE.check
async def exactly_one_is_deleted(world: World) -> None:
    wide, narrow = stop_at("a"), stop_at("a", workflow_version_id=2)
    for each in (wide, narrow):
        await world.store.set_breakpoint(each)
    assert await world.store.delete_breakpoint(StepBreakpoint(workflow_id="wf", step_id="a", create_time=9))
    assert not await world.store.delete_breakpoint(wide)
    assert list((await world.store.breakpoints(BreakpointsAt("wf"))).elements) == [narrow]


@SUITE.check
async def all_breakpoints_are_paged(world: World) -> None:
    for step in "cab":
        await world.store.set_breakpoint(stop_at(step))
    page = await world.store.breakpoints(BreakpointPage(Cut(most=2)))
    assert [each.step_id for each in page.elements] == ["a", "b"]
    rest = await world.store.breakpoints(BreakpointPage(Cut(above=("wf", "b", 0, 0, 0, 0))))
    assert [each.step_id for each in rest.elements] == ["c"]
    assert (rest.before, rest.after) == (True, False)


@SUITE.check
async def held_attempts_are_found_also_inside_loops(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    inside = [
        run_record(RunKey(f"{PREFIX}11_{number}", 1, 1), f"i{number}", status=RunStatus.IN_PROGRESS)
        for number in (1, 2)
    ]
    held = attempt_record(run, "a", 2, StepStatus.PAUSED, pause_time=77)
    others = [attempt_record(each.key, "a", 1, StepStatus.PAUSED) for each in inside]
    moving = attempt_record(run, "b")
    await owner.decide(run, records=(*inside, held, *others, moving))
    page = await world.store.paused(PausedAt("wf", "a", Cut()))
    assert page.elements == (
        PausedStepAttempt(
            workflow_id="wf",
            workflow_version_id=1,
            workflow_instance_id=run.instance_id,
            workflow_run_id=1,
            step_id="a",
            step_attempt_id=2,
            create_time=77,
        ),
    )
    deep = await world.store.paused(PausedAt(PREFIX, "a", Cut(most=1)))
    assert [each.workflow_id for each in deep.elements] == [f"{PREFIX}11_1"]
    assert deep.after
    everywhere = await world.store.paused(PausedPage(Cut(most=2)))
    assert [each.workflow_id for each in everywhere.elements] == [f"{PREFIX}11_1", f"{PREFIX}11_2"]
    assert everywhere.after
    rest = await world.store.paused(PausedPage(Cut(above=("a", f"{PREFIX}11_2", 1, 1, 1))))
    assert rest.elements == page.elements
    assert (await world.store.paused(PausedAt("wf", "b", Cut()))).elements == ()
    assert (await world.store.paused(PausedAt("w", "a", Cut()))).elements == ()  # a user's id is no prefix
    held.status = StepStatus.WAITING_FOR_SIGNALS
    await owner.decide(run, records=(held,))
    assert (await world.store.paused(PausedAt("wf", "a", Cut()))).elements == ()
