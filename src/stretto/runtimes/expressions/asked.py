"""Parameters of runs that a server is asked for: short expressions at once, long ones in another process.

Everybody else waits while an expression is evaluated here, so it gets what one may have inside a decision. A
trial has a smaller budget of its own, and is always evaluated here. So are all parameters of a run, unless
the settings allow them more together than one expression may have in a decision.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from stretto.actions.parts.evaluation import RunQuestion, answer_to, within_budget
from stretto.engine.context import too_long
from stretto.engine.elsewhere import Question
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.param import Parameter
from stretto.params import ParamError
from stretto.params.errors import Fault
from stretto.ports.evaluator import Evaluator

NOBODY: Final = AttemptKey(RunKey("", 0, 0), "", 0)  # no step waits for the answer


class Asked:
    """An `Evaluator` of actions, on top of one that has processes."""

    def __init__(self, elsewhere: Evaluator, settings: EngineSettings) -> None:
        self._elsewhere = elsewhere
        self._full = settings.expressions
        self._params = settings.params
        self._short = replace(self._full, visit=min(self._full.visit, settings.expression_visits))

    async def __call__(self, question: RunQuestion, /) -> Mapping[str, Parameter]:
        scope = question.scope
        is_trial = scope.moment.budget is not None
        is_short = is_trial or self._params.visits <= self._short.visit
        limits = self._full if is_short else self._short
        here = replace(scope, moment=replace(scope.moment, limits=limits))
        try:
            return answer_to(RunQuestion(params=question.params, scope=here), self._params)
        except ParamError as error:
            if is_trial:
                raise
            too_long(error)
        there = replace(scope, moment=replace(scope.moment, limits=self._full))
        there = within_budget(there, self._params)
        asked = Question(attempt=NOBODY, scope=there, definitions=question.params, limits=self._params)
        found = await self._elsewhere.evaluate(asked)
        if found.error is not None:
            raise ParamError(Fault.EXPRESSION, "", found.error)
        return found.params
