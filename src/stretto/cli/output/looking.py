"""Whose output a user wants to see, and whether more may come."""

from typing import NamedTuple

from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_attempt
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.nesting import resolve_path
from stretto.cli.address import LATEST, Address, run_text
from stretto.cli.database import caller
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import NotFound
from stretto.model.status import StepStatus
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


class Look(NamedTuple):
    """Attempts whose output is to be shown, those that have ended among them."""

    attempts: list[AttemptKey]
    running: frozenset[AttemptKey]
    ended: frozenset[AttemptKey]
    is_over: bool  # no other attempt will come


class Looker:
    """Looks for them, again and again. `name` is how a user writes the place."""

    def __init__(
        self, store: Store, name: str, run: RunKey, step_id: str | None, attempt: int | None
    ) -> None:
        self._store = store
        self._run = run
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

    async def look(self) -> Look:
        run = await self._store.run(self._run)  # first: what has ended when it has ended is seen
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
            states = await self._store.step_states([self._run])
            return {each.key: each.status for each in states.get(self._run, ())}
        if self._attempt is not None:
            row = await find_attempt(self._store, AttemptKey(self._run, self._step_id, self._attempt))
            return {row.key: row.record.status}
        rows = await self._store.attempts(self._run, self._step_id)
        if rows and not self._first:
            self._first = rows[-1].key.number
        return {row.key: row.record.status for row in rows if row.key.number >= self._first}

    async def width(self) -> int | None:
        """Of the longest name of a step, if there are several to be told apart."""
        run = None if self.has_step else await self._store.run(self._run)
        if run is None:
            return None
        return max((len(step.id) for step in (await definition_of(self._store, run)).steps), default=0)

    def missing(self) -> NotFound:
        """There is no such step, or it has not begun."""
        return NotFound(f"Cannot find a step attempt {self._run}[{self._step_id}]")


async def looker_of(store: Store, row: RunRow, address: Address) -> Looker:
    """For the place that an address names; what is not there is refused."""
    await check_access(store, caller(), Right.VIEW, row.key.workflow_id)
    if address.path is None:
        return Looker(store, run_text(row.key), row.key, None, None)
    found = await resolve_path(store, caller(), *row.key[:2], str(row.key.run_id), address.path)
    run = RunKey(found.workflow_id, found.workflow_instance_id, found.workflow_run_id)
    attempt = None if address.attempt == LATEST else int(address.attempt)
    name = f"{run_text(row.key)}:{address.path}"
    return Looker(store, name, run, found.step_id, attempt)
