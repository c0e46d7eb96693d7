"""Asking the owner of a run: a message, and the wait for what becomes of it."""

from collections.abc import Collection
from typing import Final
from uuid import uuid4

import msgspec

from stretto.actions.parts.repeat import repeated
from stretto.engine.events import RunActed, StepActed
from stretto.model.errors import TimedOut, WrongState
from stretto.ports.clock import Clock
from stretto.ports.hints import SILENT, Hints
from stretto.ports.messages import Act, Letter, Outcome
from stretto.ports.places import group_of_run
from stretto.ports.rows import NodeId
from stretto.ports.store import Store

LOOK_EVERY: Final = 50  # milliseconds between two looks at the outcome


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a caller waits for the owner's answer. Without it a request is sent, and that is all."""

    clock: Clock
    millis: int = 5_000


def act_on(
    group: int, event: RunActed | StepActed, ref: str | None = None, node: NodeId | None = None
) -> Letter:
    """A request to the owner of a group. Its ref is its own: sent again, it is still the same one.

    With `node` it counts only as long as that one looks after the run, and goes when the node goes.
    """
    act = Act(run=event) if isinstance(event, RunActed) else Act(step=event)
    return Letter(ref=ref or str(uuid4()), body=act, to_group=group if node is None else None, to_node=node)


async def send(store: Store, letter: Letter, hints: Hints) -> int:
    """T7: a message to a group, whose owner is told to look. Returns its id."""
    message_id = await repeated(lambda: store.send(letter))
    hints.hint(told_by(letter))
    return message_id


def told_by(letter: Letter) -> Collection[int]:
    """The groups whose owner has something to look for."""
    body = letter.body
    if letter.to_node is not None and isinstance(body, Act) and body.run is not None:
        return (group_of_run(body.run.run),)
    return () if letter.to_group is None else (letter.to_group,)


async def ask_owner(
    store: Store,
    letter: Letter,
    patience: Patience | None,
    *,
    lasting: bool = False,
    hints: Hints = SILENT,
) -> Outcome | None:
    """Send a request and wait for its outcome; None without patience. A refusal is raised.

    Who has lost patience takes the request back, unless it is `lasting`: an end that was asked for comes
    even if nobody waits for it.
    """
    message_id = await send(store, letter, hints)
    if patience is None:
        return None
    clock = patience.clock
    end = clock.steady() + patience.millis / 1_000
    while (outcome := await store.outcome(message_id)) is None:
        left = round((end - clock.steady()) * 1_000)
        if left <= 0:
            if not lasting:
                await store.withdraw(message_id)
            raise TimedOut(f"Request [{letter.ref}] was not carried out within {patience.millis} ms")
        await clock.sleep_until(clock.now() + min(left, LOOK_EVERY))
    await store.withdraw(message_id)
    if not outcome.applied:
        raise WrongState(outcome.message or f"Request [{letter.ref}] was refused")
    return outcome
