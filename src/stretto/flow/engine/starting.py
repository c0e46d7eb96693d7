"""What an engine does first: functions are compared with what is stored of them, and runs that a graceful
stop has paused go on.
"""

import logging
from collections.abc import Iterable

from stretto.actions.pause import resume
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.flow.engine.finding import function_at
from stretto.flow.engine.host import Host
from stretto.flow.engine.listing import unfinished
from stretto.flow.engine.stopping import PAUSED_BY_STOP
from stretto.model.errors import StrettoError
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent
from stretto.ports.rows import RunRow
from stretto.ports.store import Store
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.registry import Registry

LOG = logging.getLogger(__name__)


async def record_functions(store: Store, functions: Iterable[Function]) -> None:
    """Store what is new; say what has changed since a program with the same name for it ran."""
    for function in functions:
        record = function.record()
        before = next(iter(await store.function_records([record.name])), None)
        if before == record:
            continue
        if before is not None and before.source_hash != record.source_hash:
            LOG.warning(
                "the function `%s` has changed since it was used here last; runs that are under way "
                "go on with the new code",
                record.name,
            )
        await store.put_function(record)


async def find_functions(store: Store, registry: Registry) -> None:
    """Functions that were used here before are found again in the modules that the program has imported, so
    that unfinished runs can go on at once. Nothing is imported for it: what a database says is no reason to.
    """
    missing: list[str] = []
    for record in await store.function_records():
        if registry.get(record.name) is None:
            found = function_at(record.module, record.qualname, record.name)
            if found is None:
                missing.append(record.name)
            else:
                registry.register(found)
    if missing:
        LOG.info(
            "functions that were used here before are not in this program: %s; a step that needs one waits "
            "for a process that knows it",
            ", ".join(missing),
        )


async def resume_paused(host: Host) -> list[RunKey]:
    """Runs that the stop of an engine has paused go on. Those that a user has paused do not."""
    resumed: list[RunKey] = []
    async for row in unfinished(host.store, (RunStatus.PAUSED,)):
        if not paused_by_stop(row):
            continue
        try:
            await resume(host.store, host.caller, *row.key, hints=host.hints)
        except StrettoError as error:  # another process was faster, or the run has ended
            LOG.info("%s was not resumed: %s", run_text(row.key), error)
        else:
            resumed.append(row.key)
    return resumed


def paused_by_stop(row: RunRow) -> bool:
    """Whether the newest word about a pause is that of a stop."""
    for line in reversed(row.record.timeline):
        if isinstance(line, LogEvent):
            if line.message.startswith(PAUSED_BY_STOP):
                return True
            if " asked to pause run " in line.message:
                return False
    return False
