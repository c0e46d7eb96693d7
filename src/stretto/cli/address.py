"""Addresses of runs and steps on the command line; `actions.parts.addresses` says how they are written."""

import re
from typing import Final

import click

from stretto.actions.parts.addresses import HINT, LATEST, Address, address_in
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text

__all__ = ["ADDRESS", "HINT", "LATEST", "Address", "AddressType", "as_named", "readable", "run_text"]

RAW: Final = re.compile(  # how messages write a run, a step and an attempt of it
    r"\[([^\s\[\]]+)\]\[([0-9]+)\](?:\[([0-9]+)\])?(?:\[([^\s\[\]]+)\](?:\[([0-9]+)\])?)?"
)


class AddressType(click.ParamType[Address]):
    """An address on the command line."""

    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        found = address_in(str(value))
        if found is None:
            self.fail(f"`{value}` names no run: {HINT}", param, ctx)
        return found


ADDRESS: Final = AddressType()


def as_named(address: Address) -> str:
    """What an address names, with the number of the run if it says one: without, it is the newest run."""
    run = "" if address.run == LATEST else f"/{address.run}"
    path = "" if address.path is None else f":{address.path}"
    return f"{address.workflow_id}/{address.instance_id}{run}{path}"


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
