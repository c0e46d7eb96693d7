"""Steps as a runtime is told of them, without an engine around."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.waiting import PATIENCE

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.param import Parameter, ParamType
from stretto.model.step import TypedStep
from stretto.params.values import kind_of
from stretto.ports.runtime import Launch, StepContext, StepResult

STEP = TypedStep(id="load", type="Shell")


def parameters(values: Mapping[str, Any]) -> dict[str, Parameter]:
    """Evaluated parameters; a map of texts is a STRING_MAP."""
    return {
        name: value if isinstance(value, Parameter) else Parameter(type=_kind(value), evaluated_result=value)
        for name, value in values.items()
    }


def _kind(value: Any) -> ParamType:
    texts = isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    return ParamType.STRING_MAP if texts else kind_of(value)


class Told:
    """A launch, and what its runtime reports by itself."""

    def __init__(self, generation: int = 1, *, step: str = "load", **params: Any) -> None:
        self.said: list[StepResult] = []
        self._ended = asyncio.Event()
        self.ctx = StepContext(
            launch=Launch(AttemptKey(RunKey("etl", 12, 2), step, 1), generation),
            step=STEP,
            params=parameters(params),
            report=self._report,
        )

    async def _report(self, result: StepResult) -> None:
        self.said.append(result)
        self._ended.set()

    async def result(self) -> StepResult:
        async with asyncio.timeout(PATIENCE):
            await self._ended.wait()
        return self.said[0]
