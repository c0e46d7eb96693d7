"""Where the function of a step comes from: it is registered, imported, or written in the step itself."""

import builtins
import importlib
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final

from stretto.model.error_text import text_of_error
from stretto.model.errors import StrettoError
from stretto.model.param import Parameter
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import RESULT, Function, function_of
from stretto.runtimes.python.own_params import ENTRYPOINT, FUNCTION, SCRIPT, value_of
from stretto.runtimes.python.registry import Registry, as_function
from stretto.runtimes.python.threads import Threads

ONE_OF: Final = (
    f"`{FUNCTION}` (the name of a registered function), `{ENTRYPOINT}` (`module:function`) or `{SCRIPT}` "
    f"(lines of Python, of which `{RESULT}` is what the step returns)"
)


class Sources:
    """Finds functions. `modules`: those that may be imported from, with what is inside; None: any."""

    def __init__(self, registry: Registry, threads: Threads, modules: Collection[str] | None) -> None:
        self._registry = registry
        self._threads = threads
        self._modules = modules
        self._imported: dict[str, Function] = {}

    def known(self, params: Mapping[str, Parameter]) -> Function | None:
        """The function of a step, if nothing must be loaded for it. Raises Refused."""
        param = params.get(FUNCTION)
        if param is not None:
            return self._registry.find(str(param.evaluated_result))
        return self._imported.get(str(value_of(params, ENTRYPOINT)))

    async def load(self, params: Mapping[str, Parameter]) -> Function:
        """The function of a step that names none. Imports take their time: in a thread. Raises Refused."""
        entrypoint, script = value_of(params, ENTRYPOINT), value_of(params, SCRIPT)
        if entrypoint is not None:
            outcome = await self._threads.run(lambda: self._import(str(entrypoint)))
            function: Function = outcome.get()
            self._imported[str(entrypoint)] = function
            return function
        if script is None:
            raise Refused(f"a Python step needs {ONE_OF}")
        return of_script(str(script))

    def _import(self, entrypoint: str) -> Function:
        module, _, path = entrypoint.partition(":")
        if not module or not path:
            raise Refused(f"`{entrypoint}` is not `module:function`")
        if self._modules is not None and not any(_is_in(module, each) for each in self._modules):
            allowed = ", ".join(sorted(self._modules)) or "none"
            raise Refused(f"`{module}` may not be imported here; allowed: {allowed}")
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


@lru_cache(maxsize=256)
def of_script(script: str) -> Function:
    """A function that runs lines of Python, with the parameters of the step as variables. Raises Refused."""
    try:
        code = compile(script, "<script>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise Refused(f"the script of the step can not be read: {text_of_error(error)}") from None

    def run(**params: Any) -> Any:
        variables = {"__name__": "__script__", "__builtins__": builtins, **params}
        exec(code, variables)  # noqa: S102 - that is what the step asks for
        return variables.get(RESULT)

    return function_of(run, "script")
