"""`/api/v1`: the surface of the task engine, over the same actions as `/api/v3`.

shapes       bodies and answers: an envelope with a code, a message and the data
views        our records in its words
publishing   its workflow YAML, with its defaults
listing      lists by limit and offset
routing      how its routes are written down, and what becomes of errors
workflows, instances     the routes
"""

from typing import Final

from stretto.api.routing import Route
from stretto.api.v1 import instances, workflows

ROUTES: Final[tuple[Route, ...]] = (*workflows.ROUTES, *instances.ROUTES)
