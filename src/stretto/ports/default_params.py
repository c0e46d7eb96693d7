"""The parameters that every run and every step attempt has without asking: alike, but for their results.

They are most of what is stored of parameters, and none of it is news but the result. So a store may write
that alone; when the text of a default changes, this table gets another number.
"""

from collections.abc import Mapping
from typing import Final

from stretto.model.param import Parameter
from stretto.params.defaults import STEP_DEFAULTS, WORKFLOW_DEFAULTS

EDITION: Final = 1  # of the table: what was stored with one must be read with it

DEFAULT_PARAMS: Final[Mapping[str, Parameter]] = {
    name: Parameter(
        type=each.type, expression=each.expression, tags=each.tags, mode=each.mode, source=each.source
    )
    for name, each in {**WORKFLOW_DEFAULTS, **STEP_DEFAULTS}.items()
    if each.expression is not None
}
