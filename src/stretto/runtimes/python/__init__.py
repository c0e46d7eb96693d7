"""Python functions as the work of steps: what any engine needs to run one.

    registry = Registry(extract, load)
    runtime = PythonRuntime(registry, now=clock.now, services=Services([database]), store=store)

Promise: whatever a function does, its step gets a result, and the engine goes on. Failure: an exception of a
function is a failure of its step; `errors` says which exceptions mean more than that.
"""

from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.errors import Cancelled, Fatal, NotRetryable, PlatformTrouble, Veto
from stretto.runtimes.python.filters import Filter, Listener
from stretto.runtimes.python.function import Function, function_of
from stretto.runtimes.python.pools import Pools, PoolStatus
from stretto.runtimes.python.registry import Registry
from stretto.runtimes.python.roles import INJECTED, Service, service
from stretto.runtimes.python.runtime import PythonRuntime
from stretto.runtimes.python.services import Services

__all__ = [
    "INJECTED",
    "Cancelled",
    "Fatal",
    "Filter",
    "Function",
    "Listener",
    "NotRetryable",
    "PlatformTrouble",
    "PoolStatus",
    "Pools",
    "PythonRuntime",
    "Registry",
    "Service",
    "Services",
    "StepContext",
    "Veto",
    "function_of",
    "service",
]
