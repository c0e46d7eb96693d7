"""Whose output a user wants to see, and whether more may come."""

from collections.abc import Collection
from typing import Final, NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.addresses import LATEST
from stretto.actions.parts.finding import find_attempt
from stretto.actions.parts.numbers import number_in
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.nesting import resolve_path
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.run_text import run_text
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import StepStatus
from stretto.ports.history import AttemptsOfStep
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_attempt, read_run
from stretto.ports.store import Store

MOST_ASKED: Final = 1_000  # attempts
SOME: Final = 5  # names in a sentence


class Look(NamedTuple):
    """Attempts whose output is to be shown, those that have ended among them."""

    attempts: list[AttemptKey]
    running: frozenset[AttemptKey]
    ended: frozenset[AttemptKey]
    is_over: bool  # no other attempt will come


class LogTarget:
    """All steps of a run, or the attempts of one. `name` is how a user writes the place."""

    def __init__(
        self, store: Store, name: str, run: RunKey, step_id: str | None, attempt: int | None
    ) -> None:
        self._store = store
        self.run = run
        self._step_id = step_id
        self._attempt = attempt  # None: the newest, and whatever comes after it
        self._first = 0
        self.name = name

    @property
    def has_step(self) -> bool:
        return self._step_id is not None

    def path_to(self, step_id: str) -> str:
        """How a user writes one of the steps."""
        return self.name if self.has_step else f"{self.name}{'.' if ':' in self.name else ':'}{step_id}"

    def begin_at(self, attempt: int) -> None:
        """Start with this attempt of the step, though there are newer ones."""
        self._first = attempt

    async def look(self) -> Look:
        """Which attempts there are now."""
        run = await read_run(self._store, self.run)  # first: what has ended when it has ended is seen
        is_over = run is None or run.record.status.is_terminal
        found = await self._found()
        running = frozenset(key for key, status in found.items() if status is StepStatus.RUNNING)
        ended = frozenset(key for key, status in found.items() if is_over or status.is_terminal)
        if self._step_id is not None and found:
            last = list(found)[-1]
            retried = self._attempt is None and found[last].is_retryable
            is_over = is_over or (last in ended and not retried)
        return Look(list(found), running, ended, is_over)

    async def _found(self) -> dict[AttemptKey, StepStatus]:
        if self._step_id is None:
            states = await self._store.step_states([self.run])
            return {each.key: each.status for each in states.get(self.run, ())}
        if self._attempt is not None:
            row = await find_attempt(self._store, AttemptKey(self.run, self._step_id, self._attempt))
            return {row.key: row.record.status}
        rows = await self._store.attempts(AttemptsOfStep(self.run, self._step_id))
        if rows and not self._first:
            self._first = rows[-1].key.number
        return {row.key: row.record.status for row in rows if row.key.number >= self._first}

    async def width(self) -> int | None:
        """Of the longest name of a step, if there are several to be told apart."""
        run = None if self.has_step else await read_run(self._store, self.run)
        if run is None:
            return None
        return max((len(step.id) for step in (await definition_of(self._store, run)).steps), default=0)

    def missing(self) -> NotFound:
        """There is no such step, or it has not begun."""
        return NotFound(f"Cannot find a step attempt {self.run}[{self._step_id}]")


async def log_target_of(
    store: Store, caller: Caller, row: RunRow, path: str | None, attempt: str
) -> LogTarget:
    """For a run, or the step in it that a path leads to; what is not there is refused."""
    if path is None:
        return await target_in(store, caller, row)
    await check_access(store, caller, Right.VIEW, row.key.workflow_id)
    found = await resolve_path(store, caller, *row.key[:2], str(row.key.run_id), path)
    run = RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id)
    return LogTarget(store, f"{run_text(row.key)}:{path}", run, found.step_id, _number(attempt))


async def target_in(
    store: Store, caller: Caller, row: RunRow, step_id: str | None = None, attempt: str = LATEST
) -> LogTarget:
    """For a run, or a step of its own."""
    await check_access(store, caller, Right.VIEW, row.key.workflow_id)
    name = run_text(row.key) if step_id is None else f"{run_text(row.key)}:{step_id}"
    return LogTarget(store, name, row.key, step_id, _number(attempt))


def _number(attempt: str) -> int | None:
    text = attempt.strip().lower()
    if text == LATEST:
        return None
    number = number_in(text)
    if number is None:
        raise InvalidRequest(f"Invalid attempt [{attempt[:80]}]", hint="write latest or a number")
    return number


async def kept_elsewhere(store: Store, attempts: Collection[AttemptKey], here: str) -> dict[str, list[str]]:
    """Other machines on which some of the attempts ran, as far as that is known, and the steps: a machine
    keeps what it has run. `here`: the name of this machine.
    """
    if not attempts:
        return {}
    hosts = {row.node: host_of(row.address) for row in await store.nodes()}
    away: dict[str, list[str]] = {}
    for key in sorted(attempts)[:MOST_ASKED]:
        row = await read_attempt(store, key)
        host = here if row is None or row.runs_on is None else hosts.get(row.runs_on, here)
        if host not in {here, ""}:
            away.setdefault(host, []).append(key.step_id)
    return away


def elsewhere_text(host: str, steps: list[str]) -> str:
    """`load and check ran on HOST: the output is kept there`."""
    more = len(steps) - SOME
    names = ", ".join(steps[:SOME]) + (f" and {more} more" if more > 0 else "")
    return f"{names} ran on {host}: the output is kept there"


def host_of(address: str | None) -> str:
    """The machine in the address of a node."""
    return (address or "").partition("/")[0]
