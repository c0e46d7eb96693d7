"""How runs and steps are written: `etl/12`, `etl/12/2`, `etl/12/2:load`, `etl/12:load[41].copy/3`.

workflow/instance             the newest run of an instance
workflow/instance/run         one run
...:step                      a step of it; inside loops and subworkflows a path
...:step/attempt              one attempt of that step
"""

import re
from typing import Final, NamedTuple

import click

from stretto.actions.parts.run_text import run_text
from stretto.engine.records import RunKey

__all__ = ["ADDRESS", "Address", "AddressType", "readable", "run_text"]

FORM: Final = re.compile(
    r"(?P<workflow>[^/:\s]+)/(?P<instance>[0-9]{1,18})(?:/(?P<run>[0-9]{1,18}))?"
    r"(?::(?P<path>[^/\s]+)(?:/(?P<attempt>[0-9]{1,9}))?)?"
)
RAW: Final = re.compile(  # how messages write a run, a step and an attempt of it
    r"\[([^\s\[\]]+)\]\[([0-9]+)\](?:\[([0-9]+)\])?(?:\[([^\s\[\]]+)\](?:\[([0-9]+)\])?)?"
)
HINT: Final = "write WORKFLOW/INSTANCE, such as etl/12; also etl/12/2, etl/12:load and etl/12:load/1"


class Address(NamedTuple):
    """A place that a user names. `run`: a number, or `latest`."""

    workflow_id: str
    instance_id: int
    run: str = "latest"
    path: str | None = None
    attempt: str = "latest"


class AddressType(click.ParamType[Address]):
    """An address on the command line."""

    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        found = FORM.fullmatch(str(value))
        if found is None:
            self.fail(f"`{value}` names no run: {HINT}", param, ctx)
        return Address(
            found["workflow"],
            int(found["instance"]),
            found["run"] or "latest",
            found["path"],
            found["attempt"] or "latest",
        )


ADDRESS: Final = AddressType()


def readable(text: str) -> str:
    """A sentence of the engine, with runs and steps as one would write them."""
    return RAW.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    workflow_id, instance, run, step, attempt = found.groups()
    parts = [run_text(RunKey(workflow_id, int(instance), int(run or 1)))]
    if step is not None:
        parts.append(f":{step}")
    if attempt is not None:
        parts.append(f"/{attempt}")
    return "".join(parts)
