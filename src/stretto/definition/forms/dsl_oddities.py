"""Keys of Maestro's YAML that become parameters, and look like something else."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from stretto.definition.forms.dsl_fields import hint_for
from stretto.definition.reading.located import at_key
from stretto.model.problem import Code, Place, Problem, problem_at
from stretto.model.step import ForeachStep, SubworkflowStep, TypedStep, WhileStep
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Workflow

OF_THE_MODEL: Final = frozenset(
    name
    for record in (Workflow, TypedStep, SubworkflowStep, ForeachStep, WhileStep)
    for name in record.__struct_fields__
)
ELSEWHERE: Final = "this YAML has no such field: write the workflow with `steps` to have it"
# Words of other tools for what this form says otherwise.
FOREIGN: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("after", "depends_on", "needs", "upstream"),
        "name this job in the `transition` of the one before it, or in `dag`",
    ),
    **dict.fromkeys(("retries", "retry", "max_retries"), "write `+retry`"),
    **dict.fromkeys(("cron", "schedule"), "write `+cron`"),
}
CLOSE: Final = 0.85  # a slip of the finger, not a word of its own


def odd_keys(source: Mapping[str, Any], at: Place, fields: AbstractSet[str]) -> Iterator[Problem]:
    """Each with the way out. A key with a type, a mode or a `!` is meant as a parameter."""
    for key in source:
        if key in fields:
            continue
        hint = FOREIGN.get(key) or (
            (hint_for(key) or ELSEWHERE) if key in OF_THE_MODEL else did_you_mean(key, fields, cutoff=CLOSE)
        )
        if hint is not None:
            message = f"`{key}` is not a field here, so it becomes a parameter"
            yield at_key(problem_at((at, key), Code.NOT_A_FIELD, message, hint), source, key)
