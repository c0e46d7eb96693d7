"""What the parameter of a function is for: a value of the step, the step's context, or a service."""

from collections.abc import Hashable
from enum import Enum
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_args, get_origin

T = TypeVar("T")


class Role(Enum):
    VALUE = "value"
    CONTEXT = "context"
    SERVICE = "service"


class ContextMark:
    """Base of what a function is handed as its context."""

    __slots__ = ()


class ServiceMark(NamedTuple):
    """In an annotation: the argument is a service, registered by this name, or for the annotated type."""

    name: str | None = None


def service(name: str | None = None) -> ServiceMark:
    """The mark of an argument that is a service: found by this name, or by its type."""
    return ServiceMark(name)


Service = Annotated[T, ServiceMark()]
"""`Service[Database]`: the service registered for that type."""


class Injected:
    """The default of an argument that is handed in, so that callers and type checkers may leave it out. It
    counts as none.
    """


INJECTED: Final[Any] = Injected()

CONTEXT_NAME: Final = "ctx"  # the name of an argument that is a context even without an annotation
CONTEXT_TYPE: Final = "StepContext"


def role_of(name: str, annotation: Any) -> tuple[Role, Hashable]:
    """The role of an argument, and the key of the service if it is one. An annotation that was left out is
    `Any`; one that could not be resolved is its text.
    """
    if (annotation is Any and name == CONTEXT_NAME) or _is_context(annotation):
        return Role.CONTEXT, None
    if get_origin(annotation) is Annotated:
        wanted, *marks = get_args(annotation)
        for mark in marks:
            if isinstance(mark, ServiceMark):
                return Role.SERVICE, mark.name or wanted
    return Role.VALUE, None


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.split("|")[0].strip().rpartition(".")[2] == CONTEXT_TYPE
    if isinstance(annotation, type):
        return issubclass(annotation, ContextMark)
    return any(isinstance(each, type) and issubclass(each, ContextMark) for each in get_args(annotation))
