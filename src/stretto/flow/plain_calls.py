"""Steps outside of a workflow that is traced: plain calls of plain functions."""

import asyncio
from contextvars import ContextVar
from typing import Any, Final

from stretto.flow.errors import TraceError
from stretto.runtimes.python.function import Function

IN_A_WORKFLOW: Final[ContextVar[bool]] = ContextVar("in a plain workflow", default=False)


def call(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call it. Inside of a workflow that is called plainly, coroutines are carried through."""
    answer = function.call(*args, **kwargs)
    if not function.is_async or not IN_A_WORKFLOW.get():
        return answer
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    answer.close()
    raise TraceError(
        f"`{function.qualname}` is async, and a workflow that is called plainly can not wait for it here",
        "run the workflow with an engine: `await engine.run(...)`",
    )
