"""Calls about signals, and about the server itself."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

import msgspec

from stretto.client.names import LATEST, quoted
from stretto.client.retries import Again
from stretto.client.steps import Talk
from stretto.client.talking import API, Ask, Talking
from stretto.model.errors import Conflict
from stretto.model.job_template import JobTemplate
from stretto.model.page import Page
from stretto.model.request import SignalRequest
from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import SignalParam

OUT_OF_SERVICE: Final = 503
SOME: Final = 50  # of the newest


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether requests can be served, and why not."""

    status: str
    reason: str | None = None

    @property
    def is_up(self) -> bool:
        return self.status == "UP"


class OtherCalls(Talking):
    """See `conversation`."""

    def job_templates(self, version: str | None = None) -> Talk[list[JobTemplate]]:
        """A version of each job template that has it on the server; without a name the default one."""
        return self._get(list[JobTemplate], "/job-templates", version=version)

    def announce(
        self,
        name: str,
        params: Mapping[str, SignalParam] | None = None,
        *,
        payload: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> Talk[SignalInstance]:
        """Announce a signal; the same `request_id` a second time is a `Conflict`."""
        own_id = request_id or str(uuid4())
        request = SignalRequest(
            name=name,
            params=None if params is None else dict(params),
            request_id=own_id,
            payload={} if payload is None else {"payload": dict(payload)},
        )
        try:
            return (yield from self._act(SignalInstance, "/signals", request, again=Again.SAFE))
        except Conflict:
            found = None if request_id else (yield from self._announced(name, own_id))
            if found is None:
                raise
            return found

    def _announced(self, name: str, own_id: str) -> Talk[SignalInstance | None]:
        """What our own request made, when only its answer was lost."""
        page = yield from self._get(Page[SignalInstance], f"/signals/{quoted(name)}/instances", first=SOME)
        return next((each for each in page.elements if each.instance_id == own_id), None)

    def signal(self, name: str, number: str | int = LATEST) -> Talk[SignalInstance | None]:
        """An announcement by its number, or the newest; None if there is none."""
        path = f"{API}/signals/{quoted(name)}/instances/{quoted(str(number))}"
        ask = Ask[SignalInstance](request=self._request("GET", path), reads=SignalInstance)
        answer = self._answer(ask, (yield from self._reply(ask)))
        found: SignalInstance | None = self._read(ask, answer) if answer.body else None
        return found

    def health(self) -> Talk[Health]:
        """Whether the server can serve requests now; asked once, not until it can."""
        request = self._request("GET", "/ready")
        ask = Ask[Health](
            request=request, reads=Health, again=Again.NEVER, accepts=frozenset({OUT_OF_SERVICE})
        )
        return self._ask(ask)
