"""Services: objects of the program that functions may ask for, by type or by name."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.suggest import did_you_mean


class Services:
    """What was registered. A subclass answers for its base class, if it is the only one that does."""

    def __init__(self, given: Mapping[str, Any] | Iterable[Any] = ()) -> None:
        self._named: dict[str, Any] = {}
        self._all: list[Any] = []
        if isinstance(given, Mapping):
            for name, each in given.items():
                self.add(each, name=name)
        else:
            for each in given:
                self.add(each)

    def add(self, service: Any, *, name: str | None = None) -> None:
        """Register an object for its type, and by a name if it is given one."""
        if name is not None:
            if name in self._named:
                raise InvalidRequest(f"there is a service `{name}` already")
            self._named[name] = service
        self._all.append(service)

    def get(self, key: Hashable) -> Any:
        """The service of a type or by a name. Raises NotFound, or InvalidRequest where several would do."""
        if isinstance(key, str):
            if key not in self._named:
                hint = did_you_mean(key, self._named) or f"registered: {', '.join(self._named) or 'none'}"
                raise NotFound(f"there is no service `{key}`: {hint}")
            return self._named[key]
        wanted = key if isinstance(key, type) else getattr(key, "__origin__", object)
        exact = [each for each in self._all if type(each) is wanted]
        found = exact or [each for each in self._all if isinstance(each, wanted)]
        if len(found) == 1:
            return found[0]
        name = getattr(key, "__qualname__", str(key))
        if found:
            raise InvalidRequest(
                f"{len(found)} services are {a_name(name)}: ask for one by its name, "
                f'with `Annotated[{name}, service("...")]`'
            )
        known = ", ".join(sorted({type(each).__qualname__ for each in self._all})) or "none"
        raise NotFound(f"there is no service of type `{name}`; registered: {known}")
