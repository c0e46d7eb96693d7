"""By which name a worker can find a function that the engine knows."""

import inspect
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import Function
from stretto.runtimes.workers.messages import Target

MAIN: Final = "__main__"
NOT_FOUND: Final = (
    "`{}` can not be called in a worker process, which finds functions by name: `{}` in {} is not this one. "
    "Move it to the top of a module, as it is"
)
TYPED_IN: Final = (
    "`{}` can not be called in a worker process: it was typed in, and there is no file to import it from"
)
NO_MODULE: Final = (
    "`{}` can not be called in a worker process: its file, {}, starts the program when it is imported. "
    "Move it to another module"
)


@lru_cache(maxsize=1024)
def target_of(function: Function) -> Target:
    """Raises Refused for what has no name that leads to it."""
    plain: Any = inspect.unwrap(function.call)
    module = str(getattr(plain, "__module__", MAIN))
    qualname = function.qualname
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    if not _is(found, function, plain):
        raise Refused(NOT_FOUND.format(function.name, qualname, module))
    return Target(module, qualname) if module != MAIN else _in_main(function)


def _is(found: Any, function: Function, plain: Any) -> bool:
    held = getattr(found, "function", None)
    if isinstance(held, Function):
        return held is function or held.call is function.call
    return callable(found) and (found is function.call or inspect.unwrap(found) is plain)


def _in_main(function: Function) -> Target:
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    path = getattr(main, "__file__", None)
    if spec is not None and spec.name.rpartition(".")[2] != MAIN:  # python -m package.flows
        return Target(spec.name, function.qualname)
    if spec is not None:
        raise Refused(NO_MODULE.format(function.name, path))
    if path is None:
        raise Refused(TYPED_IN.format(function.name))
    return Target(MAIN, function.qualname, main=str(Path(path).resolve()))
