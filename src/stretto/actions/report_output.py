"""Take in what an outside job reports for its step."""

from typing import Final
from uuid import uuid4

from stretto.actions.parts.finding import find_attempt, find_run
from stretto.actions.parts.repeat import repeated
from stretto.engine.records import AttemptKey
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.output_data import OutputDataRequest
from stretto.model.wire import encode, to_json
from stretto.params import ParamLimits
from stretto.ports.messages import Letter, Output
from stretto.ports.store import Store

DEFAULT_LIMITS: Final = ParamLimits()


async def report_output(
    store: Store, attempt: AttemptKey, request: OutputDataRequest, *, limits: ParamLimits = DEFAULT_LIMITS
) -> None:
    """Parameters and artifacts wait with the run's owner until the step is done, and are merged then."""
    run = await find_run(store, *attempt.run[:2], str(attempt.run.run_id))
    row = await find_attempt(store, attempt)
    if row.record.status.is_terminal:
        raise WrongState(f"Step attempt {attempt} has ended {row.record.status}: it takes no more output")
    size = len(to_json(encode(request)))
    if size > limits.size:
        raise InvalidRequest(
            f"The output data of step attempt {attempt} has {size:,} bytes, the limit is {limits.size:,}"
        )
    ref = f"{attempt} {request.external_job_id or uuid4()}"
    body = Output(attempt=attempt, params=request.params or {}, artifacts=request.artifacts or {})
    letter = Letter(ref=ref, body=body, to_group=run.group)
    await repeated(lambda: store.send(letter))
