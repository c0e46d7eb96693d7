"""What a user asks `stretto run` for: definitions from a file, parameters from the command line."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from stretto.cli.definitions import checked, is_python
from stretto.cli.files import shown
from stretto.cli.import_path import add_path
from stretto.cli.validate import print_problems
from stretto.definition.parse import Options
from stretto.engine.plan import Kind, kind_of
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, Params
from stretto.model.step import AnyStep, ForeachStep, TypedStep, WhileStep
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Definition, Workflow
from stretto.params import WORKFLOW_DEFAULTS
from stretto.params.text import as_literal, read_value


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Definitions to publish, and which of them to run."""

    definitions: tuple[Definition, ...]
    chosen: Definition
    params: Params
    flows: tuple[Any, ...] = ()  # workflows that are written in Python

    @property
    def workflow_id(self) -> str:
        return self.chosen.workflow.id


def read_wanted(
    file: str, options: Options, workflow_id: str | None, given: Iterable[str], *, anew: bool = True
) -> Wanted:
    """Everything from the command line, checked; what is wrong ends the command. A run that is not started
    `anew` has its parameters.
    """
    definitions, problems, _ = checked(file, options)
    if problems:
        print_problems(shown(file), problems)
        raise SystemExit(2)
    chosen = _chosen(definitions, workflow_id)
    if is_python(file):
        return _of_python(file, definitions, chosen, given if anew else None)
    add_path(Path(file).resolve().parent)  # for what its steps name; with `-` the current folder
    return Wanted(
        definitions=definitions, chosen=chosen, params=params_of(chosen.workflow, map(taken_apart, given))
    )


def _of_python(
    file: str, definitions: tuple[Definition, ...], chosen: Definition, given: Iterable[str] | None
) -> Wanted:
    from stretto.cli.python_files import flows_of, params_of_flow  # noqa: PLC0415 - other files need no Python

    flows = {each.id: each for flow in flows_of(file).flows for each in (flow, *flow.subflows)}
    params: Params = {}
    if given is not None:
        params = params_of_flow(flows[chosen.workflow.id], map(taken_apart, given))
    return Wanted(definitions=definitions, chosen=chosen, params=params, flows=tuple(flows.values()))


def _chosen(definitions: tuple[Definition, ...], workflow_id: str | None) -> Definition:
    if not definitions:
        raise click.BadParameter("there is no workflow in it", param_hint="FILE")
    if workflow_id is None:
        return definitions[0]
    known = {each.workflow.id: each for each in definitions}
    if workflow_id not in known:
        message = f"`{workflow_id}` is not in the file; it has {', '.join(known)}"
        raise click.BadParameter(message, param_hint="--workflow")
    return known[workflow_id]


# -------------------------------------------------------------------------------------------- parameters
def taken_apart(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"`{text}` is not NAME=VALUE", param_hint="--param")
    return name, value


def params_of(workflow: Workflow, given: Iterable[tuple[str, str]]) -> Params:
    """Parameters of a request, each of the type that the workflow declares; all mistakes at once."""
    declared: Mapping[str, ParamDefinition] = {**WORKFLOW_DEFAULTS, **(workflow.params or {})}
    found: Params = {}
    wrong: list[str] = []
    for name, text in given:
        known = declared.get(name)
        if name in found:
            wrong.append(f"`{name}` is given twice")
        elif known is None:
            wrong.append(_unknown(name, workflow))
        else:
            try:
                found[name] = as_literal(known.type, read_value(name, known.type, text))
            except InvalidRequest as error:
                wrong.append(error.message)
    if wrong:
        raise click.BadParameter("\n  ".join(["", *wrong] if len(wrong) > 1 else wrong), param_hint="--param")
    return found


def _unknown(name: str, workflow: Workflow) -> str:
    own = workflow.params or {}
    names = ", ".join(f"{each} ({param.type})" for each, param in own.items()) or "none"
    hint = did_you_mean(name, (*own, *WORKFLOW_DEFAULTS))
    return f"workflow `{workflow.id}` has no parameter `{name}`; it has {names}" + (
        f"; {hint}" if hint else ""
    )


# ------------------------------------------------------------------------------------------ what can be run
def check_runnable(definitions: Iterable[Definition], types: Iterable[str]) -> None:
    """Refuse steps whose type nothing here can carry out, before anything is begun."""
    known = {each.casefold() for each in types}
    missing = [
        f"step `{step.id}` of workflow `{definition.workflow.id}` has the type {step.type}"
        for definition in definitions
        for step in _steps(definition.workflow.steps)
        if isinstance(step, TypedStep) and kind_of(step) is Kind.WORK and step.type.casefold() not in known
    ]
    if missing:
        here = ", ".join(sorted({"NoOp", "Sleep", "Wait", *types}))
        raise InvalidRequest(
            "there is no runtime here for some steps:\n  " + "\n  ".join(missing),
            hint=f"types that can be run here: {here}",
        )


def _steps(steps: Iterable[AnyStep]) -> Iterator[AnyStep]:
    for step in steps:
        yield step
        if isinstance(step, ForeachStep | WhileStep):
            yield from _steps(step.steps)
