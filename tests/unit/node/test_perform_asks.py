"""The performer: each ask does what it says, tells whom it concerns, and raises what goes wrong."""

from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace
from tests.unit.node.bench import ANN, NODE, Bench

from stretto.actions.fire_timer import MOST_FIRES
from stretto.actions.parts.workflow_change import Change, change_workflow
from stretto.actions.start import start
from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.errors import Unavailable
from stretto.model.initiator import ManualInitiator
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.request import StartRequest
from stretto.model.trigger import CronTrigger
from stretto.node import asks
from stretto.node.answers import DueTriggers
from stretto.node.asks import Ask
from stretto.node.perform.queues import HOUR
from stretto.node.settings import NodeSettings
from stretto.ports import messages as post
from stretto.ports.commit import Decided, GroupPart
from stretto.ports.groups import NodeState
from stretto.ports.places import group_of_run, group_of_workflow
from stretto.ports.rows import Lease, NodeId
from stretto.ports.suspicion import NONE, Suspect
from stretto.ports.triggers import TimeTriggerRow
from stretto.ports.workflows import Found
from stretto.testing.shapes import ITEMS, computed, foreach, noop, step, tag, workflow

OTHER = NodeId("node-2")
ALL = frozenset(range(128))


def test_every_ask_has_somebody_who_answers_it() -> None:
    asked = {each for each in subclasses(Ask) if each is not asks.Carry and "[" not in each.__name__}
    assert {each for each in asked if "perform" in vars(each)} == asked


def subclasses(tp: type[Ask]) -> Iterator[type[Ask]]:
    for each in tp.__subclasses__():
        yield each
        yield from subclasses(each)


# ---------------------------------------------------------------------------------------------- membership
def test_a_node_joins_beats_and_leaves() -> None:
    bench = Bench()
    bench.ask(asks.Join(node=OTHER))
    heard = bench.ask(asks.Beat(node=OTHER, sent=0.0))
    assert {each.node: each.address for each in heard.nodes} == {NODE: "here", OTHER: "here"}
    bench.ask(asks.StartLeaving(node=OTHER))
    nodes = {each.node: each.state for each in bench.do(bench.store.nodes())}
    assert nodes[OTHER] is NodeState.LEAVING
    bench.ask(asks.Leave(node=OTHER))
    assert bench.ask(asks.Beat(node=OTHER, sent=0.0)) is None


def test_a_process_that_is_gone_is_buried_with_the_next_beat() -> None:
    bench = Bench()
    bench.ask(asks.Join(node=OTHER))
    bench.performer._gone = lambda address: address == "here"
    bench.do(bench.store.leave(OTHER))
    bench.do(bench.store.join(OTHER, "there"))
    heard = bench.ask(asks.Beat(node=OTHER, sent=0.0))
    assert {each.node for each in heard.nodes} == {NODE, OTHER}
    assert bench.hints.groups == list(range(128))
    states = {each.node: each.state for each in bench.do(bench.store.nodes())}
    assert states == {NODE: NodeState.DEAD, OTHER: NodeState.ALIVE}
    bench.ask(asks.Beat(node=OTHER, sent=1.0))
    assert len(bench.hints.groups) == 128  # once


def test_a_beat_counts_if_the_dead_can_not_be_buried(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    bench.performer._gone = lambda _address: True

    async def away(*_args: object, **_options: object) -> None:
        raise Unavailable("not now")

    monkeypatch.setattr(bench.store, "bury", away)
    assert bench.ask(asks.Beat(node=NODE, sent=0.0)) is not None


def test_groups_that_are_given_up_are_hinted() -> None:
    bench = Bench()
    leases = (bench.leases[3], bench.leases[5])
    assert bench.ask(asks.GiveUp(node=NODE, leases=leases)) == [3, 5]
    assert bench.hints.groups == [3, 5]
    bench.ask(asks.Join(node=OTHER))
    taken = bench.ask(asks.Claim(node=OTHER, most=1, held=frozenset())).taken
    assert [lease.group for lease in taken] == [3]


def test_a_claim_whose_answer_was_lost_is_made_again() -> None:
    bench = Bench()
    held = ALL - {7, 9}
    again = bench.ask(asks.Claim(node=NODE, most=4, held=held)).taken
    assert {lease.group: lease.generation for lease in again} == {
        group: bench.leases[group].generation + 1 for group in (7, 9)
    }
    assert bench.ask(asks.Claim(node=NODE, most=4, held=ALL)) == ([], [])
    assert bench.ask(asks.ClaimAgain(node=NODE, leases=tuple(again))) == [
        Lease(lease.group, lease.generation + 1) for lease in again
    ]


def test_a_claim_says_which_leases_somebody_has_ended() -> None:
    bench = Bench()
    freed, taken, again, kept = (bench.leases[group] for group in (3, 5, 7, 9))
    bench.ask(asks.GiveUp(node=NODE, leases=(freed, taken)))
    bench.ask(asks.ClaimAgain(node=NODE, leases=(again,)))
    bench.ask(asks.Join(node=OTHER))
    bench.ask(asks.Claim(node=OTHER, most=1, held=ALL - {taken.group}))
    answer = bench.ask(asks.Claim(node=NODE, most=0, held=ALL, leases=(freed, taken, again, kept)))
    assert answer == ([], [freed, taken, again])


def test_a_burial_frees_groups_and_says_so() -> None:
    bench = Bench()
    bench.ask(asks.GiveUp(node=NODE, leases=(bench.leases[3],)))
    bench.ask(asks.Join(node=OTHER))
    bench.ask(asks.Claim(node=OTHER, most=1, held=frozenset()))
    bench.hints.groups.clear()
    (row,) = [each for each in bench.do(bench.store.nodes()) if each.node == OTHER]
    bury = asks.Bury(node=OTHER, beats=row.beats, expired=True)
    assert bench.ask(bury) is None
    assert bench.hints.groups == []
    bench.clock._now += 60_000
    burial = bench.ask(bury)
    assert burial.groups == (3,)
    assert bench.hints.groups == [3]


def test_a_suspect_is_noted_and_forgotten() -> None:
    bench = Bench()
    lease = bench.leases[3]
    noted = Suspect(what=RunKey("w", 1, 1), at="load")
    assert bench.ask(asks.NoteSuspects(notes={lease: (noted,)})) == frozenset()
    assert bench.do(bench.store.groups())[3].suspicion.noted == (noted,)
    bench.ask(asks.Calm(leases=(lease,)))
    assert bench.do(bench.store.groups())[3].suspicion == NONE
    assert bench.ask(asks.NoteSuspects(notes={Lease(3, 0): (noted,)})) == {3}


# ---------------------------------------------------------------------------------------- reading, writing
def test_the_root_of_a_run() -> None:
    bench = Bench()
    bench.publish(workflow(foreach("l", ITEMS, noop("x"))))
    run = bench.start()
    bench.run(run)
    inline = bench.do(bench.store.loops(run))[0].inline_id
    assert bench.ask(asks.FindRoot(run=RunKey(inline, 2, 1))) == run
    assert bench.ask(asks.FindRoot(run=run)) == run
    assert bench.ask(asks.FindRoot(run=RunKey("nobody", 1, 1))) is None


def test_mail_leaves_out_what_is_in_hand() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    run = bench.start()
    ask = asks.FetchMail(node=NODE, groups=ALL, known=frozenset(), launching=frozenset())
    mail = bench.ask(ask)
    assert mail.admitted == (run,)
    (message,) = mail.messages
    known = asks.FetchMail(node=NODE, groups=ALL, known=frozenset({message.id}), launching=frozenset({run}))
    assert bench.ask(known) == type(mail)()


def test_a_commit_hints_the_groups_that_got_letters_but_not_those_of_fenced_parts() -> None:
    bench = Bench()
    body = post.Log(at=1)

    def part(lease: Lease, *to: int) -> GroupPart:
        sent = [post.Letter(ref=f"to {group}", body=body, to_group=group) for group in to]
        sent.append(post.Letter(ref="to a node", body=body, to_node=NODE))
        return GroupPart(lease=lease, decisions=(Decided(sent=tuple(sent)),))

    old = Lease(3, bench.leases[3].generation - 1)
    done = bench.ask(asks.Commit(node=NODE, parts=(part(bench.leases[1], 7, 8), part(old, 9))))
    assert done.fenced == {3}
    assert sorted(bench.hints.groups) == [7, 8]


def test_a_message_is_postponed() -> None:
    bench = Bench()
    letter = post.Letter(ref="x", body=post.Log(at=1), to_group=5)
    number = bench.do(bench.store.send(letter))
    message = bench.ask(asks.Postpone(lease=bench.leases[5], message=number, reason="not now"))
    assert message.tries == 1


def test_a_result_for_somebody_else_is_delivered_and_hinted() -> None:
    bench = Bench()
    bench.publish(workflow(step("a"), foreach("l", ITEMS, step("x"), concurrency=1)))
    bench.holding = (todo.StartWork,)
    run = bench.start()
    bench.launch(run)
    bench.settle()
    state = happened.ResultState.DONE
    bench.hints.groups.clear()
    for effect in bench.held:
        assert isinstance(effect, todo.StartWork)
        event = happened.Reported(attempt=effect.attempt, launch=effect.launch, state=state)
        assert bench.ask(asks.Deliver(node=NODE, result=post.Result(event=event)))
    assert bench.hints.groups == [bench.row(run).group] * 2  # that of an iteration is its root's
    nowhere = happened.Reported(attempt=AttemptKey(RunKey("n", 1, 1), "a", 1), launch=1, state=state)
    assert not bench.ask(asks.Deliver(node=NODE, result=post.Result(event=nowhere)))
    assert len(bench.hints.groups) == 2


def test_an_effect_of_another_kind_is_not_carried_out_here() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    run = bench.start()
    effect = todo.RunEnded(run=run, status=bench.row(run).record.status)
    ask: Ask = asks.Carry(lease=bench.lease_of(run), root=run, effect=effect, run=bench.row(run).record)  # type: ignore[type-var]
    with pytest.raises(TypeError, match="RunEnded"):
        bench.ask(ask)


def test_what_takes_too_long_for_a_decision_is_evaluated() -> None:
    bench = Bench(NodeSettings(engine=EngineSettings(expression_visits=1_000)))
    long = "int s = 0; for (int i = 0; i < 10000; i += 1) { s += i; } return s;"
    bench.publish(workflow(step("a", params={"q": computed(long)})))
    run = bench.start()
    assert bench.run(run) == "SUCCEEDED"
    assert bench.value(run, "a", "q") == 10_000 * 9_999 // 2


def test_where_the_work_of_a_step_lives() -> None:
    bench = Bench()
    assert not bench.performer.outside(step("a"))
    assert not bench.performer.outside(step("a", type="Spark"))
    bench.worker.outside = True
    assert bench.performer.outside(step("a"))


def test_what_a_runtime_reports_by_itself_goes_where_the_performer_is_told() -> None:
    bench = Bench()
    heard: list[happened.Reported] = []
    bench.performer.report_to(heard.append)
    assert bench.performer.runtimes.heard == heard.append


# -------------------------------------------------------------------------------------------------- queues
def queue(bench: Bench) -> tuple[RunKey, RunKey]:
    """A run that goes on, and one that waits for it."""
    bench.publish(workflow(step("a")), rule="SEQUENTIAL")
    bench.holding = (todo.StartWork,)
    going, queued = bench.start(), bench.start()
    bench.launch(going)
    return going, queued


def free(bench: Bench) -> None:
    """From now on two may run at once, and nobody has looked: whoever changed it died."""
    strategy = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=2)

    def parallel(found: Found) -> Change[None]:
        assert found.row is not None
        properties = replace(found.row.properties, run_strategy=strategy, create_time=found.now)
        return Change(answer=None, properties=properties)

    bench.do(change_workflow(bench.store, "w", parallel))


def test_who_waits_is_admitted_where_there_is_a_queue() -> None:
    bench = Bench()
    _going, queued = queue(bench)
    bench.ask(asks.LookAtQueues(workflow_ids=("w", "nobody")))
    assert bench.row(queued).phase.value == "QUEUED"
    free(bench)
    bench.hints.groups.clear()
    bench.ask(asks.LookAtQueues(workflow_ids=("w", "nobody")))
    assert bench.row(queued).phase.value == "ADMITTED"
    assert bench.hints.groups == [group_of_run(queued)]


def test_a_sweep_finds_a_queue_that_nobody_looked_at() -> None:
    bench = Bench()
    _going, queued = queue(bench)
    free(bench)
    bench.ask(asks.Sweep(groups=ALL - {group_of_workflow("w")}, now=bench.clock.now()))
    assert bench.row(queued).phase.value == "QUEUED"
    bench.hints.groups.clear()
    bench.ask(asks.Sweep(groups=frozenset({group_of_workflow("w")}), now=bench.clock.now()))
    assert bench.row(queued).phase.value == "ADMITTED"
    assert bench.hints.groups == [group_of_run(queued)]


# ---------------------------------------------------------------------------------------------------- tags
def tagged(bench: Bench) -> RunKey:
    """Ten steps and two loops that need a tag of which there are four, and nobody has looked."""
    bench.publish(
        workflow(
            *(step(f"a{number}", tags=(tag("t", 4),)) for number in range(10)),
            foreach("l", ITEMS, step("x", tags=(tag("u", 5),)), concurrency=5),
        )
    )
    bench.holding = (todo.StartWork, todo.AskPermits)
    run = bench.start()
    bench.launch(run)
    bench.hints.groups.clear()
    return run


def granted(bench: Bench) -> int:
    messages = [each for each in bench.messages() if isinstance(each.body, post.Grant)]
    return len(messages)


def test_tags_are_granted_as_long_as_somebody_goes() -> None:
    bench = Bench()
    run = tagged(bench)
    bench.ask(asks.GrantTags(tags=("t",)))
    assert granted(bench) == 4
    assert set(bench.hints.groups) == {bench.row(run).group}
    bench.ask(asks.GrantTags(tags=("nobody",)))
    bench.hints.groups.clear()
    bench.ask(asks.GrantTags(tags=("u",)))
    assert granted(bench) == 9
    assert set(bench.hints.groups) == {bench.row(run).group}  # iterations live with their root


def test_a_sweep_finds_tags_that_somebody_waits_for() -> None:
    bench = Bench()
    tagged(bench)
    bench.ask(asks.Sweep(groups=ALL, now=bench.clock.now()))
    assert granted(bench) == 9


def test_the_group_of_an_iteration_that_is_forgotten_does_not_matter() -> None:
    bench = Bench()
    run = RunKey("maestro_foreach_1_11_x", 1, 1)
    bench.do(bench.performer.hint_owner(run))
    assert bench.hints.groups == [group_of_run(run)]


def test_a_sweep_deletes_outcomes_that_nobody_has_read_for_an_hour() -> None:
    bench = Bench()
    acted = happened.RunActed(run=RunKey("w", 1, 1), action=happened.RunAction.STOP, user="ann")
    number = bench.do(bench.store.send(post.Letter(ref="x", body=post.Act(run=acted), to_group=5)))
    bench.commit(bench.leases[5], Decided(answered={number: post.Outcome(applied=True)}))
    bench.clock._now += HOUR
    bench.ask(asks.Sweep(groups=ALL, now=bench.clock.now()))
    assert bench.do(bench.store.outcome(number)) is not None
    bench.clock._now += 1
    bench.ask(asks.Sweep(groups=ALL, now=bench.clock.now()))
    assert not bench.do(bench.store.withdraw(number))


# -------------------------------------------------------------------------------------------------- timers
HOURLY = CronTrigger(cron="0 * * * *")
DAILY = CronTrigger(cron="30 5 * * *")


def due_triggers(bench: Bench, most: int = 100) -> DueTriggers:
    found = bench.ask(asks.FindDueTriggers(groups=ALL, most=most))
    assert isinstance(found, DueTriggers)
    return found


def fire(bench: Bench, rows: Sequence[TimeTriggerRow]) -> bool:
    return bool(bench.ask(asks.FireTimers(rows=tuple(rows), most=MOST_FIRES)))


def highest(bench: Bench, workflow_id: str) -> int:
    ids = bench.do(bench.store.instance_ids(workflow_id))
    assert ids is not None
    return ids.highest


def test_a_look_finds_what_is_due_and_when_the_next_is() -> None:
    bench = Bench()
    assert due_triggers(bench) == DueTriggers()
    bench.publish(workflow(noop("a"), time_triggers=[HOURLY]))
    bench.publish(workflow(noop("a"), id="v", time_triggers=[HOURLY, DAILY]))
    found = due_triggers(bench)
    assert found.rows == ()
    assert found.wait is not None
    assert 0 < found.wait <= HOUR
    bench.clock._now += found.wait
    found = due_triggers(bench)
    assert sorted(row.workflow_id for row in found.rows) == ["v", "w"]
    assert found.wait is not None  # until that of every day
    assert 0 < found.wait < 24 * HOUR
    assert len(due_triggers(bench, most=1).rows) == 1


def test_triggers_of_a_workflow_are_fired_in_batches() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a"), time_triggers=[HOURLY, DAILY]))
    bench.clock._now += 24 * HOUR
    bench.hints.groups.clear()
    started = []
    while rows := due_triggers(bench).rows:
        assert fire(bench, rows)
        started.append(highest(bench, "w"))
    assert started == [10, 20, 25]
    assert bench.hints.groups


def test_triggers_that_another_node_fires_are_left_to_it() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a"), time_triggers=[HOURLY]))
    bench.clock._now += HOUR
    rows = due_triggers(bench).rows
    assert fire(bench, rows)
    assert not fire(bench, rows)
    assert due_triggers(bench).rows == ()
    assert highest(bench, "w") == 1


def test_a_start_from_outside_is_found_by_the_next_mail() -> None:
    bench = Bench()
    bench.publish(workflow(noop("a")))
    bench.do(start(bench.store, ANN, "w", "latest", StartRequest(initiator=ManualInitiator())))
    bench.settle()
    assert bench.row(RunKey("w", 1, 1)).record.status.value == "SUCCEEDED"
