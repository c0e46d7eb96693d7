"""What is known of the types that steps may have, beyond their names."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec

from stretto.model.param import Params
from stretto.model.step import TypedStep


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A type, as far as a definition can be checked against it."""

    schema: Mapping[str, Any] | None = None  # JSON Schema of its parameters
    params: Params = {}  # what steps have without asking
    broken: str | None = None  # why no step of it can be run


NOT_DESCRIBED = Described()
BUILT_IN: Final = "built in"


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Whether steps of a type can be run here, and who brings it."""

    type: str
    origin: str = BUILT_IN  # or a package with its version
    usable: bool = True
    problem: str | None = None  # why not, and what is missing


class StepTypes(AbstractSet[str]):
    """The names of all types, of which some can say more. Names are taken in any case.

    A plain set of names will do where nothing is to be checked but that a type exists.
    """

    @abstractmethod
    def describe(self, step: TypedStep) -> Described:
        """What is known of the type of a step. Asked only for types that are in the set."""

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        """More names, or fewer, are only names."""
        return frozenset(it)


def described(types: AbstractSet[str], step: TypedStep) -> Described:
    """What a set of types knows of that of a step."""
    return types.describe(step) if isinstance(types, StepTypes) else NOT_DESCRIBED
