"""What a user asks `stretto run` for: definitions from a file, parameters from the command line."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec

from stretto.cli.definitions import checked, is_python
from stretto.cli.files import shown
from stretto.cli.import_path import add_path
from stretto.cli.validate import print_problems
from stretto.definition.functions import all_steps, functions_in, steps_by_id
from stretto.definition.parse import Options
from stretto.definition.required import required_of
from stretto.engine.plan import Kind, kind_of
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, Params
from stretto.model.step import AnyStep, TypedStep
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Definition, Workflow
from stretto.params import TYPE_DEFAULTS, WORKFLOW_DEFAULTS
from stretto.params.text import as_literal, read_value

STEP_PARAM: Final = "--step-param"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Definitions to publish, and which of them to run."""

    definitions: tuple[Definition, ...]
    chosen: Definition
    params: Params
    step_params: dict[str, Params] = {}  # of single steps, by step id
    flows: tuple[Any, ...] = ()  # workflows that are written in Python
    functions: tuple[Any, ...] = ()  # that steps may name

    @property
    def workflow_id(self) -> str:
        return self.chosen.workflow.id


def read_wanted(
    file: str,
    options: Options,
    workflow_id: str | None,
    given: Iterable[str],
    *,
    anew: bool = True,
    apps: Sequence[str] = (),
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
        return _with_apps(_of_python(file, definitions, chosen, given if anew else None), apps)
    add_path(Path(file).resolve().parent)  # for what its steps name; with `-` the current folder
    wanted = Wanted(
        definitions=definitions,
        chosen=chosen,
        params=params_of(
            chosen.workflow, map(taken_apart, given), required_of(chosen.extra) if anew else None
        ),
    )
    beside = Path(file).with_suffix(".py")
    calls = any(functions_in(each.workflow.steps) for each in definitions)
    return _with_apps(wanted, [*apps, str(beside)] if calls and beside.is_file() else apps)


def _with_apps(wanted: Wanted, apps: Sequence[str]) -> Wanted:
    """With the code of the user that `--app` names, or that lies beside the file."""
    if not apps:
        return wanted
    from stretto.cli.applications import load_apps  # noqa: PLC0415 - other files need no Python

    app = load_apps(apps)
    flows = {**app.flows, **{each.id: each for each in wanted.flows}}
    return msgspec.structs.replace(wanted, flows=tuple(flows.values()), functions=tuple(app.functions))


def _of_python(
    file: str, definitions: tuple[Definition, ...], chosen: Definition, given: Iterable[str] | None
) -> Wanted:
    from stretto.cli.python_files import made_flows, params_of_flow  # noqa: PLC0415 - others need no Python

    flows = {each.id: each for each in made_flows(file)}
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


def params_of(
    workflow: Workflow,
    given: Iterable[tuple[str, str]],
    required: Mapping[str, ParamDefinition] | None = None,
) -> Params:
    """Parameters of a request, each of the type that the workflow declares; all mistakes at once. Parameters
    that are `required` have a type and no value, and each start must bring them.
    """
    required = required or {}
    own = {**required, **(workflow.params or {})}
    place = Declared(f"workflow `{workflow.id}` has", "it has", own, {**WORKFLOW_DEFAULTS, **own})
    found = read_params(given, place, "--param")
    missing = [f"`{name}` ({each.type})" for name, each in required.items() if name not in found]
    if missing:
        message = f"workflow `{workflow.id}` needs {' and '.join(missing)}: give a value with `-p NAME=VALUE`"
        raise click.BadParameter(message, param_hint="--param")
    return {name: _in_form(each, required.get(name)) for name, each in found.items()}


def _in_form(given: ParamDefinition, declared: ParamDefinition | None) -> ParamDefinition:
    """A value of the form that its declaration names: JSON, or a text that needs no quotes."""
    if declared is None or declared.meta.get("format") != "json":
        return given
    return msgspec.structs.replace(given, value=as_json_text(given.value), meta=declared.meta)


def as_json_text(text: str) -> str:
    """The text if it is JSON, else the JSON text of it."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return msgspec.json.encode(text).decode()
    return text


def values_of(step_id: str, own: Params, given: Iterable[tuple[str, str]]) -> Params:
    """Values for a step that asks for them, each of the type that the step declares; all mistakes at once."""
    return read_params(given, Declared(f"step `{step_id}` has", "it has", own, own), "--param")


def step_params_of(workflow: Workflow, given: Iterable[str]) -> dict[str, Params]:
    """Parameters of single steps, each written STEP:NAME=VALUE, of the types that the step declares, or the
    workflow for what the step only reads.
    """
    pairs: dict[str, list[tuple[str, str]]] = {}
    for text in given:
        place, equals, value = text.partition("=")
        step_id, _, name = place.partition(":")
        if not (step_id and name and equals):
            raise click.BadParameter(f"`{text}` is not STEP:NAME=VALUE", param_hint=STEP_PARAM)
        pairs.setdefault(step_id, []).append((name, value))
    steps = steps_by_id(workflow.steps)
    return {
        step_id: read_params(values, declared_in(workflow, steps, step_id), STEP_PARAM)
        for step_id, values in pairs.items()
    }


class Declared(NamedTuple):
    """The parameters that can be given to a run, and to a step of it."""

    whose: str  # the beginning of a sentence about them, up to its verb
    has: str  # the beginning of the next one
    own: Mapping[str, ParamDefinition]  # those of the author: what messages list
    of_run: Mapping[str, ParamDefinition]
    of_step: Mapping[str, ParamDefinition] = {}

    def get(self, name: str) -> ParamDefinition | None:
        return self.of_step.get(name) or self.of_run.get(name)


def declared_for(workflow: Workflow, step_id: str) -> Declared:
    """What can be given to a step: its own parameters, those of its type, and the workflow's, which it may
    read.
    """
    return declared_in(workflow, steps_by_id(workflow.steps), step_id)


def declared_in(workflow: Workflow, steps: Mapping[str, AnyStep], step_id: str) -> Declared:
    """The same, for one of many steps of a workflow."""
    step = steps.get(step_id)
    if step is None:
        hint = did_you_mean(step_id, steps) or f"it has {', '.join(steps)}"
        message = f"workflow `{workflow.id}` has no step `{step_id}`; {hint}"
        raise click.BadParameter(message, param_hint=STEP_PARAM)
    kind = step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)
    run, own = workflow.params or {}, step.params or {}
    of_step = {**TYPE_DEFAULTS.get(kind, {}), **own}
    whose = f"step `{step_id}` and workflow `{workflow.id}` have"
    return Declared(whose, "they have", {**run, **own}, {**WORKFLOW_DEFAULTS, **run}, of_step)


def read_params(given: Iterable[tuple[str, str]], declared: Declared, option: str) -> Params:
    """Each value in the type that is declared; all mistakes at once."""
    found: Params = {}
    wrong: list[str] = []
    for name, text in given:
        known = declared.get(name)
        if name in found:
            wrong.append(f"`{name}` is given twice")
        elif known is None:
            wrong.append(_unknown(name, declared))
        else:
            try:
                found[name] = as_literal(known.type, read_value(name, known.type, text))
            except InvalidRequest as error:
                wrong.append(error.message)
    if wrong:
        raise click.BadParameter("\n  ".join(["", *wrong] if len(wrong) > 1 else wrong), param_hint=option)
    return found


def _unknown(name: str, declared: Declared) -> str:
    names = ", ".join(f"{each} ({param.type})" for each, param in declared.own.items()) or "none"
    hint = did_you_mean(name, (*declared.of_step, *declared.of_run))
    return f"{declared.whose} no parameter `{name}`; {declared.has} {names}" + (f"; {hint}" if hint else "")


# ------------------------------------------------------------------------------------------ what can be run
def check_runnable(definitions: Iterable[Definition], types: Iterable[str]) -> None:
    """Refuse steps whose type nothing here can carry out, before anything is begun."""
    known = {each.casefold() for each in types}
    missing = [
        f"step `{step.id}` of workflow `{definition.workflow.id}` has the type {step.type}"
        for definition in definitions
        for step in all_steps(definition.workflow.steps)
        if isinstance(step, TypedStep) and kind_of(step) is Kind.WORK and step.type.casefold() not in known
    ]
    if missing:
        here = ", ".join(sorted({"NoOp", "Sleep", "Wait", *types}))
        raise InvalidRequest(
            "there is no runtime here for some steps:\n  " + "\n  ".join(missing),
            hint=f"types that can be run here: {here}",
        )
