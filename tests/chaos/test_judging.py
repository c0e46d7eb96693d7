"""A judge that finds nothing proves nothing: each kind of harm is found."""

from collections.abc import Callable

import msgspec
import pytest
from chaos.judging import Judge, resumed
from chaos.ledger import Effect, Stale
from chaos.nodes import Death
from chaos.plays import all_plays
from chaos.records import Move, Records
from chaos.restarts import Repeat
from chaos.witness import Noted, Stored

from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.initiator import ManualInitiator
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.ports.rows import Phase, RunRow

NAP, OTHER, GATE = RunKey("nap", 1, 1), RunKey("nap", 2, 1), RunKey("gate", 1, 1)
SLEPT, WORKED = AttemptKey(NAP, "nap1", 1), AttemptKey(NAP, "nap2", 1)
DONE: Move = (StepStatus.STARTING, StepStatus.SUCCEEDED)
BEGUN: Move = (StepStatus.NOT_CREATED, StepStatus.STARTING)
ENDED = [
    (InstanceStatus.CREATED, InstanceStatus.IN_PROGRESS),
    (InstanceStatus.IN_PROGRESS, InstanceStatus.SUCCEEDED),
]


def row_of(key: RunKey, status: RunStatus = RunStatus.SUCCEEDED) -> RunRow:
    record = RunRecord(
        key=key, uuid=str(key), version_id=1, status=status, initiator=ManualInitiator(), correlation_id="c"
    )
    return RunRow(record=record, group=1, phase=Phase.ENDED, root=key)


class Case:
    """One run that went well, to be spoilt."""

    def __init__(self) -> None:
        self.records = Records(
            stored={Stored(1, 1, "x")},
            gaps=[],
            attempts={SLEPT: [BEGUN, DONE], WORKED: [BEGUN, DONE]},
            runs={NAP: list(ENDED)},
            rows={NAP: row_of(NAP)},
            newest={SLEPT: StepStatus.SUCCEEDED, WORKED: StepStatus.SUCCEEDED},
        )
        self.started = {NAP: "nap"}
        self.storms = 0
        self.effects = [Effect(str(WORKED), 2, 11, 1.0, 2.0, 0)]
        self.stale: list[Stale] = []
        self.repeats: list[Repeat] = []
        self.notes = [Noted(at=1.0, pid=11, what="committed", group=1, seq=1, digest="x")]
        self.deaths: list[Death] = []

    def violations(self) -> list[str]:
        judge = Judge(
            all_plays("effects"),
            self.started,
            self.storms,
            self.records,
            self.effects,
            stale=self.stale,
            repeats=self.repeats,
        )
        return judge.violations(self.notes, self.deaths)


def test_all_is_well() -> None:
    assert Case().violations() == []


def lose_a_run(case: Case) -> None:
    case.started[OTHER] = "nap"


def make_one_too_many(case: Case) -> None:
    case.records.rows[OTHER] = row_of(OTHER)


def miss_a_storm(case: Case) -> None:
    case.storms = 1


def end_badly(case: Case) -> None:
    case.records.rows[NAP] = row_of(NAP, RunStatus.FAILED)


def not_end(case: Case) -> None:
    case.records.runs[NAP].pop()


def end_twice(case: Case) -> None:
    case.records.runs[NAP].append((InstanceStatus.SUCCEEDED, InstanceStatus.SUCCEEDED))


def tear_the_chain(case: Case) -> None:
    case.records.attempts[WORKED] = [BEGUN, (StepStatus.RUNNING, StepStatus.SUCCEEDED)]


def end_an_attempt_twice(case: Case) -> None:
    case.records.attempts[WORKED] += [(StepStatus.SUCCEEDED, StepStatus.SUCCEEDED)]


def complete_twice(case: Case) -> None:
    again = AttemptKey(NAP, "nap2", 2)
    case.records.attempts[again] = [BEGUN, DONE]
    case.effects.append(Effect(str(again), 3, 11, 1.0, 2.0, 0))


def leave_a_step_out(case: Case) -> None:
    del case.records.attempts[SLEPT], case.records.newest[SLEPT]


def fail_once(case: Case) -> None:
    failed = (StepStatus.STARTING, StepStatus.PLATFORM_FAILED)
    case.records.attempts[AttemptKey(NAP, "nap2", 2)] = [BEGUN, failed]


def change_a_row(case: Case) -> None:
    case.records.newest[WORKED] = StepStatus.RUNNING


def have_no_effect(case: Case) -> None:
    case.effects.clear()


def lose_the_last_effect(case: Case) -> None:
    case.effects.append(Effect(str(WORKED), 3, 12, 3.0, None, 0))


def launch_twice(case: Case) -> None:
    case.effects = [effect._replace(repeats=1) for effect in case.effects]


def begin_after_a_newer_launch(case: Case) -> None:
    case.stale.append(Stale(str(WORKED), 1, 12, 1.5, 2))


def restart_nothing(case: Case) -> None:
    case.repeats.append(Repeat({"nap": 1}, {"nap2": 1}))


def break_a_promise(case: Case) -> None:
    case.notes.append(Noted(at=1.0, pid=11, what="committed", group=1, seq=2, digest="y"))


def write_over_a_promise(case: Case) -> None:
    case.notes = [msgspec.structs.replace(note, digest="y") for note in case.notes]


def have_a_fault(case: Case) -> None:
    case.notes.append(Noted(at=1.0, pid=11, what="fault", text="ZeroDivisionError"))


def skip_a_number(case: Case) -> None:
    case.records.gaps.append("the log of group 1 goes from 1 to 3")


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lose_a_run, "was promised, and is not there"),
        (make_one_too_many, "lost or doubled: 1 runs of nap were asked for, 2 are there"),
        (miss_a_storm, "lost or doubled: 1 runs of storm"),
        (end_badly, "is FAILED, and not SUCCEEDED"),
        (not_end, "the log leaves run"),
        (end_twice, "do not follow on each other"),
        (tear_the_chain, "do not follow on each other"),
        (end_an_attempt_twice, "has 2 ends"),
        (complete_twice, "doubled: step nap2"),
        (leave_a_step_out, "step nap1 completed 0 times instead of 1"),
        (fail_once, "step nap2 failed 1 times instead of 0"),
        (change_a_row, "is RUNNING, and its log says"),
        (have_no_effect, "succeeded without an effect"),
        (lose_the_last_effect, "succeeded without an effect"),
        (launch_twice, "the same launch began 2 times"),
        (begin_after_a_newer_launch, "stale: launch 1 of [nap][1][1][nap2][1] began in process 12"),
        (restart_nothing, "lost or doubled: 2 runs of nap were asked for, 1 are there"),
        (restart_nothing, "step nap2 completed 1 times instead of 2"),
        (break_a_promise, "lost: process 11 was told"),
        (write_over_a_promise, "lost: process 11 was told"),
        (have_a_fault, "ZeroDivisionError"),
        (skip_a_number, "goes from 1 to 3"),
    ],
)
def test_harm_is_found(spoil: Callable[[Case], None], found: str) -> None:
    case = Case()
    spoil(case)
    assert any(found in each for each in case.violations()), case.violations()


# ------------------------------------------------------------------------------------------------------ times
def gate(number: int, generation: int, pid: int, begun: float, ended: float | None) -> Effect:
    return Effect(str(AttemptKey(GATE, f"gate{number}", 1)), generation, pid, begun, ended, 0)


@pytest.mark.parametrize(
    ("effects", "deaths", "well"),
    [
        ([gate(1, 1, 11, 1.0, 3.0), gate(2, 1, 11, 1.0, 3.0), gate(3, 1, 11, 3.5, 4.0)], [], True),
        ([gate(1, 1, 11, 1.0, 3.0), gate(2, 1, 11, 1.0, 3.0), gate(3, 1, 11, 2.5, 4.0)], [], False),
        (
            [gate(1, 1, 11, 1.0, None), gate(2, 1, 12, 1.0, 3.0), gate(3, 1, 12, 2.5, 4.0)],
            [Death(11, 2.0)],
            True,
        ),
        ([gate(1, 1, 11, 1.0, None), gate(1, 2, 12, 2.0, 9.0), gate(2, 1, 12, 3.0, 4.0)], [], True),
    ],
    ids=["one after the other", "three at once", "one was killed", "one was launched again"],
)
def test_permits(effects: list[Effect], deaths: list[Death], *, well: bool) -> None:
    case = Case()
    case.effects += effects
    case.deaths = deaths
    assert (not [each for each in case.violations() if "work at once" in each]) is well


def test_runs_of_a_queue_go_one_after_the_other() -> None:
    case = Case()
    case.effects += [
        Effect(str(AttemptKey(RunKey("queue", place, 1), "queue1", 1)), 1, 11, begun, begun + 1, 0)
        for place, begun in ((1, 1.0), (2, 2.0), (3, 2.5))
    ]
    assert [each for each in case.violations() if "2 steps of queue work at once" in each]


def test_how_long_it_took_until_work_went_on() -> None:
    effects = [
        Effect("a", 1, 11, 1.0, None, 0),  # cut off, and launched again
        Effect("a", 2, 12, 7.0, 8.0, 0),
        Effect("b", 1, 11, 1.0, 2.0, 0),  # it was done by then, but nobody had noted it
        Effect("b", 2, 12, 7.0, 8.0, 0),
        Effect("c", 1, 12, 1.0, None, 0),  # of another process
        Effect("c", 2, 13, 9.0, 9.5, 0),
    ]
    assert resumed(effects, [Death(11, 3.0)]) == ([4.0], [])
    assert resumed(effects, [Death(11, 3.0), Death(14, 5.0)]) == ([], [4.0])
