"""What a function returned, as the result of its step."""

from collections.abc import Callable
from typing import Any, Final

from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.model.param import RESULT, Parameter
from stretto.model.wire import loads
from stretto.params import ParamError, merge_outputs
from stretto.params.requests import DEFAULT_LIMITS, SETTING, ParamLimits
from stretto.ports.runtime import Done
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.errors import TooLarge
from stretto.runtimes.python.failures import ARTIFACT
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.kinds import kind_of_param
from stretto.runtimes.python.plain import Unserialisable
from stretto.runtimes.python.values import encode, json_text

MOST_BYTES: Final = DEFAULT_LIMITS.size  # of all parameters of a step
SURELY_SMALL: Final = 64 * 1024
TOO_LARGE: Final = (
    "the result of `{}` is too large, with {:,} bytes. {}: write it to a file or a table, "
    "and return where it is"
)


class Returning:
    """Makes results; raises Unserialisable or TooLarge for what can not be one."""

    def __init__(self, now: Callable[[], int], most_bytes: int = MOST_BYTES) -> None:
        self._now = now
        self._most = most_bytes

    def done(self, function: Function, told: Told, value: Any, backstage: Backstage | None) -> Done:
        outputs: dict[str, Parameter] = {}
        artifacts: Artifacts = {}
        definition = (told.step.params or {}).get(RESULT)
        if value is None and (function.kind is None or definition is None):
            pass  # it has nothing to say
        elif definition is None:
            artifacts = {ARTIFACT: DefaultArtifact(data={RESULT: self._plain(function, value)})}
        else:
            kind = kind_of_param(definition)
            encoded = self._encoded(function, lambda: encode(value, kind, RESULT))
            now = self._now()
            outputs = {RESULT: Parameter(type=kind.type, evaluated_result=encoded, evaluated_time=now)}
            self._check_size(function, told, outputs, now)
        if backstage is None:
            return Done(outputs=outputs, artifacts=artifacts)
        return Done(
            outputs=outputs,
            artifacts=artifacts,
            added=backstage.substeps.all(),
            tolerance=function.options.tolerance,
            redirect=backstage.redirect,
        )

    def _plain(self, function: Function, value: Any) -> Any:
        """For steps that declare no result: it is kept beside the parameters."""
        text: str = self._encoded(function, lambda: json_text(value, RESULT))
        if len(text) > self._most:
            reason = f"It may have [{self._most}] (setting `{SETTING}`)"
            raise TooLarge(TOO_LARGE.format(function.name, len(text), reason))
        return loads(text)

    def _encoded(self, function: Function, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except Unserialisable as error:
            raise Unserialisable(f"what `{function.name}` returned can not be stored: {error}") from None

    def _check_size(self, function: Function, told: Told, outputs: dict[str, Parameter], now: int) -> None:
        """The engine checks it once more; here one can say which function it was, and what to do."""
        size = size_of(outputs[RESULT].evaluated_result)
        if size < SURELY_SMALL:
            return
        try:
            merge_outputs({**told.params}, outputs, now, ParamLimits(size=self._most))
        except ParamError as error:
            raise TooLarge(TOO_LARGE.format(function.name, size, error.message)) from None


def size_of(value: Any) -> int:
    """About how long a value is as JSON."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, tuple):
        return sum(map(size_of, value)) + len(value)
    if isinstance(value, dict):
        return sum(len(key) + size_of(each) for key, each in value.items())
    return 8
