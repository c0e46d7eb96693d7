"""Calls about runs: list, read, end, hold, restart, explain."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import uuid4

from stretto.actions.reading.lines import RunLine
from stretto.actions.reading.why import WhyRun
from stretto.actions.reading.why_workflow import WhyWorkflow
from stretto.client.names import RunName, place_of, quoted
from stretto.client.retries import Again
from stretto.client.steps import Talk
from stretto.client.talking import API, QUEUED, Ask, Talking
from stretto.model.instance import WorkflowInstance
from stretto.model.page import Page
from stretto.model.request import InstanceRestartRequest
from stretto.model.response import InstanceActionResponse, StartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.params.plain import params_of, step_params_of

SOME: Final = 50  # of a list


class RunCalls(Talking):
    """See `conversation`."""

    def run(self, run: RunName, *, enriched: bool = True) -> Talk[WorkflowInstance]:
        """A run with everything around it; not `enriched`: without what has to be put together."""
        return self._get(WorkflowInstance, place_of(run).path, enriched=enriched)

    def runs(  # noqa: PLR0913 - one for each filter
        self,
        *,
        workflow: str | None = None,
        status: Iterable[RunStatus | str] | RunStatus | str = (),
        owner: str | None = None,
        tag: str | None = None,
        since: int | None = None,
        until: int | None = None,
        roots: bool = False,
        first: int = SOME,
        cursor: str | None = None,
    ) -> Talk[Page[RunLine]]:
        """Runs of all workflows, newest first. `since` and `until` are of creation, in milliseconds; `roots`:
        none that a step has started; `cursor`: the `end_cursor` of the page before.
        """
        statuses = [status] if isinstance(status, str) else status
        return self._get(
            Page[RunLine],
            "/instances",
            workflow=workflow,
            status=",".join(map(str, statuses)) or None,
            owner=owner,
            tag=tag,
            since=since,
            until=until,
            roots=roots,
            first=first,
            cursor=cursor,
        )

    def stop(self, run: RunName, *, reason: str = "") -> Talk[InstanceActionResponse]:
        """Stop a run, which must be the newest of its instance. It ends a little later. The reason stands on
        its timeline.
        """
        return self._to_run(run, "stop", reason)

    def kill(self, run: RunName, *, reason: str = "") -> Talk[InstanceActionResponse]:
        """As `stop`, but the run fails, whatever the failure modes of its steps say."""
        return self._to_run(run, "kill", reason)

    def unblock(self, run: RunName, *, reason: str = "") -> Talk[InstanceActionResponse]:
        """Let the failure of a run block nobody."""
        return self._to_run(run, "unblock", reason)

    def quarantine(self, *, first: int = SOME, cursor: str | None = None) -> Talk[Page[RunLine]]:
        """Runs that were set aside because nodes died while they handled them, by id."""
        return self._get(Page[RunLine], "/quarantine", first=first, cursor=cursor)

    def release(self, run: RunName) -> Talk[None]:
        """Let a run go on that was set aside; without a number, the newest of its instance."""
        place = place_of(run)
        if place.run_id is None:
            found = yield from self.run(run, enriched=False)
            place = place._replace(run_id=found.workflow_run_id)
        ask = Ask[object](request=self._request("POST", f"{API}{place.path}/actions/release"), reads=object)
        self._answer(ask, (yield from self._reply(ask)))  # which is empty

    def pause(self, run: RunName) -> Talk[InstanceActionResponse]:
        """Let nothing new begin in the newest run of an instance; what runs goes on to its end."""
        return self._act(InstanceActionResponse, f"{place_of(run).instance_path}/actions/pause")

    def resume(self, run: RunName) -> Talk[InstanceActionResponse]:
        """Let a paused run go on."""
        return self._act(InstanceActionResponse, f"{place_of(run).instance_path}/actions/resume")

    def restart(
        self,
        run: RunName,
        *,
        policy: RunPolicy = RunPolicy.RESTART_FROM_INCOMPLETE,
        params: Mapping[str, Any] | None = None,
        step_params: Mapping[str, Mapping[str, Any]] | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> Talk[StartResponse]:
        """Start a new run of an instance: of what is not complete, or from the beginning. `step_params`:
        parameters of single steps, by step id.
        """
        request = InstanceRestartRequest(
            restart_policy=policy,
            run_params=params_of(params),
            step_run_params=step_params_of(step_params),
            request_id=request_id or str(uuid4()),
        )
        path = f"{place_of(run).instance_path}/actions/restart"
        return self._act(
            StartResponse, path, request, again=Again.SAFE, reason=reason or None, include=QUEUED
        )

    def why_workflow(self, workflow_id: str) -> Talk[WhyWorkflow]:
        """What starts a workflow by itself, and what went wrong with its triggers lately."""
        return self._get(WhyWorkflow, f"/workflows/{quoted(workflow_id)}/why")

    def why(self, run: RunName) -> Talk[WhyRun]:
        """Why a run has not ended, or how it did; the newest of an instance if no other is named."""
        return self._get(WhyRun, f"{place_of(run).path}/why")

    def _to_run(self, run: RunName, action: str, reason: str) -> Talk[InstanceActionResponse]:
        path = f"{place_of(run).acting_path}/actions/{action}"
        return self._act_once(InstanceActionResponse, path, reason)
