"""What the steps inside a foreach left in a parameter, over all its iterations."""

from collections.abc import Mapping, Sequence
from typing import Final

from stretto.engine.outcome import is_undelivered
from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.param import Parameter
from stretto.params import Collected, Undelivered
from stretto.ports.history import NewestInInstance
from stretto.ports.paging import Cut
from stretto.ports.rows import RunGlance
from stretto.ports.run_snapshot import InstancePage, NewestAttempts
from stretto.ports.store import Store

PAGE: Final = 500


async def collected(
    store: Store, run: RunKey, foreach_step: str, number: int, inner: tuple[str, str], page: int = PAGE
) -> Collected | None:
    """The values of a step's parameter (`inner`) by iteration, each of the newest attempt in the newest run
    that has one. `number`: of the foreach's attempt in this run; 0: it was in an earlier one. A loop may have
    more iterations than fit into memory, but hardly more values.
    """
    inline_id = await _inline_id(store, run, foreach_step, number)
    if inline_id is None:
        return None
    found: dict[int, Parameter | Undelivered | None] = {}
    cut = Cut(most=page)
    while True:
        part = await store.glances(InstancePage(inline_id, cut))
        found |= await _of_page(store, part.elements, *inner)
        if not part.after:
            break
        cut = Cut(most=page, below=part.elements[-1].key.instance_id)
    return _together(found)


def _together(found: Mapping[int, Parameter | Undelivered | None]) -> Collected | None:
    """By iteration. Those of steps that ended before their parameters had values leave none."""
    if not found:
        return None
    declared = {
        iteration: each.declared if isinstance(each, Undelivered) else each
        for iteration, each in found.items()
        if each is not None
    }
    return Collected(
        next((param.type for param in declared.values()), None),
        {iteration: param.evaluated_result for iteration, param in declared.items()},
        frozenset(iteration for iteration, each in found.items() if isinstance(each, Undelivered)),
    )


async def _of_page(
    store: Store, iterations: Sequence[RunGlance], step_id: str, name: str
) -> dict[int, Parameter | Undelivered | None]:
    newest = NewestAttempts(tuple(each.key for each in iterations), step_id)
    rows = {row.key.run: row for row in await store.attempts(newest)}
    found: dict[int, Parameter | Undelivered | None] = {}
    for each in iterations:
        param: Parameter | Undelivered | None = None
        if each.key in rows:
            record = rows[each.key].record
            param = _left_in(record, name)
            if record.params is None:
                found[each.key.instance_id] = None
        elif each.key.run_id > 1:  # the step may have been complete before this run of the iteration
            param = await newest_param(store, each.key.workflow_id, each.key.instance_id, step_id, name)
        if param is not None:
            found[each.key.instance_id] = param
    return found


async def newest_param(
    store: Store, workflow_id: str, instance_id: int, step_id: str, name: str
) -> Parameter | Undelivered | None:
    """A parameter of the newest attempt of a step, in the newest run that has one."""
    found = await store.attempts(NewestInInstance(workflow_id, instance_id, step_id))
    return _left_in(found[0].record, name) if found else None


def _left_in(record: AttemptRecord, name: str) -> Parameter | Undelivered | None:
    param = (record.params or {}).get(name)
    return Undelivered(param) if param is not None and is_undelivered(record, name) else param


async def _inline_id(store: Store, run: RunKey, step_id: str, number: int) -> str | None:
    """The id under which the iterations of a step are kept: the same in all runs of an instance."""
    oldest = run.run_id if number else 1
    for run_id in range(run.run_id, oldest - 1, -1):
        for loop in await store.loops(run._replace(run_id=run_id)):
            if loop.key.step_id == step_id:
                return loop.inline_id
    return None
