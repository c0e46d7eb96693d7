"""Numbers that the engine's rules depend on. The defaults are ours; conformance tests set Maestro's."""

from typing import Final

import msgspec

from stretto.engine.permits import PermitDefaults
from stretto.params import ParamLimits
from stretto.sel import Limits

DAY_MILLIS: Final = 86_400_000


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Policies of the engine core."""

    depth: int = 10  # loops and subworkflows inside each other
    iterations: int = 1_000_000  # of one loop
    leaves: int | None = None  # steps inside one loop, over all its iterations; more stop the run
    live_leaves: int = 10_000  # leaf steps of the iterations in memory; more iterations of a run wait
    loop_concurrency: int = 20  # iterations of a foreach at once, where nobody says otherwise
    records_per_decision: int = 1_000  # or kilobytes of parameters: then a loop lets the commit happen
    redirects: int = 100  # attempts of one step that redirects may make
    early_answers: int = 100  # answers that a run keeps for steps that do not ask yet
    default_sleep_seconds: int = 3
    default_timeout_millis: int = 10 * DAY_MILLIS
    function_within: int = 3_600_000  # for a process to join that knows the functions of a step; 0: none
    step_concurrency: int | None = None  # of the workflow's properties
    permit_defaults: PermitDefaults = PermitDefaults()
    expression_visits: int = 1_000_000  # of one expression inside a decision
    expressions: Limits = Limits()  # of any expression, wherever it is evaluated
    params: ParamLimits = ParamLimits()
