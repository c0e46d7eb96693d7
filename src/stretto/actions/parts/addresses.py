"""How people write runs and steps: `etl/12`, `etl/12/2`, `etl/12/2:load`, `etl/12:load[41].copy/3`.

workflow/instance             the newest run of an instance
workflow/instance/run         one run
...:step                      a step of it; inside loops and subworkflows a path
...:step/attempt              one attempt of that step
"""

import re
from typing import Final, NamedTuple

FORM: Final = re.compile(
    r"(?P<workflow>[^/:\s]+)/(?P<instance>[0-9]{1,18})(?:/(?P<run>[0-9]{1,18}))?"
    r"(?::(?P<path>[^/\s]+)(?:/(?P<attempt>[0-9]{1,9}))?)?"
)
LATEST: Final = "latest"  # run, or attempt
HINT: Final = "write WORKFLOW/INSTANCE, such as etl/12; also etl/12/2, etl/12:load and etl/12:load/1"


class Address(NamedTuple):
    """A place that a user names. `run`: a number, or `latest`."""

    workflow_id: str
    instance_id: int
    run: str = LATEST
    path: str | None = None
    attempt: str = LATEST


def address_in(text: str) -> Address | None:
    """The place that a text names; None if it names none."""
    found = FORM.fullmatch(text)
    if found is None:
        return None
    return Address(
        found["workflow"],
        int(found["instance"]),
        found["run"] or LATEST,
        found["path"],
        found["attempt"] or LATEST,
    )
