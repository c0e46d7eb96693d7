"""The timeout that the definition of a run or of a step gives it."""

from collections.abc import Callable

from stretto.engine.flow import Flow
from stretto.engine.policies import timeout_of
from stretto.model.errors import StrettoError
from stretto.model.retry import Number


def shown_timeout(timeout: Number | None, read_at: int | None, flow: Callable[[], Flow]) -> int | None:
    """Milliseconds. None where the definition gives no timeout, because the default is a setting of the
    engine, and before the timeout is read (`read_at`).
    """
    if timeout is None or read_at is None:
        return None
    try:
        return timeout_of(flow(), timeout, read_at)
    except StrettoError:  # the run or the attempt failed because of it
        return None
