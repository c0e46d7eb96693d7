"""What must hold in the end, whatever was done to the nodes and their database."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from chaos.deadly import DEADLY
from chaos.ledger import Effect, Stale
from chaos.nodes import Death
from chaos.plays import EFFECTFUL, LOCAL, NARROW, Play, kinds_of
from chaos.records import Records
from chaos.restarts import Repeat
from chaos.storm_plays import KIN_OF_CLAN, TICK
from chaos.witness import Noted, Stored
from stretto.engine.records import RunKey
from stretto.model.status import StepStatus


class Judge:
    """Compares what was promised, what is recorded, and what the world outside saw."""

    def __init__(
        self,
        plays: Sequence[Play],
        started: Mapping[RunKey, str],
        storms: int,
        records: Records,
        effects: Sequence[Effect],
        *,
        stale: Sequence[Stale] = (),
        repeats: Sequence[Repeat] = (),
    ) -> None:
        self._plays = {play.id: play for play in plays}
        self._kinds = kinds_of(plays)
        self._started = started
        self._storms = storms
        self._records = records
        self._effects = effects
        self._stale = stale
        self._repeats = repeats

    def violations(self, notes: Sequence[Noted], deaths: Sequence[Death]) -> list[str]:
        """Nothing, if all is well."""
        return [
            *self._records.gaps,
            *self._lost_runs(),
            *self._ends(),
            *self._moves(),
            *self._completions(),
            *self._rows(),
            *self._missing_effects(),
            *self._doubled_launches(),
            *self._stale_begins(),
            *self._promises(notes),
            *self._at_once("gate", NARROW, deaths),
            *self._at_once("queue", 1, deaths),
        ]

    # --------------------------------------------------------------------------------------------------- runs
    def expected(self) -> Counter[str]:
        """How many runs there must be of each workflow, without restarts. A schedule starts what it starts:
        see `schedule`.
        """
        wanted = Counter(self._started.values())
        wanted["kid"] += wanted["family"]
        wanted[KIN_OF_CLAN] += wanted["clan"]
        wanted["storm"] += self._storms
        wanted[TICK] += sum(key.workflow_id == TICK for key in self._records.rows)
        return wanted

    def _lost_runs(self) -> Iterator[str]:
        for key in self._started:
            if key not in self._records.rows:
                yield f"lost: run {key} was promised, and is not there"
        there = Counter(key.workflow_id for key in self._records.rows)
        wanted = self.expected()
        for repeat in self._repeats:
            wanted.update(repeat.runs)
        for name, number in wanted.items():
            if there[name] != number:
                yield f"lost or doubled: {number} runs of {name} were asked for, {there[name]} are there"

    def _ends(self) -> Iterator[str]:
        for key, row in self._records.rows.items():
            if key.workflow_id == DEADLY:  # it was set aside, or `deadly` says so
                continue
            wanted = self._plays[key.workflow_id].status
            if row.record.status is not wanted:
                yield f"run {key} is {row.record.status}, and not {wanted}"
        for key, moves in self._records.runs.items():
            if key.workflow_id == DEADLY:
                continue
            if not moves[-1][1].is_terminal:
                yield f"the log leaves run {key} {moves[-1][1]}"
            ends = sum(new.is_terminal for _, new in moves)
            if ends != 1 or any(a[1] is not b[0] for a, b in pairwise(moves)):
                yield f"the moves of run {key} do not follow on each other: {moves}"

    # ----------------------------------------------------------------------------------------------- attempts
    def _moves(self) -> Iterator[str]:
        """A write of a node that was fenced would tear the chain, or add an end to one that has its end."""
        for key, moves in self._records.attempts.items():
            if key.run.workflow_id == DEADLY:
                continue
            if moves[0][0] is not StepStatus.NOT_CREATED or any(a[1] is not b[0] for a, b in pairwise(moves)):
                yield f"the moves of {key} do not follow on each other: {moves}"
            ends = sum(new.is_terminal for _, new in moves)
            if ends != 1:
                yield f"{key} has {ends} ends: {moves}"

    def _repeated(self) -> Counter[str]:
        """How often each step completes because of restarts."""
        found: Counter[str] = Counter()
        for repeat in self._repeats:
            found.update(repeat.completions)
        return found

    def _completions(self) -> Iterator[str]:
        """Each step of each run completes once, after as many failures as it was told to have."""
        done: Counter[str] = Counter()
        failed: Counter[str] = Counter()
        once: Counter[tuple[RunKey, str]] = Counter()
        for key, moves in self._records.attempts.items():
            if moves[-1][1] is StepStatus.SUCCEEDED:
                done[key.step_id] += 1
                once[key.run, key.step_id] += 1
            elif moves[-1][1].is_terminal and moves[-1][1] not in {
                StepStatus.UNSATISFIED,
                StepStatus.STOPPED,
            }:
                failed[key.step_id] += 1
        for (run, step_id), number in once.items():
            if number > 1:
                yield f"doubled: step {step_id} of run {run} completed {number} times"
        repeated = self._repeated()
        for name, runs in (+self.expected()).items():
            play = self._plays[name]
            for step_id, times in play.completions.items():
                if done[step_id] != (wanted := times * runs + repeated[step_id]):
                    yield f"step {step_id} completed {done[step_id]} times instead of {wanted}"
        for name, runs in (+self.expected()).items():
            play = self._plays[name]
            for step_id in {*play.completions, *play.failures}:
                if failed[step_id] != (failures := play.failures.get(step_id, 0) * runs):
                    yield f"step {step_id} failed {failed[step_id]} times instead of {failures}"

    def _rows(self) -> Iterator[str]:
        """The rows say what the log says."""
        for key, status in self._records.newest.items():
            moves = self._records.attempts.get(key)
            if not moves or moves[-1][1] is not status:
                yield f"{key} is {status}, and its log says {moves}"

    # ------------------------------------------------------------------------------------------------ effects
    def _by_attempt(self) -> dict[str, list[Effect]]:
        found: dict[str, list[Effect]] = defaultdict(list)
        for effect in self._effects:
            found[effect.attempt].append(effect)
        return found

    def _missing_effects(self) -> Iterator[str]:
        known = self._by_attempt()
        for key, moves in self._records.attempts.items():
            if moves[-1][1] is StepStatus.SUCCEEDED and self._kinds.get(key.step_id) in EFFECTFUL:
                launches = known.get(str(key), [])
                if not launches or launches[-1].ended is None:
                    yield f"lost: {key} succeeded without an effect: {launches}"

    def _doubled_launches(self) -> Iterator[str]:
        """Work of a node's own is started once under each launch."""
        for effect in self._effects:
            step_id = effect.attempt.rsplit("][", 2)[1]
            if effect.repeats and self._kinds[step_id] in LOCAL:
                yield f"the same launch began {effect.repeats + 1} times: {effect}"

    def _stale_begins(self) -> Iterator[str]:
        """A node that was buried must know that its launch does not count before it begins the work. That the
        world outside refuses it is no excuse: not every receiver can.
        """
        for stale in self._stale:
            yield (
                f"stale: launch {stale.generation} of {stale.attempt} began in process {stale.pid} at"
                f" {stale.at:.2f}, after launch {stale.newer} had begun"
            )

    def _at_once(self, workflow_id: str, most: int, deaths: Sequence[Death]) -> Iterator[str]:
        """Never more of its steps at work. Who was killed, or launched again, works no more."""
        died = {death.pid: death.at for death in deaths}
        marks: list[tuple[float, int]] = []
        for launches in self._by_attempt().values():
            if not launches[0].attempt.startswith(f"[{workflow_id}]["):
                continue
            for place, effect in enumerate(launches):
                ends = [effect.ended, died.get(effect.pid)]
                ends += [launches[place + 1].begun] if place + 1 < len(launches) else []
                known = [end for end in ends if end is not None]
                marks += [(effect.begun, 1), (max(effect.begun, min(known)), -1)] if known else []
        at_work = 0
        for at, step in sorted(marks):
            at_work += step
            if at_work > most:
                yield f"{at_work} steps of {workflow_id} work at once, where {most} may, at {at}"

    # ------------------------------------------------------------------------------------------------ witness
    def _promises(self, notes: Sequence[Noted]) -> Iterator[str]:
        """What a node was told to be stored is stored, as it was."""
        for note in notes:
            told = Stored(note.group, note.seq, note.digest)
            if note.what == "committed" and told not in self._records.stored:
                yield f"lost: process {note.pid} was told that {told} is stored"
            if note.what == "fault":
                yield f"a decision failed in process {note.pid}: {note.text}"


class Resumed(NamedTuple):
    """Seconds from a death until its work was launched again, sorted."""

    alone: list[float]  # nobody else died meanwhile
    disturbed: list[float]  # somebody did: maybe the very heir


def resumed(effects: Sequence[Effect], deaths: Sequence[Death]) -> Resumed:
    """For all work that went on when its process was killed or frozen."""
    found = Resumed([], [])
    by_attempt: dict[str, list[Effect]] = defaultdict(list)
    for effect in effects:
        by_attempt[effect.attempt].append(effect)
    for death in deaths:
        for launches in by_attempt.values():
            for before, after in pairwise(launches):
                cut = before.begun <= death.at and (before.ended is None or before.ended > death.at)
                if before.pid == death.pid and cut and after.pid != death.pid and after.begun > death.at:
                    others = any(death.at < each.at < after.begun for each in deaths)
                    (found.disturbed if others else found.alone).append(after.begun - death.at)
    return Resumed(sorted(found.alone), sorted(found.disturbed))
