"""The run that a session looks after: a new one, or one to go on with."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.parts.evaluation import evaluator_within
from stretto.actions.pause import resume
from stretto.actions.publish_if_new import publish_if_new
from stretto.actions.release import release_flow
from stretto.actions.start import start
from stretto.actions.stop import stop
from stretto.cli.address import run_text
from stretto.cli.running.wanted import Wanted
from stretto.config import Config
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.model.initiator import ManualInitiator
from stretto.model.properties import RunStrategyRule
from stretto.model.request import StartRequest
from stretto.model.status import RunStatus
from stretto.model.workflow import Definition
from stretto.ports.hints import Hints
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow
from stretto.runtimes.types import with_installed

UNFINISHED: Final = tuple(status for status in RunStatus if not status.is_terminal)


class Begun(NamedTuple):
    """A run, and what a person should know about how it came to be."""

    key: RunKey
    notes: Sequence[str] = ()


class Beginning:
    """Publishes and starts, or finds, on a store."""

    def __init__(self, store: Store, caller: Caller, hints: Hints, config: Config) -> None:
        self._store = store
        self._caller = caller
        self._hints = hints
        self._config = config
        self._limits = with_installed(config.limits)

    async def anew(self, wanted: Wanted) -> Begun:
        """A new instance of the chosen workflow, of the version that the file holds."""
        notes: list[str] = []
        versions = {each.workflow.id: await self._published(each, notes) for each in wanted.definitions}
        notes += await self._make_room(wanted.workflow_id)
        request = StartRequest(
            initiator=ManualInitiator(),
            run_params=wanted.params or None,
            step_run_params=wanted.step_params or None,
        )
        version = str(versions[wanted.workflow_id])
        params = self._config.params
        made = await start(
            self._store,
            self._caller,
            wanted.workflow_id,
            version,
            request,
            hints=self._hints,
            evaluate=evaluator_within(self._config.expressions.limits, params),
            limits=params,
        )
        key = RunKey(wanted.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        return Begun(key, [*notes, f"{run_text(key)} is {made.detail}"] if made.detail else notes)

    async def again(self, wanted: Wanted) -> Begun:
        """The newest run of the chosen workflow that has not ended."""
        workflow_id = wanted.workflow_id
        row = await self._newest(RunFilter(workflow_id=workflow_id, statuses=UNFINISHED, roots=True))
        if row is None:
            last = await self._newest(RunFilter(workflow_id=workflow_id, roots=True))
            ended = "" if last is None else f"; the newest, {run_text(last.key)}, ended {last.record.status}"
            raise NotFound(
                f"there is no unfinished run of workflow `{workflow_id}` here{ended}",
                hint="leave --resume out to start a new one",
            )
        notes = [f"{run_text(row.key)} goes on; it was {row.record.status}"]
        notes += await self._differs(wanted, row)
        if row.record.status is RunStatus.PAUSED or row.record.paused:
            await resume(self._store, self._caller, *row.key, hints=self._hints)
        for key in await release_flow(self._store, self._caller, row.key, hints=self._hints):
            notes.append(f"{run_text(key)}, set aside because processes died at it, is tried again")
        return Begun(row.key, notes)

    # ------------------------------------------------------------------------------------------------ parts
    async def _published(self, definition: Definition, notes: list[str]) -> int:
        workflow = definition.workflow
        if workflow.time_triggers or workflow.signal_triggers:
            notes.append(f"the triggers of `{workflow.id}` are not switched on: this runs it once")
        return await publish_if_new(
            self._store, self._caller, definition, limits=self._limits, hints=self._hints
        )

    async def _make_room(self, workflow_id: str) -> list[str]:
        """A run that this user interrupted, and does not go on with, would keep the new one waiting."""
        row = await read_workflow(self._store, workflow_id)
        if row is None or row.strategy.rule is RunStrategyRule.PARALLEL:
            return []
        wanted = RunFilter(workflow_id=workflow_id, statuses=(RunStatus.PAUSED,), roots=True)
        page = await self._store.runs(FilteredRuns(wanted, Cut()))
        mine = ManualInitiator(user=self._caller.user)
        own = [each.key for each in page.elements if each.record.initiator == mine]
        for key in own:
            await stop(self._store, self._caller, *key, hints=self._hints)
        return [f"{run_text(key)}, interrupted before, is stopped; --resume goes on instead" for key in own]

    async def _differs(self, wanted: Wanted, row: RunRow) -> list[str]:
        found = await self._store.version(wanted.workflow_id, row.record.version_id)
        if found is None or found.workflow == wanted.chosen.workflow:
            return []
        return [f"the file has changed; {run_text(row.key)} goes on with version {row.record.version_id}"]

    async def _newest(self, wanted: RunFilter) -> RunRow | None:
        page = await self._store.runs(FilteredRuns(wanted, Cut(most=1)))
        return page.elements[0] if page.elements else None
