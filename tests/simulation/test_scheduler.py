"""Virtual time, tasks, the way to the database, and a node that is hosted there."""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import pytest
from simulation.handle import Call, Sky, handle_of
from simulation.process import call_of
from simulation.troubles import CALLS, CALM, Fault, Trouble, Weather

from stretto.model.errors import Unavailable
from stretto.node.asks import Ask, Carry
from stretto.ports.failures import OutcomeUnknown
from stretto.ports.rows import NodeId
from stretto.store.memory import Database, MemoryStore
from stretto.testing.clock import VirtualClock
from stretto.testing.hosting import Hosted
from stretto.testing.scheduler import Delay, Scheduler, Task


def scheduler(seed: int = 0) -> Scheduler:
    return Scheduler(Random(seed))  # noqa: S311


def run(these: Scheduler) -> None:
    while these.step():
        pass


# ------------------------------------------------------------------------------------------------ scheduler
def test_things_happen_in_the_order_of_their_time() -> None:
    these = scheduler()
    seen: list[tuple[int, int]] = []
    for millis in (30, 10, 20):
        these.after(millis, lambda millis=millis: seen.append((millis, these.now)))  # type: ignore[misc]
    assert these.next_due == 10
    run(these)
    assert seen == [(10, 10), (20, 20), (30, 30)]
    assert not these.step()


def test_the_dice_decide_about_one_moment() -> None:
    orders = set()
    for seed in range(20):
        these = scheduler(seed)
        seen: list[str] = []
        for name in "abc":
            these.after(5, partial(seen.append, name))
        run(these)
        orders.add("".join(seen))
    assert len(orders) > 3


def task(these: Scheduler, coroutine: Any, gate: Any = lambda _task: 0) -> tuple[Task, list[Any]]:
    ends: list[Any] = []
    return Task(these, coroutine, done=ends.append, failed=ends.append, gate=gate), ends


async def nap(millis: int, answer: Any = None) -> Any:
    await Delay(millis)
    if isinstance(answer, Exception):
        raise answer
    return answer


def test_a_task_ends_with_its_answer_or_its_error() -> None:
    these = scheduler()
    good, ends = task(these, nap(10, "done"))
    bad, errors = task(these, nap(20, ValueError("no")))
    good.go()
    bad.go()
    run(these)
    assert ends == ["done"]
    assert [str(each) for each in errors] == ["no"]
    assert these.now == 20
    assert not these.tasks
    good.go()  # it is over
    assert ends == ["done"]


def test_a_task_waits_at_its_gate_or_is_dropped_there() -> None:
    these = scheduler()
    open_at = 50
    waiting, ends = task(these, nap(10, "late"), lambda _task: max(0, open_at - these.now))
    gone, nothing = task(these, nap(10), lambda _task: None)
    waiting.go()
    gone.go()
    run(these)
    assert (ends, nothing) == (["late"], [])
    assert these.now == 60
    assert gone.over


def test_the_end_of_the_world() -> None:
    these = scheduler()
    one, ends = task(these, nap(10))
    one.go()
    these.drop_all()
    run(these)
    assert one.over
    assert not ends


# --------------------------------------------------------------------------------------------- the handle
class Client:
    who = "somebody"
    blocked = False

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.crashed = 0

    def befalls(self, call: str) -> Fault | None:  # noqa: ARG002
        return self.fault

    def crash(self, fault: Fault) -> None:  # noqa: ARG002
        self.crashed += 1
        self.blocked = True


def called(
    kind: Trouble | None, *, weather: Weather = CALM, after: bool = False
) -> tuple[list[Any], list[int], Client, Sky]:
    """A call that changes something: what its caller hears, and what the tag is after each transaction."""
    these = scheduler()
    seen: list[int] = []
    db = Database(VirtualClock())
    client = Client(None if kind is None else Fault(kind=kind, after=after))
    sky = Sky(Random(1), weather)  # noqa: S311

    def note(call: Call | None) -> None:
        if call is None:
            seen.append(1 if NodeId("node") in db.nodes else 0)

    store = handle_of(MemoryStore(db), client, sky, these, note)
    one, ends = task(these, store.join("node"), lambda _task: None if client.crashed else 0)  # type: ignore[arg-type]
    one.go()
    run(these)
    return ends, seen, client, sky


def test_calls_go_well() -> None:
    (heard,), seen, _, _ = called(None)
    assert [row.node for row in heard.nodes] == ["node"]
    assert seen == [1]


@pytest.mark.parametrize(
    ("kind", "error", "carried_out"),
    [
        (Trouble.REFUSED, Unavailable, []),
        (Trouble.UNANSWERED, OutcomeUnknown, [1]),
        (Trouble.LATE, OutcomeUnknown, [1]),
    ],
)
def test_calls_go_wrong(kind: Trouble, error: type[Exception], carried_out: list[int]) -> None:
    (heard,), seen, _, sky = called(kind)
    assert type(heard) is error
    assert seen == carried_out
    assert sky.befell == {f"{kind} in join": 1}


def test_only_what_callers_repeat_is_carried_out_twice() -> None:
    _, seen, _, sky = called(Trouble.TWICE)
    assert seen == [1]
    assert not sky.befell


@pytest.mark.parametrize(("after", "carried_out"), [(False, []), (True, [1])])
def test_a_client_crashes_before_or_behind_its_call(after: bool, carried_out: list[int]) -> None:
    ends, seen, client, _ = called(Trouble.CRASH, after=after)
    assert (ends, seen, client.crashed) == ([], carried_out, 1)


def test_an_outage_refuses_everything() -> None:
    rough = Weather(latency=0, slow=1.0, slowest=50, refused=0.3, unanswered=0.3, late=0.3, twice=0.1)
    sky = Sky(Random(1), rough)  # noqa: S311
    kinds = {sky.trouble() for _ in range(200)}
    assert kinds == {Trouble.REFUSED, Trouble.UNANSWERED, Trouble.LATE, Trouble.TWICE}
    assert 0 < max(sky.latency() for _ in range(50)) < 50
    sky.out_until = 10
    sky.clear()
    assert (sky.weather, sky.out_until, sky.trouble()) == (CALM, 0, None)


# ------------------------------------------------------------------------------------------------- hosting
class Restless:
    """A node that wants to be woken all the time."""

    gone = False
    next_wake = 0.0

    def begin(self) -> None:
        pass

    def wake(self) -> None:
        pass

    def take(self) -> list[Any]:
        return []


class Reports:
    def report_to(self, heard: Any) -> None:
        self.heard = heard


def test_a_node_that_only_spins_is_found_out() -> None:
    these = scheduler()
    hosted = Hosted(these)
    node: Any = Restless()
    hosted.host(node, Reports())  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="does nothing but being woken"):
        run(these)


def test_what_nobody_waits_for_is_raised() -> None:
    these = scheduler()
    hosted = Hosted(these)
    hosted.spawn(5, lambda: nap(1, ValueError("lost")))
    with pytest.raises(ValueError, match="lost"):
        run(these)


def test_a_process_that_is_gone_begins_nothing() -> None:
    these = scheduler()
    hosted = Hosted(these)
    hosted.spawn(5, lambda: nap(1, ValueError("never")))
    hosted.end()
    hosted.turn()
    run(these)
    assert not these.tasks


def asks_under(tp: type[Ask]) -> Iterator[type[Ask]]:
    for each in tp.__subclasses__():
        yield each
        yield from asks_under(each)


def test_faults_name_what_nodes_ask() -> None:
    """A fault that names something else would never strike."""
    named = {call for call in CALLS if call[0].isupper()}
    assert named <= {call_of(each) for each in asks_under(Ask)}
    assert {call_of(each) for each in asks_under(Carry)} == {"Carry"}
    assert [call for call in CALLS if call not in named and not hasattr(MemoryStore, call)] == []
