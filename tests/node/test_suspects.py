"""Owners die: of a run or message that kills them, which is set aside, or of something else, which is not."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from tests.node.tank import GOING_ON, Fish, Tank, flow, work

from stretto.engine import events as happened
from stretto.engine.decide import decide
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.node import decider
from stretto.node.asks import Ask, Calm, Commit, Deal, LoadRuns, NoteSuspects
from stretto.ports.failures import OutcomeUnknown
from stretto.ports.history import QuarantinedRuns
from stretto.ports.messages import Letter, Log
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.ports.rows import Lease
from stretto.ports.suspicion import Suspect

NAP = "{id: nap, type: Sleep, params: {sleep_seconds: {value: 600, type: LONG}}}"
MOST_LIVES = 4  # a run that kills its owner is set aside at the fourth death


class DeathError(BaseException):
    """The process is gone, in the middle of a decision."""


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[happened.Event], bool]]:
    """Events whose decision kills the process."""
    conditions: list[Callable[[happened.Event], bool]] = []

    def deadly_decide(flow: Any, event: Any, now: int) -> Any:
        if any(condition(event) for condition in conditions):
            raise DeathError
        return decide(flow, event, now)

    monkeypatch.setattr(decider, "decide", deadly_decide)
    return conditions


def lives(tank: Tank, fatal: Callable[[Ask], bool] = lambda _ask: False) -> Iterator[Fish]:
    """One owner after the other, as long as each of them dies within a minute."""
    while True:
        fish = tank.fish()
        fish.held = fatal
        try:
            for _ in range(600):
                tank.advance(100)
                if fish.holding:
                    break
            else:
                return
        except DeathError:
            pass
        tank.crash(fish)
        yield fish


def nothing_is_noted(tank: Tank) -> bool:
    return not any(group.suspicion.noted for group in tank.do(tank.store.groups()))


def quarantined(tank: Tank) -> list[RunKey]:
    return [row.key for row in tank.do(tank.store.runs(QuarantinedRuns(Cut()))).elements]


# ---------------------------------------------------------------------------------------------- real killers
def test_a_run_that_kills_whoever_reads_it_is_set_aside_at_the_fourth_death() -> None:
    tank = Tank()
    first = tank.fish()
    first.runtime.answers["start a"] = [GOING_ON]
    bad = tank.settle().start(flow(work("a")))
    good = [tank.start_again("flow") for _ in range(40)]
    tank.settle()
    tank.crash(first)
    deaths = 1
    for _ in lives(tank, lambda ask: isinstance(ask, LoadRuns) and bad in ask.runs):
        deaths += 1
        assert quarantined(tank) == []
    assert deaths == MOST_LIVES
    assert quarantined(tank) == [bad]
    assert {tank.status(each) for each in good} == {"SUCCEEDED"}
    tank.fishes[-1].held = lambda _ask: False
    assert tank.do(tank.store.release_run(bad))
    tank.advance(5_000)
    assert tank.status(bad) == "SUCCEEDED"


@pytest.mark.parametrize("event", [happened.Launched, happened.Reported])
def test_a_run_that_kills_whoever_decides_is_set_aside_at_the_fourth_death(
    deadly: list[Callable[[happened.Event], bool]], event: type
) -> None:
    """Whatever else it does well in the life of each owner: reading it, recovering it, beginning its work."""
    tank = Tank()
    bad = RunKey("flow", 1, 1)
    deadly.append(lambda each: isinstance(each, event) and bad in {getattr(each, "run", None), _run_of(each)})
    first = tank.fish()
    first.held = lambda ask: isinstance(ask, LoadRuns)
    good = [tank.settle().start(flow(work("a"), work("b")))] + [tank.start_again("flow") for _ in range(20)]
    assert good.pop(0) == bad
    first.let_go()
    with pytest.raises(DeathError):
        tank.settle()
    tank.crash(first)
    deaths = 1 + sum(1 for _ in lives(tank))
    assert deaths == MOST_LIVES
    assert quarantined(tank) == [bad]
    assert {tank.status(each) for each in good} == {"SUCCEEDED"}


def _run_of(event: Any) -> RunKey | None:
    attempt = getattr(event, "attempt", None)
    return None if attempt is None else attempt.run


def test_a_message_that_kills_whoever_deals_with_it_is_parked_at_the_fourth_death() -> None:
    tank = Tank()
    first = tank.fish()
    run = tank.settle().start(flow(NAP))
    tank.settle()
    tank.crash(first)
    body = Log(run=run, status=tank.row(run).record.status, at=1)
    bad = tank.do(tank.store.send(Letter(ref="x", to_group=tank.row(run).group, body=body)))
    others = [Letter(ref=f"{n}", to_group=n, body=Log(at=1)) for n in range(GROUPS)]
    for letter in others:
        tank.do(tank.store.send(letter))
    deaths = 1
    for _ in lives(tank, lambda ask: isinstance(ask, Deal) and ask.message.id == bad):
        deaths += 1
    assert deaths == MOST_LIVES
    assert [each.id for each in tank.do(tank.store.parked_messages(Cut())).elements] == [bad]
    assert all(tank.do(tank.store.fetch(tank.fishes[-1].node.id, [n])).messages == () for n in range(GROUPS))
    assert quarantined(tank) == []


# --------------------------------------------------------------------------------------- deaths from outside
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_owners_that_are_killed_at_any_moment_set_nothing_aside(seed: int) -> None:
    """Each owner dies after some of its asks: any number of them."""
    dice = Random(seed)  # noqa: S311 - moments, no secrets
    tank = Tank()
    first = tank.fish()
    first.runtime.answers["start a"] = [GOING_ON]
    runs = [tank.settle().start(flow(work("a", "b"), work("b", "c"), NAP.replace("id: nap", "id: c")))]
    runs += [tank.start_again("flow") for _ in range(5)]
    tank.settle()
    tank.crash(first)
    kinds = set()
    for _ in range(40):
        moment = dice.randrange(40)
        asks: list[Ask] = []

        fish = tank.fish()

        def until_then(ask: Ask, fish: Fish = fish, asks: list[Ask] = asks, moment: int = moment) -> bool:
            if fish.node.groups:
                asks.append(ask)
            return len(asks) > moment

        fish.held = until_then
        while len(asks) <= moment:
            tank.advance(100)
        kinds.add(type(asks[moment]))
        tank.crash(fish)
    assert NoteSuspects in kinds
    tank.fish()
    tank.advance(700_000)
    assert quarantined(tank) == []
    assert {tank.status(each) for each in runs} == {"SUCCEEDED"}


def test_an_owner_that_is_always_killed_in_the_same_decision_of_another_run_sets_nothing_aside(
    deadly: list[Callable[[happened.Event], bool]],
) -> None:
    """The first decision of any run is fatal, and there is another run each time."""
    tank = Tank()
    deadly.append(lambda each: isinstance(each, happened.Launched) and each.run.instance_id == len(made))
    made: list[RunKey] = []
    for _ in range(8):
        made.append(RunKey("flow", len(made) + 1, 1))
        fish = tank.fish()
        tank.advance(15_000)
        tank.start(flow(work("a")))
        with pytest.raises(DeathError):
            tank.advance(5_000)
        tank.crash(fish)
    made.append(RunKey("flow", 0, 0))
    tank.fish()
    tank.advance(60_000)
    assert quarantined(tank) == []
    assert {tank.status(each) for each in made[:-1]} == {"SUCCEEDED"}


# --------------------------------------------------------------------------------------------------- notes
def test_a_group_without_falls_is_handled_without_notes() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.held = lambda ask: isinstance(ask, NoteSuspects | Calm)
    run = tank.settle().start(flow(work("a", "b"), work("b")))
    tank.advance(120_000)
    assert tank.status(run) == "SUCCEEDED"
    assert fish.holding == []


def careful_tank(**fields: Any) -> tuple[Tank, Fish]:
    """The owner before has died."""
    tank = Tank(**fields)
    first = tank.fish()
    tank.settle()
    tank.crash(first)
    fish = tank.fish()
    tank.advance(15_000)
    assert all(group.careful for group in fish.node.groups.values())
    return tank, fish


def test_a_note_goes_when_the_decision_has_returned_and_not_when_the_work_has() -> None:
    tank, fish = careful_tank()
    fish.runtime.answers["start a"] = [GOING_ON]
    notes: list[tuple[Suspect, ...]] = []

    def keeps(ask: Ask) -> bool:
        if isinstance(ask, NoteSuspects):
            notes.extend(ask.notes.values())
        return False

    fish.held = keeps
    run = tank.start(flow(work("a")))
    tank.settle()
    assert tank.steps(run) == {"a": "RUNNING"}
    assert nothing_is_noted(tank)
    assert [each.at for note in notes for each in note if each.what == run] == [
        "load",
        "Launched",
        f"Reported {run}[a][1] CONTINUE",
    ]
    assert notes[-1] == ()


def test_what_is_accused_is_not_forgotten_before_it_had_its_turn(
    deadly: list[Callable[[happened.Event], bool]],
) -> None:
    """A slow machine: each owner is busy with something else for longer than a group takes to be calm."""
    tank = Tank()
    first = tank.fish()
    first.runtime.answers["start a"] = [GOING_ON]
    other = tank.start(flow(work("a"), name="other"))
    tank.advance(1_000)
    tank.crash(first)
    bad = tank.start(flow(work("b"), name="bad"))
    deadly.append(lambda event: isinstance(event, happened.Launched) and event.run == bad)
    deaths = 0
    while not quarantined(tank) and deaths < 2 * MOST_LIVES:
        fish = tank.fish()
        fish.held = lambda ask: isinstance(ask, LoadRuns) and other in ask.runs
        try:
            tank.advance(150_000)
            fish.let_go()
            tank.advance(30_000)
        except DeathError:
            deaths += 1
        tank.crash(fish)
    assert quarantined(tank) == [bad]
    assert deaths <= MOST_LIVES


def test_a_group_that_is_calm_again_is_handled_without_notes() -> None:
    tank, fish = careful_tank()
    fish.held = lambda ask: isinstance(ask, NoteSuspects)
    tank.start(flow(work("a")))
    tank.advance(1_000)
    (ask,) = fish.holding
    tank.advance(60_000)  # one note is on its way: that group is not calm yet
    assert {group.falls for group in tank.do(tank.store.groups())} == {0, 1}
    fish.answer(ask)
    tank.advance(1_000)
    fish.let_go()
    tank.advance(5_000)
    assert {group.falls for group in tank.do(tank.store.groups())} == {0}
    assert nothing_is_noted(tank)
    fish.held = lambda ask: isinstance(ask, NoteSuspects)
    run = tank.start_again("flow")
    tank.advance(5_000)
    assert tank.status(run) == "SUCCEEDED"
    assert fish.holding == []


def test_runs_are_read_and_events_are_decided_together() -> None:
    """A note names some of them; the rest has its turn later."""
    tank = Tank()
    first = tank.fish()
    tank.settle()
    tank.crash(first)
    first_step = ", ".join(f"{{job: {{id: s{n}, type: Python}}}}" for n in range(40))
    run = tank.start(
        "workflow:\n  id: wide\n  owner: ann\n  run_strategy: parallel\n"
        f"  dag: parallel\n  jobs: [{first_step}]\n"
    )
    notes: list[int] = []
    fish = tank.fish()

    def keeps(ask: Ask) -> bool:
        if isinstance(ask, NoteSuspects):
            notes.extend(map(len, ask.notes.values()))
        return False

    fish.held = keeps
    tank.advance(30_000)
    assert tank.status(run) == "SUCCEEDED"
    assert max(notes) == 16
    assert nothing_is_noted(tank)


@pytest.mark.parametrize("error", [Unavailable("away"), OutcomeUnknown("who knows"), ValueError("odd")])
def test_a_note_that_can_not_be_stored_is_tried_again(error: Exception) -> None:
    tank, fish = careful_tank()
    fish.held = lambda ask: isinstance(ask, NoteSuspects)
    run = tank.start(flow(work("a")))
    tank.settle()
    (ask,) = fish.holding
    fish.holding = []
    fish.node.failed(ask, error)
    tank.settle()
    assert (fish.holding, tank.status(run)) == ([], "CREATED")
    fish.held = lambda _ask: False
    tank.advance(5_000)
    assert tank.status(run) == "SUCCEEDED"
    assert nothing_is_noted(tank)


def test_nothing_is_done_in_a_group_that_is_lost() -> None:
    tank, fish = careful_tank()
    fish.held = lambda ask: isinstance(ask, NoteSuspects)
    run = tank.start(flow(work("a")))
    tank.settle()
    (ask,) = fish.holding
    (row,) = [each for each in tank.do(tank.store.nodes()) if each.node == fish.node.id]
    assert tank.do(tank.store.bury(row.node, row.beats, expired=False)) is not None
    fish.held = lambda ask: isinstance(ask, LoadRuns)
    fish.holding = []
    fish.answer(ask)
    tank.settle()
    assert fish.holding == []
    fish.held = lambda _ask: False
    tank.advance(20_000)  # it finds out that it was buried, and joins anew
    assert tank.status(run) == "SUCCEEDED"


def test_a_group_that_is_claimed_again_withdraws_its_note() -> None:
    """A commit of unknown outcome, while a note of the same group stands."""
    tank, fish = careful_tank()
    fish.held = lambda ask: (
        isinstance(ask, Commit | NoteSuspects) and (isinstance(ask, Commit) or not any(ask.notes.values()))
    )
    run = tank.start(flow(work("a")))
    tank.settle()
    commit = next(ask for ask in fish.holding if isinstance(ask, Commit))
    assert not nothing_is_noted(tank)
    fish.holding.remove(commit)
    fish.node.failed(commit, OutcomeUnknown("who knows"))
    fish.let_go()
    tank.advance(20_000)
    assert nothing_is_noted(tank)
    assert tank.status(run) == "SUCCEEDED"


def begins_anew_while_a_note_is_withdrawn(tank: Tank, fish: Fish) -> None:
    """The answer to a commit is lost, and the withdrawal of the note before it takes its time: the group is
    claimed again meanwhile, and the node begins something in it.
    """
    tank.settle()
    commit = next(ask for ask in fish.holding if isinstance(ask, Commit))
    assert not nothing_is_noted(tank)
    fish.holding.remove(commit)
    fish.node.failed(commit, OutcomeUnknown("who knows"))
    tank.settle()
    assert all(fish.node.groups[part.lease.group].lease != part.lease for part in commit.parts)
    fish.let_go()
    tank.advance(20_000)
    assert nothing_is_noted(tank)


def commits_and_withdrawals(ask: Ask) -> bool:
    return isinstance(ask, Commit) or (isinstance(ask, NoteSuspects) and not any(ask.notes.values()))


def test_an_answer_about_the_lease_before_leaves_the_new_one_alone() -> None:
    tank, fish = careful_tank()
    fish.held = commits_and_withdrawals
    run = tank.start(flow(work("a")))
    begins_anew_while_a_note_is_withdrawn(tank, fish)
    assert tank.status(run) == "SUCCEEDED"


def test_what_is_noted_already_is_begun_without_another_note() -> None:
    """The group that is claimed again has a note about the message that is dealt with again."""
    tank, fish = careful_tank()
    fish.held = commits_and_withdrawals
    letter = Letter(ref="x", to_group=7, body=Log(at=1))
    tank.do(tank.store.send(letter))
    tank.hint([7])
    begins_anew_while_a_note_is_withdrawn(tank, fish)
    assert tank.do(tank.store.fetch(fish.node.id, [7])).messages == ()
    run = next(each for each in iter(lambda: tank.start(flow(work("a"))), None) if tank.row(each).group == 7)
    tank.advance(5_000)
    assert tank.status(run) == "SUCCEEDED"


def test_a_note_that_is_not_needed_any_more_is_withdrawn() -> None:
    """The node is told to leave after it has noted what it was about to decide."""
    tank, fish = careful_tank()
    fish.held = lambda ask: (
        isinstance(ask, NoteSuspects)
        and any(each.at == "Launched" for note in ask.notes.values() for each in note)
    )
    run = tank.start(flow(work("a")))
    tank.settle()
    assert fish.holding
    fish.node.stop()
    fish.let_go()
    tank.settle()
    assert fish.node.gone
    assert nothing_is_noted(tank)
    tank.crash(fish)
    tank.fish()
    tank.advance(15_000)
    assert tank.status(run) == "SUCCEEDED"


# --------------------------------------------------------------------------------------------- the accused
def accuse(tank: Tank, *suspects: Suspect) -> None:
    """An owner dies, with these noted."""
    fish = tank.fish()
    fish.held = lambda ask: isinstance(ask, LoadRuns)
    tank.advance(15_000)
    leases = {group.number: group.lease for group in fish.node.groups.values()}
    notes: dict[Lease, list[Suspect]] = {}
    for each in suspects:
        assert isinstance(each.what, RunKey)
        notes.setdefault(leases[tank.row(each.what).group], []).append(each)
    tank.crash(fish)
    tank.do(tank.store.note_suspects(notes))


def test_what_is_accused_is_handled_alone_and_the_others_in_between() -> None:
    tank = Tank()
    first = tank.fish()
    first.runtime.answers["start a"] = [GOING_ON]
    runs = [tank.settle().start(flow(work("a")))]
    runs += [tank.start_again("flow") for _ in range(11)]
    tank.settle()
    tank.crash(first)
    accused = frozenset(runs[:4])
    accuse(tank, *[Suspect(what=run, at="load") for run in accused])
    last = tank.fish()
    read: list[tuple[RunKey, ...]] = []

    def look(ask: Ask) -> bool:
        if isinstance(ask, LoadRuns):
            read.append(ask.runs)
            noted = [each.what for row in tank.do(tank.store.groups()) for each in row.suspicion.noted]
            assert set(ask.runs) <= set(noted)
            if accused.intersection(ask.runs):
                assert (len(ask.runs), len(noted)) == (1, 1)
        return False

    last.held = look
    tank.advance(30_000)
    assert {tank.status(each) for each in runs} == {"SUCCEEDED"}
    assert accused <= {run for batch in read for run in batch if len(batch) == 1}
    assert not any(row.suspicion.accused for row in tank.do(tank.store.groups()))


def test_what_most_owners_died_of_has_its_turn_first_and_at_different_times() -> None:
    """Three lives, and in each the accused run is read at another moment after the claim."""
    tank = Tank()
    first = tank.fish()
    first.runtime.answers["start a"] = [GOING_ON]
    run = tank.settle().start(flow(work("a")))
    tank.settle()
    tank.crash(first)
    waits = set()
    accuse(tank, Suspect(what=run, at="load"))
    for _ in range(2):
        fish = tank.fish()
        fish.held = lambda ask: isinstance(ask, LoadRuns)
        tank.advance(10_000)
        while not fish.node.groups:
            tank.advance(100)
        begun = tank.clock.millis
        while not fish.holding:
            tank.advance(10)
        waits.add(tank.clock.millis - begun)
        tank.crash(fish)
    assert len(waits) == 2
    tank.fish()
    tank.advance(30_000)
    assert quarantined(tank) == [run]
