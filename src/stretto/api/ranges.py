"""Parts of a content that a client asks for (RFC 9110, section 14): one range of bytes."""

import re
from typing import Final

from litestar import Response
from litestar.exceptions import HTTPException

RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def content(body: bytes, media_type: str, asked: str | None, headers: dict[str, str]) -> Response[bytes]:
    """The body, or the part of it that was asked for. What is no single range of bytes is passed over, as
    the standard has it; one that begins behind the end is refused.
    """
    found = RANGE.fullmatch((asked or "").strip())
    told = {**headers, "accept-ranges": "bytes"}
    if found is None or not (found[1] or found[2]):
        return Response(body, media_type=media_type, headers=told)
    size = len(body)
    first = int(found[1]) if found[1] else max(0, size - int(found[2]))
    last = min(size - 1, int(found[2])) if found[1] and found[2] else size - 1
    if first >= size or last < first:
        detail = f"The content has {size} bytes, and none of them is in the range [{asked}]"
        raise HTTPException(status_code=416, detail=detail, headers={"content-range": f"bytes */{size}"})
    told["content-range"] = f"bytes {first}-{last}/{size}"
    return Response(body[first : last + 1], media_type=media_type, status_code=206, headers=told)
