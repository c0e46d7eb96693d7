"""Where the function of a step comes from: it is registered, imported, or written in the step itself.

What is registered runs as it says. What a step only names, or holds, runs as the engine says; what runs in
a process is not even imported here.
"""

import builtins
import importlib
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final

from stretto.model.error_text import text_of_error
from stretto.model.errors import StrettoError
from stretto.model.param import RESULT, Parameter
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import ISOLATIONS, Function, Isolation, function_of
from stretto.runtimes.python.own_params import ENTRYPOINT, FUNCTION, ISOLATION, SCRIPT, value_of
from stretto.runtimes.python.registry import Registry, as_function
from stretto.runtimes.python.threads import Threads

ONE_OF: Final = (
    f"`{FUNCTION}` (the name of a registered function), `{ENTRYPOINT}` (`module:function`) or `{SCRIPT}` "
    f"(lines of Python, of which `{RESULT}` is what the step returns)"
)


class Sources:
    """Finds functions. `modules`: those that may be imported from, with what is inside; None: any."""

    def __init__(
        self,
        registry: Registry,
        threads: Threads,
        modules: Collection[str] | None,
        isolation: Isolation = "thread",
    ) -> None:
        self._registry = registry
        self._threads = threads
        self._modules = modules
        self._isolation = isolation
        self._imported: dict[str, Function] = {}

    def known(self, params: Mapping[str, Parameter]) -> Function | None:
        """The function of a step, if nothing must be loaded for it. Raises Refused."""
        param = params.get(FUNCTION)
        if param is not None:
            return self._registry.find(str(param.evaluated_result))
        if ISOLATION in params:
            return None
        return self._imported.get(str(value_of(params, ENTRYPOINT)))

    async def load(self, params: Mapping[str, Parameter]) -> Function:
        """The function of a step that names none. Imports take their time: in a thread. Raises Refused."""
        entrypoint, script = value_of(params, ENTRYPOINT), value_of(params, SCRIPT)
        isolation = value_of(params, ISOLATION) or self._isolation
        if isolation not in ISOLATIONS:
            raise Refused(
                f"`{ISOLATION}` of a Python step is one of {', '.join(ISOLATIONS)}, not `{isolation}`"
            )
        if script is not None:
            return of_script(str(script), isolation)
        if entrypoint is None:
            raise Refused(f"a Python step needs {ONE_OF}")
        module, path = self._allowed(str(entrypoint))
        if isolation == "process":
            return elsewhere(str(entrypoint))
        outcome = await self._threads.run(lambda: _import(module, path, str(entrypoint)))
        function: Function = outcome.get()
        if isolation == self._isolation:
            self._imported[str(entrypoint)] = function
        return function

    def _allowed(self, entrypoint: str) -> tuple[str, str]:
        module, _, path = entrypoint.partition(":")
        if not module or not path:
            raise Refused(f"`{entrypoint}` is not `module:function`")
        if self._modules is not None and not any(_is_in(module, each) for each in self._modules):
            allowed = ", ".join(sorted(self._modules)) or "none"
            raise Refused(f"`{module}` may not be imported here; allowed: {allowed}")
        return module, path


def _import(module: str, path: str, entrypoint: str) -> Function:
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:  # a module may do anything, `exit()` included
        raise Refused(f"`{entrypoint}` can not be imported: {text_of_error(error)}") from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise Refused(f"`{entrypoint}` can not be imported: there is no `{name}` in {module}")
        found = getattr(found, name)
    try:
        return as_function(found)
    except StrettoError as error:
        raise Refused(f"`{entrypoint}` can not be called: {error}") from None


def _is_in(module: str, allowed: str) -> bool:
    return module == allowed or module.startswith(f"{allowed}.")


@lru_cache(maxsize=1024)
def elsewhere(entrypoint: str) -> Function:
    """A function that only a worker imports. It gets all parameters, and takes those that it knows."""

    def run(ctx: StepContext, **params: Any) -> Any:
        raise NotImplementedError(f"`{entrypoint}` is called in a worker")  # pragma: no cover

    return function_of(run, entrypoint, isolation="process")


@lru_cache(maxsize=256)
def of_script(script: str, isolation: Isolation = "thread") -> Function:
    """A function that runs lines of Python, with the parameters of the step as variables. Raises Refused."""
    try:
        code = compile(script, "<script>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise Refused(f"the script of the step can not be read: {text_of_error(error)}") from None

    def run(ctx: StepContext, **params: Any) -> Any:
        variables = {"__name__": "__script__", "__builtins__": builtins, **params, "ctx": ctx}
        exec(code, variables)  # noqa: S102 - that is what the step asks for
        return variables.get(RESULT)

    return function_of(run, SCRIPT, isolation=isolation)
