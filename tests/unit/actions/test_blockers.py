"""What is in the way, for each reason that a step can have."""

import msgspec
import pytest
from tests.unit.actions.test_reading import made
from tests.unit.actions.world import ANN, NOOP, World, flow, going_on

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.blocked import BlockedBy, blocked_by
from stretto.actions.reading.blockers import Blocker, BlockerKind, Help, blockers_of, with_holders
from stretto.actions.reading.lines import attempt_ref
from stretto.actions.reading.why import why_run
from stretto.actions.tag_permits import set_tag_permit
from stretto.actions.update_properties import update_properties
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.why import Cause, Reason, Why
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import AccessControl, PropertiesUpdate
from stretto.model.status import StepStatus
from stretto.model.user import User
from stretto.ports.permits import PermitRow

S, H = StepStatus, Help


@pytest.mark.parametrize(
    ("cause", "status", "kind", "actions"),
    [
        (Cause.PREDECESSOR, S.NOT_CREATED, "predecessor", ()),
        (Cause.CONDITION, S.NOT_CREATED, "condition", ()),
        (Cause.NEVER, S.NOT_CREATED, "predecessor", (H.RESTART,)),
        (Cause.QUEUE, S.NOT_CREATED, "strategy", ()),
        (Cause.PAUSE, S.NOT_CREATED, "pause", (H.RESUME,)),
        (Cause.BREAKPOINT, S.PAUSED, "breakpoint", (H.RESUME_STEP, H.DELETE_BREAKPOINT)),
        (Cause.SIGNAL, S.WAITING_FOR_SIGNALS, "signal", (H.BYPASS,)),
        (Cause.SIGNAL, S.FINISHING, "node", ()),
        (Cause.VALUE, S.EVALUATING_PARAMS, "evaluation", ()),
        (Cause.PERMIT, S.WAITING_FOR_PERMITS, "permit", (H.RAISE_PERMIT,)),
        (Cause.TIME, S.RUNNING, "timer", ()),
        (Cause.TIME, S.USER_FAILED, "retry", ()),
        (Cause.PERSON, S.RUNNING, "approval", (H.ANSWER,)),
        (Cause.PERSON, S.NOT_CREATED, "approval", (H.RESTART,)),
    ],
)
def test_what_is_in_the_way(cause: Cause, status: StepStatus, kind: str, actions: tuple[Help, ...]) -> None:
    reason = Reason(cause=cause, subject="it", text="because", since=1, until=2)
    (found,) = blockers_of(Why(step_id="s", status=status, reasons=(reason,)))
    assert (found.kind, found.actions) == (BlockerKind(kind), actions)
    assert (found.ref, found.since, found.detail) == ("it", 1, "because")
    assert found.moves_when


@pytest.mark.parametrize(
    ("until", "moment"), [(1_794_869_062_541, "2026-11-16T22:44:22+00:00"), (2**60, str(2**60))]
)
def test_moments_are_told_as_people_write_them(until: int, moment: str) -> None:
    reason = Reason(cause=Cause.TIME, subject="s", text=f"it goes on at {until}", until=until)
    (found,) = blockers_of(Why(step_id="s", status=S.RUNNING, reasons=(reason,)))
    assert (found.detail, found.moves_when) == (f"it goes on at {moment}", f"it is {moment}")


@pytest.mark.parametrize(
    "cause", [Cause.WORK, Cause.CHILD, Cause.TERMINATION, Cause.NOTHING, Cause.OVER, Cause.RUN]
)
def test_what_goes_on_by_itself_has_nothing_in_its_way(cause: Cause) -> None:
    reason = Reason(cause=cause, subject="it", text="because")
    assert blockers_of(Why(step_id="s", status=S.RUNNING, reasons=(reason,))) == ()


def test_every_cause_is_known() -> None:
    reasons = tuple(Reason(cause=cause, subject="it", text="because") for cause in Cause)
    assert blockers_of(Why(step_id="s", status=S.RUNNING, reasons=reasons))


def test_a_run_that_was_set_aside() -> None:
    world = made()
    row = msgspec.structs.replace(world.row(), quarantined="owners died at it")
    with world.store._db.transaction():
        world.store._db.runs.put(row.key, row)
    found = world.do(why_run(world.store, ANN, "flow", 1))
    assert "is quarantined" in found.sentence
    assert [(each.kind, each.ref, each.actions) for each in found.blockers] == [
        (BlockerKind.QUARANTINE, "flow/1/1", (H.RELEASE,))
    ]


# -------------------------------------------------------------------------------------------------- permits
RUN = RunKey("flow", 1, 1)
A, B, C, D = (AttemptKey(RUN, step, 1) for step in "abcd")
HOLDER = attempt_ref(A)


def waiting_for(*tags: str) -> tuple[Blocker, ...]:
    reasons = tuple(
        Reason(cause=Cause.PERMIT, subject=tag, text=f"it waits for a permit of the tag {tag}")
        for tag in tags
    )
    return blockers_of(Why(step_id="s", status=S.WAITING_FOR_PERMITS, reasons=reasons))


def test_only_the_tags_that_are_in_the_way_are_told() -> None:
    full = BlockedBy(tag="full", max_allowed=2, held=2, holders=(HOLDER,))
    line = BlockedBy(tag="line", max_allowed=3, held=2, ahead=(attempt_ref(B), attempt_ref(C)))
    given = waiting_for("full", "line", "free", "many")
    found = with_holders(given, (full, line), {"full", "line", "free"})
    assert [(each.ref, each.blocked_by) for each in found] == [("full", full), ("line", line), ("many", None)]
    assert [each.detail.partition(": ")[2] for each in found] == [
        "2 of 2 are held, by flow/1/1:a/1",
        "2 of 3 are held; before it goes flow/1/1:b/1",
        "",
    ]


def test_who_is_about_to_go_is_told_what_it_has_waited_for() -> None:
    given = waiting_for("free")
    assert with_holders(given, (), {"free"}) == given


def test_who_holds_and_who_goes_before() -> None:
    """There is room for one: B goes, C must wait, and D waits for something else, too."""
    world = World(going_on)
    world.publish(flow(NOOP))
    for tag, limit in (("gpu", 2), ("full", 0)):
        world.do(set_tag_permit(world.store, ANN, TagPermitRequest(tag=tag, max_allowed=limit)))
    db = world.store._db
    with db.transaction():
        for since, (key, tag) in enumerate(((A, "gpu"), (B, "gpu"), (C, "gpu"), (D, "gpu"), (D, "full"))):
            row = PermitRow(attempt=key, tag=tag, group=1, granted=key is A, since=since, granted_at=1)
            db.permits.put((key, tag), row)
    waiting = {B: ["gpu", "unlimited"], C: ["gpu"], D: ["full", "gpu"]}
    found = world.do(blocked_by(world.store, ANN, waiting))
    gpu = BlockedBy(tag="gpu", max_allowed=2, held=1, holders=(HOLDER,), ahead=(attempt_ref(B),))
    assert found.by == {B: (), C: (gpu,), D: (BlockedBy(tag="full", max_allowed=0, held=0), gpu)}
    assert set(found.tags) == {"gpu", "unlimited", "full"}
    stranger = Caller(user=User(name="eve"), roles=frozenset({Role.VIEWER}))
    access = PropertiesUpdate(access_control=AccessControl(viewers=("bob",)))
    world.do(update_properties(world.store, ANN, "flow", access))
    hidden = world.do(blocked_by(world.store, stranger, {C: ["gpu"]})).by[C]
    assert hidden == (BlockedBy(tag="gpu", max_allowed=2, held=1),)
    assert world.do(blocked_by(world.store, ANN, {})).by == {}
