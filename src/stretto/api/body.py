"""Bodies of requests -> records; every problem of a body at once, with its path."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar, overload

import msgspec
from litestar.exceptions import HTTPException

from stretto.actions.job_templates import list_job_templates
from stretto.actions.parts.offload import CHARACTERS, offload
from stretto.api.desk import Call
from stretto.definition import Limits, parse
from stretto.definition.findings import Enough, Findings
from stretto.definition.parse import Options
from stretto.definition.reading.read import Format, Source, Unreadable
from stretto.model.errors import InvalidDefinition, InvalidRequest
from stretto.model.problem import Code, Problem, keys_in
from stretto.model.wire import codec_of
from stretto.model.workflow import Definition

T = TypeVar("T")

JSON: Final = ("application/json",)
YAML: Final = ("application/yaml", "application/x-yaml", "text/yaml")
MEDIA_TYPES: Final = {Format.JSON: JSON[0], Format.YAML: YAML[0]}  # as we write them
NOT_READ: Final = {Format.JSON: "JSON parse error", Format.YAML: "YAML parse error"}
NOT_VALID: Final = "Validation failure"  # it can be read, and lacks something


def check_media_type(given: str | None, wanted: tuple[str, ...]) -> None:
    """Refuse a body that says it is something else; `application/json; charset=utf-8` is JSON."""
    found = (given or "").partition(";")[0].strip().lower()
    is_other_json = wanted == JSON and found.startswith("application/") and found.endswith("+json")
    if found not in wanted and not is_other_json:
        raise HTTPException(
            status_code=415,
            detail=f"The content type [{found}] is not supported here; send {wanted[0]}",
            headers={"accept": ", ".join(wanted)},
        )


@overload
def read_json(tp: type[T], text: bytes, limits: Limits) -> T: ...
@overload
def read_json(tp: Any, text: bytes, limits: Limits) -> Any: ...
def read_json(tp: Any, text: bytes, limits: Limits) -> Any:
    """A record from JSON text."""
    return _record(tp, text, limits, Format.JSON)


@overload
def read_yaml(tp: type[T], text: bytes, limits: Limits) -> T: ...
@overload
def read_yaml(tp: Any, text: bytes, limits: Limits) -> Any: ...
def read_yaml(tp: Any, text: bytes, limits: Limits) -> Any:
    """A record from YAML text."""
    return _record(tp, text, limits, Format.YAML)


def _record(tp: Any, text: bytes, limits: Limits, form: Format) -> Any:
    """Its size is the server's affair, which has taken it: `limits.text` is for definitions."""
    limits = msgspec.structs.replace(limits, text_bytes=max(limits.text_bytes, len(text)))
    record, problems = _decoded(tp, text, limits, form)
    if problems:
        raise refused(problems, form, limits.problems)
    return record


def _decoded(tp: Any, text: bytes, limits: Limits, form: Format) -> tuple[Any, Sequence[Problem]]:
    """A record, or what is wrong with it. It does not raise that: an error keeps all that was read until the
    event loop has answered, which would then free a million values at once.
    """
    try:
        documents = Source(text, limits, form).documents
    except Unreadable as unreadable:
        return None, unreadable.problems[: limits.problems + 1]
    if len(documents) != 1 or documents[0] is None:
        raise InvalidRequest(f"{NOT_READ[form]}: the body holds no value, or several")
    problems = Findings(limits.problems)
    record = None
    with suppress(Enough):
        record = codec_of(tp).decode(documents[0], None, problems)
    return (None if problems else record), problems


def refused(problems: Sequence[Problem], form: Format, most: int | None = None) -> InvalidRequest:
    """A body that can not be read, or that lacks fields, as Maestro's clients hear of it. There may be more
    problems than the `most` that are told.
    """
    if most is not None and len(problems) > most:
        told = f"there are more than {most:,} problems, the others are not shown"
        problems = [*problems[:most], Problem(code=Code.TOO_MANY, path="", message=told)]
    kind = NOT_VALID if all(map(_lacks_field, problems)) else NOT_READ[form]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidRequest(f"{kind}: {problems[0]}{more}", details=[str(each) for each in problems])


def _lacks_field(problem: Problem) -> bool:
    """Maestro validates required fields after it has parsed the body. Without the `type` of a parameter, and
    without its value, it can not parse one.
    """
    if problem.code != Code.MISSING_FIELD:
        return False
    *around, last = keys_in(problem.path)
    return last != "type" and around[-1:] != ["params"]


async def read_definition(call: Call, text: bytes, form: Format) -> Definition:
    """The one definition of a body, in shape. Rules are checked by whoever publishes it."""
    templates: Mapping[str, str] = {}
    if form is Format.YAML:  # its jobs may name a template as their type
        known = await list_job_templates(call.store, call.reader)
        templates = {each.definition.job_type: each.definition.step_type for each in known}
    options = Options(form=form, limits=call.desk.limits, templates=templates)
    try:
        return await offload(len(text) // CHARACTERS, parse, text, options)
    except InvalidDefinition as invalid:
        raise refused(invalid.problems, form) from None
