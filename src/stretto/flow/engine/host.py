"""What runs share with the engine that they belong to, while it is open."""

from stretto.actions.caller import Caller
from stretto.actions.parts.evaluation import evaluator_within
from stretto.actions.reading.definitions import definition_of
from stretto.app import App, Connection
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.flow.engine.elsewhere import Elsewhere
from stretto.flow.engine.handlers import Handlers
from stretto.flow.engine.library import Chosen, Library, chosen_of
from stretto.flow.engine.watching import Watch
from stretto.model.errors import Internal, NotFound
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_run


class Host:
    """The open parts of an engine."""

    def __init__(
        self, app: App | Connection, caller: Caller, watch: Watch, library: Library, handlers: Handlers
    ) -> None:
        self.app = app
        self.store = app.store
        self.hints = app.hints
        self.clock = app.clock
        self.caller = caller
        self.watch = watch
        self.library = library
        self.handlers = handlers
        self.elsewhere = Elsewhere(app.store, watch, handlers)
        self.evaluate = evaluator_within(app.config.expressions.limits, app.config.params)
        self.limits = app.config.params
        self.starts = app.starts

    async def row(self, key: RunKey) -> RunRow:
        row = await read_run(self.store, key)
        if row is None:
            raise NotFound(f"there is no run {run_text(key)}: it was deleted, or never made")
        return row

    async def version(self, row: RunRow) -> Chosen:
        """The version that a run follows, or the run around it."""
        workflow_id, version_id = row.root.workflow_id, row.record.version_id
        return chosen_of(await self.library.version(self.store, workflow_id, version_id), version_id)

    async def workflow(self, row: RunRow) -> Workflow:
        """The definition that a run follows; versions never change, so each is read once."""
        if is_inline(row.key.workflow_id):
            return await definition_of(self.store, row)
        return (await self.version(row)).workflow


async def guard(app: App | Connection, watch: Watch) -> None:
    """Nobody waits for a node that has ended by itself."""
    try:
        await app.ended()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told to all who wait
        await watch.end(Internal(f"the node of the engine has failed: {type(error).__name__}: {error}"))
