"""Answers that a client may keep: it asks with the tag that it has, and is told if that is still the one."""

from hashlib import sha256
from typing import Annotated, Any, Final, Generic, TypeVar

from litestar import MediaType, Response
from litestar.params import HeaderParameter

from stretto.actions.parts.offload import offload, size_of
from stretto.api.answers import json_of

T = TypeVar("T")

NOT_MODIFIED: Final = 304
# Ask each time: an id that was deleted may come back with something else under the same number.
KEEP: Final = "private, no-cache"

KnownTags = Annotated[str | None, HeaderParameter(name="if-none-match")]


class Tagged(Response[Any], Generic[T]):
    """A record with its tag, or nothing for somebody who has it."""


async def tagged(record: Any, tp: Any, known: str | None) -> Tagged[Any]:
    """The answer to somebody who has what is `known`: tags as `If-None-Match` has them."""
    body, digest = await offload(size_of(record), _digested, record, tp)
    tag = f'W/"{digest}"'  # weak: the body may be sent compressed, too
    headers = {"etag": tag, "cache-control": KEEP}
    if known is not None and _holds(known, tag):
        return Tagged(b"", status_code=NOT_MODIFIED, headers=headers, media_type=MediaType.JSON)
    return Tagged(body, headers=headers, media_type=MediaType.JSON)


def _digested(record: Any, tp: Any) -> tuple[bytes, str]:
    body = json_of(record, tp)
    return body, sha256(body).hexdigest()[:32]


def _holds(known: str, tag: str) -> bool:
    tags = [each.strip().removeprefix("W/") for each in known.split(",")]
    return "*" in tags or tag.removeprefix("W/") in tags
