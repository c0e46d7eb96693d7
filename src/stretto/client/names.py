"""How servers and runs are named."""

import re
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote, urlsplit

from stretto.model.errors import InvalidRequest

LATEST: Final = "latest"
SCHEMES: Final = frozenset({"http", "https"})
_RUN: Final = re.compile(r"(?P<workflow>\S+?)/(?P<instance>[0-9]{1,18})(?:/(?P<run>[0-9]{1,18}))?")


class OfRun(Protocol):
    """Whatever says of which run it is: the answer to a start, a run, a line of a list, an event."""

    @property
    def workflow_id(self) -> str: ...
    @property
    def workflow_instance_id(self) -> int: ...
    @property
    def workflow_run_id(self) -> int: ...


RunName = str | tuple[str, int] | tuple[str, int, int] | OfRun


class Place(NamedTuple):
    """A run, or the newest of an instance."""

    workflow_id: str
    instance_id: int
    run_id: int | None = None

    @property
    def instance_path(self) -> str:
        return f"/workflows/{quoted(self.workflow_id)}/instances/{self.instance_id}"

    @property
    def path(self) -> str:
        return f"{self.instance_path}/runs/{LATEST if self.run_id is None else self.run_id}"

    @property
    def acting_path(self) -> str:
        """Where actions on it are; without a number on whichever run is the newest."""
        return self.instance_path if self.run_id is None else self.path


def place_of(name: RunName) -> Place:
    """`"etl/12"`, `"etl/12/2"`, `("etl", 12)`, or something that knows its run."""
    if isinstance(name, tuple):
        return Place(*name)
    if not isinstance(name, str):
        return Place(name.workflow_id, name.workflow_instance_id, name.workflow_run_id)
    found = _RUN.fullmatch(name)
    if found is None:
        raise InvalidRequest(
            f"`{name}` names no run", hint="write WORKFLOW/INSTANCE, such as etl/12, or etl/12/2"
        )
    run = found["run"]
    return Place(found["workflow"], int(found["instance"]), None if run is None else int(run))


def quoted(name: str) -> str:
    """A name as a part of a path; slashes in it are no borders. Without one the path would be another."""
    if not name:
        raise InvalidRequest("a name is empty", hint="say which workflow, version or step is meant")
    return quote(name, safe="")


def server_url(text: str) -> str:
    """The address of a server, without a slash at the end; `localhost:8080` is one, too."""
    full = text if "://" in text else f"http://{text}"
    if not _is_address(full):
        raise InvalidRequest(
            f"`{text[:200]}` is not the address of a server", hint="such as http://127.0.0.1:8080"
        )
    return full.rstrip("/")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    plain = text.isprintable() and " " not in text
    simple = not (parts.query or parts.fragment or parts.username or parts.password)
    return parts.scheme in SCHEMES and has_host and plain and simple
