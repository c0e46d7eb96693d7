"""The timeout that a run or an attempt has, or had."""

from collections.abc import Callable

from stretto.engine.flow import Flow
from stretto.engine.policies import timeout_of
from stretto.engine.records import AttemptRecord, RunRecord
from stretto.model.errors import StrettoError
from stretto.model.retry import Number


def shown_timeout(
    timeout: Number | None, record: RunRecord | AttemptRecord, flow: Callable[[], Flow]
) -> int | None:
    """Milliseconds; None before the start. A record that has ended does not keep it: what the definition says
    still holds then, but the default is a setting of the engine, and only that knows it.
    """
    began = record.start_time
    if began is None:
        return None
    if record.timeout_at is not None:
        return record.timeout_at - began
    if timeout is None:
        return None
    try:
        return timeout_of(flow(), timeout, began)
    except StrettoError:  # it ended because of that
        return None
