"""Calls about the steps of a run."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from stretto.actions.reading.lines import AttemptLine
from stretto.actions.reading.nesting import Nested
from stretto.actions.reading.why import WhyStep
from stretto.client.names import LATEST, RunName, place_of, quoted
from stretto.client.retries import Again
from stretto.client.steps import Talk
from stretto.client.talking import QUEUED, Talking
from stretto.model.request import StepRestartRequest
from stretto.model.response import StepActionResponse, StepRestartResponse
from stretto.model.run_config import RunPolicy
from stretto.model.step_instance import StepInstance
from stretto.params.plain import params_of


class StepCalls(Talking):
    """See `conversation`. Actions are on the newest attempt in the newest run of the instance."""

    def step(self, run: RunName, step_id: str, attempt: str | int = LATEST) -> Talk[StepInstance]:
        """One attempt of a step: a number, or the newest."""
        path = f"{place_of(run).path}/steps/{quoted(step_id)}/attempts/{quoted(str(attempt))}"
        return self._get(StepInstance, path)

    def steps(self, run: RunName) -> Talk[list[StepInstance]]:
        """The newest attempt of each step that has one."""
        return self._get(list[StepInstance], f"{place_of(run).path}/steps")

    def attempts(self, run: RunName, step_id: str) -> Talk[list[AttemptLine]]:
        """All attempts of a step: how each ended, and where."""
        path = f"{place_of(run).path}/steps/{quoted(step_id)}/attempts"
        return self._get(list[AttemptLine], path)

    def resolve(self, run: RunName, path: str) -> Talk[Nested]:
        """Where a path such as `load[41].copy` leads: a run, and a step of it with its newest attempt."""
        return self._get(Nested, f"{place_of(run).path}/resolve", path=path)

    def why_step(self, run: RunName, step_id: str) -> Talk[WhyStep]:
        """Why a step of a run is where it is; of the newest run if no other is named."""
        return self._get(WhyStep, f"{place_of(run).path}/steps/{quoted(step_id)}/why")

    def skip(self, run: RunName, step_id: str, *, reason: str = "") -> Talk[StepActionResponse]:
        """Skip a step; what follows it goes on."""
        return self._act_once(StepActionResponse, f"{_path(run, step_id)}/actions/skip", reason)

    def stop_step(self, run: RunName, step_id: str, *, reason: str = "") -> Talk[StepActionResponse]:
        """Stop a step."""
        return self._act_once(StepActionResponse, f"{_path(run, step_id)}/actions/stop", reason)

    def kill_step(self, run: RunName, step_id: str, *, reason: str = "") -> Talk[StepActionResponse]:
        """Kill a step."""
        return self._act_once(StepActionResponse, f"{_path(run, step_id)}/actions/kill", reason)

    def restart_step(
        self,
        run: RunName,
        step_id: str,
        *,
        policy: RunPolicy = RunPolicy.RESTART_FROM_INCOMPLETE,
        params: Mapping[str, Any] | None = None,
        run_params: Mapping[str, Any] | None = None,
        reason: str = "",
        request_id: str | None = None,
    ) -> Talk[StepRestartResponse]:
        """Start a new attempt of a step, or a new run that begins there; the policy is of what follows.

        `params` are the step's. `run_params` are those of the new run; refused while the run goes on.
        """
        request = StepRestartRequest(
            restart_policy=policy,
            step_run_params=params_of(params),
            run_params=params_of(run_params),
            request_id=request_id or str(uuid4()),
        )
        path = f"{_path(run, step_id)}/actions/restart"
        return self._act(
            StepRestartResponse, path, request, again=Again.SAFE, reason=reason or None, include=QUEUED
        )


def _path(run: RunName, step_id: str) -> str:
    return f"{place_of(run).instance_path}/steps/{quoted(step_id)}"
