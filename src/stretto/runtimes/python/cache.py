"""Results that are kept for a while: a step that asks for the same again need not run."""

import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from stretto.definition.functions import CACHED_AND_UNDONE, REMOVE_ONE
from stretto.model.errors import StrettoError
from stretto.model.step import TypedStep
from stretto.params.values import is_evaluated, to_sel
from stretto.ports.cache import Cache
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import Function, function_of
from stretto.runtimes.python.values import JSON_TEXT, decode, json_text
from stretto.sel import Environment, SelError, evaluate_maestro

log = logging.getLogger(__name__)

TROUBLE: Final = "the result cache can not be used now, so `%s` runs: %s: %s"


class ResultCache:
    """Keeps what functions returned, in the store, as long as they ask for. Trouble with it makes a function
    run once more, and nothing else.
    """

    def __init__(self, store: Cache | None, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now

    def key(self, function: Function, told: Told, values: Mapping[str, Any]) -> str | None:
        """Under which the result of this call is kept; None: it is not. Raises Refused."""
        if self._store is None or function.options.cache_ttl_s is None:
            return None
        if isinstance(told.step, TypedStep) and told.step.compensation is not None:
            raise Refused(f"`{function.name}`: {CACHED_AND_UNDONE}; {REMOVE_ONE}")
        try:
            wanted = self._wanted(function, told, values)
        except StrettoError as error:
            raise Refused(f"the cache key of `{function.name}` can not be made: {error}") from None
        if wanted is None:
            return None
        return hashlib.sha256(f"{function.name}\n{wanted}".encode()).hexdigest()

    async def look(self, key: str, function: Function) -> tuple[Any] | None:
        """What is kept, in a tuple."""
        assert self._store is not None  # noqa: S101 - there would be no key
        try:
            text = await self._store.cached(key, self._now())
            return None if text is None else (decode(text, JSON_TEXT, function.returns, "cached"),)
        except Exception as error:  # noqa: BLE001 - see above; also what was kept by an older version of it
            log.warning(TROUBLE, function.name, type(error).__name__, error, extra={"action": "cache.failed"})
            return None

    async def keep(self, key: str, function: Function, value: Any) -> None:
        assert self._store is not None  # noqa: S101 - as above
        assert function.options.cache_ttl_s is not None  # noqa: S101 - as above
        try:
            until = self._now() + int(function.options.cache_ttl_s * 1_000)
            await self._store.keep(key, json_text(value, "result"), until)
        except Exception as error:  # noqa: BLE001 - as above
            log.warning(TROUBLE, function.name, type(error).__name__, error, extra={"action": "cache.failed"})

    def _wanted(self, function: Function, told: Told, values: Mapping[str, Any]) -> str | None:
        given = function.options.cache_key
        if given is None:
            return f"{function.source_hash}\n{json_text(dict(values), 'arguments', ordered=True)}"
        if isinstance(given, str):
            return json_text(self._evaluated(given, told), "cache_key", ordered=True)
        names = {each.name for each in function_of(given, f"cache key of {function.name}").values}
        found = given(**{name: value for name, value in values.items() if name in names})
        return None if found is None else json_text(found, "cache_key", ordered=True)

    def _evaluated(self, expression: str, told: Told) -> Any:
        known = {
            name: to_sel(param.type, param.evaluated_result)
            for name, param in told.params.items()
            if is_evaluated(param)
        }
        try:
            return evaluate_maestro(expression, known, Environment(now_millis=self._now(), exact=True))
        except SelError as error:
            raise Refused(f"the cache key `{expression}`: {error}") from None
