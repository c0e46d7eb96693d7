"""What a client needs to know of the server: definitions, step types, who it takes them for."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from stretto.actions.parts.function_checks import known_functions
from stretto.actions.parts.offload import MANY, offload
from stretto.api.desk import Desk
from stretto.api.routing import Calling, gets
from stretto.definition.forms.task_engine import FUNCTION_TYPE
from stretto.definition.schema import definition_schema
from stretto.definition.schema.snippets import sentence_of, snippet_of
from stretto.definition.step_types import NOT_DESCRIBED, Standing

OURS: Final = Standing(type="")  # what nests steps has no runtime, and needs none
MOST_FUNCTIONS: Final = 1_000  # whose names are listed


class StepTypeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A type that steps may have: what it does and the JSON Schema of its parameters, if it says, and a step
    in YAML to begin with.

    runnable   Whether the processes of this server can carry it out, as far as they are like this one.
    origin     `built in`, or the package that brings it, with its version.
    problem    Why it can not be run here, and what is missing.
    functions  Of the type `Python`: the functions that running processes know, ordered by name; the first
               1,000 of them.
    function_count  Of the type `Python`: how many functions running processes know.
    """

    type: str
    runnable: bool = True
    origin: str = "built in"
    problem: str | None = None
    description: str | None = None
    schema: dict[str, Any] | None = None
    snippet: str
    functions: tuple[str, ...] | None = None
    function_count: int | None = None


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, as far as the server knows."""

    user: str | None = None
    roles: tuple[str, ...]
    auth: str


@gets("/definitions/schema")
async def read_schema(call: Calling) -> dict[str, Any]:
    """The JSON Schema of definitions, with the step types of this server."""
    return await offload(MANY, lambda: definition_schema(call.desk.types()))


@gets("/step-types")
async def read_types(call: Calling) -> list[StepTypeLine]:
    """The types that steps may have here, for editors, and the functions that `Python` steps can call."""
    functions = await known_functions(call.store)
    return await offload(MANY, _lines, call.desk, functions)


def _lines(desk: Desk, functions: Collection[str]) -> list[StepTypeLine]:
    known = desk.types()
    here = {each.type.casefold(): each for each in desk.standings()}
    names = sorted({*desk.limits.step_types, *known}, key=str.casefold)
    lines = [
        _line(name, known.get(name, NOT_DESCRIBED).schema, here.get(name.casefold(), OURS)) for name in names
    ]
    return [_with_functions(line, functions) if line.type == FUNCTION_TYPE else line for line in lines]


def _line(name: str, schema: Mapping[str, Any] | None, standing: Standing) -> StepTypeLine:
    return StepTypeLine(
        type=name,
        runnable=standing.usable,
        origin=standing.origin,
        problem=standing.problem,
        description=sentence_of(name, schema),
        schema=None if schema is None else dict(schema),
        snippet=snippet_of(name, schema),
    )


def _with_functions(line: StepTypeLine, functions: Collection[str]) -> StepTypeLine:
    listed = tuple(sorted(functions)[:MOST_FUNCTIONS])
    return msgspec.structs.replace(line, functions=listed, function_count=len(functions))


@gets("/me")
async def read_me(call: Calling) -> Me:
    """Who calls, and what they may do. Without authentication everybody may do everything."""
    roles = tuple(sorted(role.value for role in call.reader.roles))
    return Me(user=call.user, roles=roles, auth="none")


ROUTES: Final = (read_schema, read_types, read_me)
