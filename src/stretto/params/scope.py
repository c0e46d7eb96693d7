"""Where a referenced name is looked for. The two scopes differ in nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

from stretto.model.param import Parameter
from stretto.params.context import Context, StepFacts
from stretto.params.functions import Functions
from stretto.params.requests import SEPARATOR
from stretto.sel import Budget, Environment, Limits

LIMITS: Final = Limits()


@dataclass(slots=True)  # this and the next are made for every step: frozen ones take three times as long
class Moment:
    """When an evaluation happens, and its dice. The same moment gives the same results, also later."""

    now_millis: int
    seed: int = 0
    limits: Limits = LIMITS
    budget: Budget | None = None  # of all expressions together, in a trial; what needs more has no result


@dataclass(slots=True, kw_only=True)
class Scope:
    """What surrounds a set of parameters: a run's own (`step` is None), or a step's inside a run."""

    context: Context
    moment: Moment
    workflow: Mapping[str, Parameter] = field(default_factory=dict)  # of the run, evaluated, for a step
    step: StepFacts | None = None
    separator: str = SEPARATOR

    @property
    def functions(self) -> Functions:
        return Functions(self.context, self.step)

    @property
    def place(self) -> str:
        """For messages: `workflow [daily]` or `step [extract]`."""
        if self.step is None:
            return f"workflow [{self.context.run.workflow_id}]"
        return f"step [{self.step.step_id}]"

    def environment(self, name: str) -> Environment:
        """The surroundings of one parameter's expression. Each has its own dice, whatever the order."""
        return Environment(
            now_millis=self.moment.now_millis,
            seed=self.moment.seed ^ crc32(name.encode()),
            limits=self.moment.limits,
            host=self.functions,
            budget=self.moment.budget,
            exact=not self.context.run.follows_maestro,
        )


Bindings = dict[str, Any]
