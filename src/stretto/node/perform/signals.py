"""Signals of steps: those that are there already are looked for, and those of a step are announced."""

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from stretto.actions.parts.naming import check_label
from stretto.engine.effects import AnnounceSignals, WatchSignals
from stretto.engine.events import Faulted, SignalCame, SignalsAnnounced
from stretto.engine.records import AttemptKey
from stretto.model.errors import InvalidRequest
from stretto.model.signal_instance import SignalInstance, SignalSource
from stretto.model.trigger import SignalParamValue
from stretto.model.wire import encode
from stretto.ports.hints import Hints
from stretto.ports.places import group_of_signal
from stretto.ports.signals import Fits, NewSignal
from stretto.ports.store import Store
from stretto.triggers import satisfies


class Signals:
    """What a step hears, and what it says."""

    def __init__(self, store: Store, hints: Hints) -> None:
        self._store = store
        self._hints = hints

    async def look(self, effect: WatchSignals) -> tuple[SignalCame, ...]:
        """The oldest announcement that fits, for each dependency that has none. The wait is stored already:
        what is announced from now on is brought by its fan-out.
        """
        came: list[SignalCame] = []
        for index, wanted in enumerate(effect.dependencies.dependencies):
            if not wanted.status.is_done:
                found = await self._store.first_signal(wanted.name, _fits(wanted.match_params))
                if found is not None:
                    came.append(SignalCame(attempt=effect.attempt, index=index, signal_id=found.seq_id))
        return tuple(came)

    async def announce(self, effect: AnnounceSignals) -> tuple[SignalsAnnounced | Faulted, ...]:
        """All signals of an attempt, each once, however often they are announced. A name that an expression
        made may be none: then the step announces nothing, and fails.
        """
        attempt = effect.attempt
        try:
            for output in effect.outputs:
                check_label(output["name"], "a signal's name")
        except InvalidRequest as error:
            return (Faulted(attempt=attempt, message=f"its signals are not announced: {error.message}"),)
        now = await self._store.now()
        for number, output in enumerate(effect.outputs):
            await self._store.announce(_signal(attempt, number, output, now))
        self._hints.hint({group_of_signal(output["name"]) for output in effect.outputs})
        return (SignalsAnnounced(attempt=attempt),)


def _fits(wanted: Mapping[str, SignalParamValue] | None) -> Fits:
    def fits(signal: SignalInstance) -> bool:
        return satisfies(signal.params, wanted)

    return fits


def _signal(attempt: AttemptKey, number: int, output: Mapping[str, Any], now: int) -> NewSignal:
    """An output as it is announced; its payload says where it came from."""
    source = SignalSource(
        workflow_id=attempt.run.workflow_id,
        workflow_instance_id=attempt.run.instance_id,
        workflow_run_id=attempt.run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
    )
    return NewSignal(
        name=output["name"],
        instance_id=str(uuid5(NAMESPACE_OID, f"{attempt}:{number}")),
        params=output["params"],
        payload={**output["payload"], "signal_source": encode(source)},
        request_time=now,
    )
