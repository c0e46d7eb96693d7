"""What an outside job reports for its step."""

from typing import Final

from stretto.actions.report_output import report_output
from stretto.api.routing import Calling, Given, puts
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.output_data import OutputDataRequest


@puts("/output-data", reads=OutputDataRequest, user=False)
async def report(call: Calling, given: Given[OutputDataRequest]) -> None:
    """Parameters and artifacts for a step attempt that is at work; they are merged when it is done."""
    attempt = attempt_of(given)
    await report_output(call.store, call.reader, attempt, given, limits=call.desk.params, hints=call.hints)


def attempt_of(given: OutputDataRequest) -> AttemptKey:
    """The attempt that a job works for, as it was told when it was launched."""
    workflow_id, step_id = given.workflow_id, given.step_id
    instance_id, run_id = given.workflow_instance_id, given.workflow_run_id
    attempt = given.step_attempt_id
    if workflow_id is None or instance_id is None or run_id is None or step_id is None or attempt is None:
        raise InvalidRequest(
            "Output data must name the step attempt that it belongs to",
            hint="workflow_id, workflow_instance_id, workflow_run_id, step_id and step_attempt_id",
        )
    return AttemptKey(RunKey(workflow_id, instance_id, run_id), step_id, attempt)


ROUTES: Final = (report,)
