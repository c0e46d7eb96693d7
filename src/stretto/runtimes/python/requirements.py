"""Packages that a step asks for: whether they are installed where its function runs."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from stretto.model.param import Parameter, ParamType
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.own_params import REQUIREMENTS

if TYPE_CHECKING:
    from packaging.requirements import Requirement

NOT_A_LIST: Final = f"`{REQUIREMENTS}` of a Python step is a list of texts, such as [pandas>=2], not a {{}}"
MISSING: Final = (
    "the step needs what is not installed where it runs: {}. Install it there, with pip install {}"
)


def requirements_of(params: Mapping[str, Parameter]) -> list[str]:
    """What a step asks for. Raises Refused."""
    param = params.get(REQUIREMENTS)
    if param is None:
        return []
    if param.type is ParamType.STRING:
        return [str(param.evaluated_result)]
    if param.type is not ParamType.STRING_ARRAY:
        raise Refused(NOT_A_LIST.format(param.type))
    return [str(each) for each in param.evaluated_result]


def check_installed(requirements: Sequence[str]) -> None:
    """Raises Refused, with all that are missing."""
    missing = {each: reason for each in requirements if (reason := _missing(each))}
    if missing:
        what = "; ".join(missing.values())
        raise Refused(MISSING.format(what, " ".join(f"'{each}'" for each in missing)))


@lru_cache(maxsize=1024)
def _read(text: str) -> "Requirement":
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - few steps ask

    try:
        return Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0]
        raise Refused(f"`{text}` in `{REQUIREMENTS}` names no package: {reason}") from None


def _missing(text: str) -> str:
    """Why it is; nothing if it is there, or is not needed on this machine."""
    from importlib import metadata  # noqa: PLC0415 - few steps ask

    wanted = _read(text)
    if wanted.marker is not None and not wanted.marker.evaluate():
        return ""
    try:
        found = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return f"there is no {wanted.name}"
    if wanted.specifier.contains(found, prereleases=True):
        return ""
    return f"{wanted.name} is {found}, not {wanted.specifier}"
