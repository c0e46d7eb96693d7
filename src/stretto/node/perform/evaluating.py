"""An evaluator without a process of its own."""

from stretto.engine.elsewhere import Question
from stretto.engine.events import Evaluated
from stretto.ports.evaluator import answered


class InProcess:
    """Evaluates at once, where it is asked. Nothing stops an expression but its own limits, and everything
    else waits meanwhile: for tests, simulations, and programs that know their expressions.
    """

    async def evaluate(self, question: Question) -> Evaluated:
        return answered(question)
