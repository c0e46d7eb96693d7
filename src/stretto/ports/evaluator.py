"""Expressions that are too long for a decision: who evaluates them."""

from typing import Protocol

from stretto.engine.elsewhere import Question, answer
from stretto.engine.events import Evaluated
from stretto.model.error_text import text_of_error


class Evaluator(Protocol):
    """Answers questions. What is wrong with an expression is part of the answer, never raised."""

    async def evaluate(self, question: Question) -> Evaluated:
        """Evaluate it, within whatever time an answer may take here."""
        ...


def answered(question: Question) -> Evaluated:
    """The answer, also if the evaluation has a fault of ours: asked again, it would have it again."""
    try:
        return answer(question)
    except Exception as error:  # noqa: BLE001 - see above
        return refused(question, f"internal error: {text_of_error(error)}")


def refused(question: Question, message: str) -> Evaluated:
    """There is no value, for this reason."""
    return Evaluated(attempt=question.attempt, error=message)
