"""Take in what an outside job reports for its step."""

from typing import Final
from uuid import NAMESPACE_OID, uuid5

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_attempt, find_run
from stretto.actions.parts.messages import send
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.output_data import OutputDataRequest
from stretto.model.wire import encode, to_json
from stretto.params import ParamLimits
from stretto.params.requests import SETTING
from stretto.ports.hints import SILENT, Hints
from stretto.ports.messages import Letter, Output
from stretto.ports.store import Store

DEFAULT_LIMITS: Final = ParamLimits()


async def report_output(
    store: Store,
    caller: Caller,
    attempt: AttemptKey,
    request: OutputDataRequest,
    *,
    limits: ParamLimits = DEFAULT_LIMITS,
    hints: Hints = SILENT,
) -> None:
    """Parameters and artifacts wait with the run's owner until the step is done, and are merged then. Refused
    if it is known here that the step has no work under way; if it ends before the owner has them, they are
    dropped. The same report again counts once.

    A job is told the attempt that it works for when it is launched, and reports under it. Its own id is not
    looked up: that would take an index over the artifacts of all attempts for what the job knows itself.
    """
    await check_access(store, caller, Right.RUN, attempt.run.workflow_id)
    run = await find_run(store, *attempt.run[:2], str(attempt.run.run_id))
    row = await find_attempt(store, attempt)
    check_works(row.record)
    text = to_json(encode(request))
    if len(text) > limits.size:
        raise InvalidRequest(
            f"The output data of step attempt {attempt} has {len(text):,} bytes, "
            f"the limit is {limits.size:,}",
            hint=f"write it elsewhere and report where it is, or raise the setting `{SETTING}`",
        )
    ref = f"{attempt} {uuid5(NAMESPACE_OID, text.decode())}"
    body = Output(attempt=attempt, params=request.params or {}, artifacts=request.artifacts or {})
    await send(store, Letter(ref=ref, body=body, to_group=run.group), hints)


def check_works(record: AttemptRecord) -> None:
    """Refuse output for an attempt whose work has not begun, has ended, or is being ended."""
    where = f"Step attempt {record.key} takes no output"
    if record.status.is_terminal:
        raise WrongState(f"{where}: it has ended {record.status}")
    if record.ending is not None:
        raise WrongState(f"{where}: it is about to end {record.ending}")
    if record.launch is None:
        raise WrongState(f"{where}: it has no work under way, it is {record.status}")
