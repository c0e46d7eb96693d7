"""A change of a workflow, and what has to be looked at after it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from stretto.actions.dequeue import dequeue
from stretto.actions.match_triggers import match_new_triggers
from stretto.actions.parts.repeat import repeated
from stretto.ports.hints import Hints
from stretto.ports.places import group_of_workflow
from stretto.ports.store import Store

A = TypeVar("A")


async def changed(store: Store, workflow_id: str, change: Callable[[], Awaitable[A]], hints: Hints) -> A:
    """The answer of a change. Then its triggers look for signals that found nobody listening, and the queue
    for what another strategy allows.
    """
    began = await store.now()
    answer = await repeated(change)
    hints.hint([group_of_workflow(workflow_id)])
    await match_new_triggers(store, workflow_id, began, hints=hints)
    await dequeue(store, workflow_id, hints=hints)
    return answer
