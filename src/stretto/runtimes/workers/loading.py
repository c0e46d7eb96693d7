"""Where a worker finds the functions that it is to call."""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, Final

from stretto.model.error_text import text_of_error
from stretto.model.errors import NotFound, StrettoError
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.registry import as_function
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.source import MAIN_OF_WORKER
from stretto.runtimes.python.sources import of_script
from stretto.runtimes.workers.messages import Target

OUT_OF_REACH: Final = (
    "services of the engine are out of reach of its worker processes: name a factory for it, "
    '`module:function`, in the `services` of the workers, or use isolation="thread"'
)


def load(target: Target) -> Function:
    """The function that is meant. Raises Refused, whatever happens at the import."""
    if target.script is not None:
        return of_script(target.script)
    try:
        module = importlib.import_module(target.module) if target.main is None else _main(target.main)
    except ModuleNotFoundError as error:
        raise Refused(
            f"`{target}` can not be imported: there is no module `{error.name}` where the workers run"
        ) from error
    except BaseException as error:  # a module may do anything, `exit()` included
        raise Refused(f"`{target}` can not be imported: {text_of_error(error)}") from error
    try:
        return as_function(_inside(module, target.qualname, str(target)))
    except StrettoError as error:
        raise Refused(f"`{target}` can not be called: {error}") from None


def _inside(module: Any, path: str, what: str) -> Any:
    found = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise Refused(f"`{what}` can not be found: there is no `{name}` in it")
        found = getattr(found, name)
    return found


def _main(path: str) -> ModuleType:
    """The main file of the program as a module, as `multiprocessing` does it."""
    known = sys.modules.get(MAIN_OF_WORKER)
    if known is not None and getattr(known, "__file__", None) == path:
        return known
    spec = importlib.util.spec_from_file_location(
        MAIN_OF_WORKER, path, loader=SourceFileLoader(MAIN_OF_WORKER, path)
    )
    assert spec is not None  # noqa: S101 - its loader is known
    module = importlib.util.module_from_spec(spec)
    before = sys.modules["__main__"]
    sys.modules["__main__"] = sys.modules[MAIN_OF_WORKER] = module
    try:
        SourceFileLoader(MAIN_OF_WORKER, path).exec_module(module)
    except BaseException:
        sys.modules["__main__"] = sys.modules[MAIN_OF_WORKER] = before
        raise
    return module


class WorkerServices(Services):
    """Services that a worker makes for itself, when the first of them is asked for."""

    def __init__(self, factories: Mapping[str, str]) -> None:
        super().__init__()
        self._factories = dict(factories)

    def get(self, key: Any) -> Any:
        """Raises NotFound, and InvalidRequest for a factory that fails."""
        while self._factories:
            name, factory = next(iter(self._factories.items()))
            self.add(_made(name, factory), name=name)
            del self._factories[name]
        try:
            return super().get(key)
        except NotFound as error:
            raise NotFound(f"{error}; {OUT_OF_REACH}") from None


def _made(name: str, factory: str) -> Any:
    module, _, path = factory.partition(":")
    try:
        return _inside(importlib.import_module(module), path, factory)()
    except Exception as error:
        raise NotFound(
            f"the service `{name}` can not be made by `{factory}`: {text_of_error(error)}"
        ) from error
