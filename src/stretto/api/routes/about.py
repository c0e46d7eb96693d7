"""What a client needs to know of the server: definitions, step types, who it takes them for."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stretto.api.routing import Calling, gets
from stretto.definition.schema import definition_schema
from stretto.definition.schema.snippets import sentence_of, snippet_of
from stretto.definition.step_types import NOT_DESCRIBED


class StepTypeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A type that steps may have: what it does and the JSON Schema of its parameters, if it says, and a step
    in YAML to begin with.
    """

    type: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    snippet: str


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, as far as the server knows."""

    user: str | None = None
    roles: tuple[str, ...]
    auth: str


@gets("/definitions/schema")
async def read_schema(call: Calling) -> dict[str, Any]:
    """The JSON Schema of definitions, with the step types of this server."""
    return definition_schema(call.desk.types())


@gets("/step-types")
async def read_types(call: Calling) -> list[StepTypeLine]:
    """The types that steps may have here, for editors."""
    known = call.desk.types()
    names = sorted({*call.desk.limits.step_types, *known}, key=str.casefold)
    return [_line(name, known.get(name, NOT_DESCRIBED).schema) for name in names]


def _line(name: str, schema: Mapping[str, Any] | None) -> StepTypeLine:
    return StepTypeLine(
        type=name,
        description=sentence_of(name, schema),
        schema=None if schema is None else dict(schema),
        snippet=snippet_of(name, schema),
    )


@gets("/me")
async def read_me(call: Calling) -> Me:
    """Who calls, and what they may do. Without authentication everybody may do everything."""
    roles = tuple(sorted(role.value for role in call.reader.roles))
    return Me(user=call.user, roles=roles, auth="none")


ROUTES: Final = (read_schema, read_types, read_me)
