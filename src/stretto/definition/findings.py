"""A list of problems that stops growing: no text can make us look for hints and write reports for ever."""

from stretto.model.problem import Problem


class Enough(Exception):
    """The list is full; what is in it is all that will be reported."""


class Findings(list[Problem]):
    """Takes the place of a plain list wherever problems are collected."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most + 1  # the one more that shows that there are more

    def append(self, problem: Problem) -> None:
        if len(self) >= self._most:
            raise Enough
        super().append(problem)
