"""Signals of steps: those that are there already are looked for, and those of a step are announced."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.actions.parts.naming import check_label
from stretto.engine.effects import AnnounceSignals, WatchSignals
from stretto.engine.events import Faulted, SignalCame, SignalsAnnounced
from stretto.model.errors import InvalidRequest
from stretto.model.signal_instance import SignalInstance, SignalOutput, SignalSource
from stretto.model.trigger import SignalParamValue
from stretto.model.wire import encode
from stretto.ports.hints import Hints
from stretto.ports.places import group_of_signal
from stretto.ports.signals import Fits, NewSignal, instance_id_of
from stretto.ports.store import Store
from stretto.triggers import satisfies

SOURCE: Final = "signal_source"  # in the payload of a signal that a step announced
DUPLICATE: Final = -1  # the id of an output that announced nothing


class Signals:
    """What a step hears, and what it says."""

    def __init__(self, store: Store, hints: Hints) -> None:
        self._store = store
        self._hints = hints

    async def find(self, effect: WatchSignals) -> tuple[SignalCame, ...]:
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
        """Announce all signals of an attempt. An output with the name and parameters of a stored signal is a
        duplicate and announces nothing, unless this attempt stored that signal itself, before a crash. A name
        that an expression made may be invalid: then the step announces nothing, and fails.
        """
        attempt = effect.attempt
        source = _source(effect)
        try:
            for output in effect.outputs:
                check_label(output["name"], "a signal's name")
        except InvalidRequest as error:
            return (Faulted(attempt=attempt, message=f"its signals are not announced: {error.message}"),)
        now = await self._store.now()
        made: list[SignalOutput] = []
        seen: set[str] = set()
        for output in effect.outputs:
            payload = {**(output["payload"] if effect.carries_payload else {}), SOURCE: source}
            instance_id = instance_id_of(output["name"], output["params"])
            signal = NewSignal(
                name=output["name"],
                instance_id=instance_id,
                params=output["params"],
                payload=payload,
                request_time=now,
            )
            done = await self._store.announce(signal)
            own = not done.duplicate or (done.signal.payload or {}).get(SOURCE) == source
            made.append(_output(output, done.signal if own and instance_id not in seen else None))
            seen.add(instance_id)
        self._hints.hint({group_of_signal(output["name"]) for output in effect.outputs})
        return (SignalsAnnounced(attempt=attempt, outputs=tuple(made)),)


def _fits(wanted: Mapping[str, SignalParamValue] | None) -> Fits:
    def fits(signal: SignalInstance) -> bool:
        return satisfies(signal.params, wanted)

    return fits


def _source(effect: AnnounceSignals) -> dict[str, Any]:
    """Where the signals of an attempt come from, as their payload says it."""
    attempt = effect.attempt
    source = SignalSource(
        workflow_id=attempt.run.workflow_id,
        workflow_instance_id=attempt.run.instance_id,
        workflow_run_id=attempt.run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        step_instance_id=effect.step_instance_id,
    )
    found: dict[str, Any] = encode(source)
    return found


def _output(output: Mapping[str, Any], signal: SignalInstance | None) -> SignalOutput:
    """What became of an output; without a signal of its own it is a duplicate."""
    return SignalOutput(
        name=output["name"],
        params=output["params"],
        payload=output["payload"],
        signal_id=DUPLICATE if signal is None else signal.seq_id,
        announce_time=None if signal is None else signal.create_time,
    )
