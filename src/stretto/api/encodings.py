"""Bodies that come compressed, answers that are compressed in parts, and answers that must not be."""

import asyncio
import zlib
from collections.abc import Iterable
from typing import Any, Final

from litestar.exceptions import HTTPException
from litestar.middleware.compression import CompressionMiddleware
from litestar.types import Message, Receive, Send

from stretto.api.answers import answer_of, refuse
from stretto.model.errors import InvalidRequest

ACCEPT: Final = b"accept-encoding"
CONTENT: Final = b"content-encoding"
LENGTH: Final = b"content-length"
GZIP: Final = frozenset({b"gzip", b"x-gzip"})
PART: Final = 64 * 1024  # bytes at once: little may become very much, and somebody counts it
HEADER: Final = 16  # zlib's word for "with the header of gzip"

Headers = Iterable[tuple[bytes, bytes]]


def decoded(scope: Any, receive: Receive) -> Receive:
    """The body as it was before it was compressed, for a request that says so."""
    encoding = dict(scope["headers"]).get(CONTENT, b"").strip().lower()
    if encoding in {b"", b"identity"}:
        return receive
    if encoding not in GZIP:
        return _refusing(encoding.decode("latin-1"))
    # How long it is now says nothing about what is read: that is counted as it comes.
    scope["headers"] = [each for each in scope["headers"] if each[0] not in {CONTENT, LENGTH}]
    return _Unpacking(receive)


def _refusing(encoding: str) -> Receive:
    async def refuse() -> Any:
        raise HTTPException(
            status_code=415,
            detail=f"The content encoding [{encoding[:80]}] is not supported; send gzip, or none",
            headers={"accept-encoding": "gzip"},
        )

    return refuse


class PartedCompression(CompressionMiddleware):
    """Compresses an answer part by part: others have their turn in between."""

    def create_compression_send_wrapper(self, send: Send, compression_encoding: Any, scope: Any) -> Send:
        return _parted(
            scope, send, super().create_compression_send_wrapper(send, compression_encoding, scope)
        )


def _parted(scope: Any, plain: Send, send: Send) -> Send:
    is_refused = False

    async def send_parts(message: Message) -> None:
        nonlocal is_refused
        if is_refused:
            return
        if message["type"] == "http.response.body":
            body = memoryview(message["body"])
            if len(body) > PART and not message.get("more_body") and not answer_of(scope).keep(len(body)):
                is_refused = True
                await refuse(scope, plain)
                return
            while len(body) > PART:
                await send({"type": "http.response.body", "body": bytes(body[:PART]), "more_body": True})
                body = body[PART:]
                answer_of(scope).moved()
                await asyncio.sleep(0)
            message["body"] = bytes(body)
        await send(message)

    return send_parts


class _Unpacking:
    """Hands a body on in parts of a limited size, however small it came."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._zipped = zlib.decompressobj(HEADER + zlib.MAX_WBITS)
        self._left = b""  # that came and is not unpacked yet
        self._has_come = False
        self._is_read = False

    async def __call__(self) -> Any:
        if self._is_read:  # now only the end of the connection can come
            return await self._receive()
        if not self._left and not self._has_come:
            message: Any = await self._receive()
            if message["type"] != "http.request":
                return message
            self._left = message.get("body", b"")
            self._has_come = not message.get("more_body", False)
        part = self._unpack()
        # A full part may have more behind it, even if everything was taken.
        more = bool(self._left) or not self._has_come or len(part) == PART
        if not more and not self._zipped.eof:
            raise InvalidRequest("The body is not complete: it ends in the middle of what gzip has made")
        self._is_read = not more
        return {"type": "http.request", "body": part, "more_body": more}

    def _unpack(self) -> bytes:
        try:
            part = self._zipped.decompress(self._left, PART)
        except zlib.error:
            raise InvalidRequest(
                "The body is not gzip", hint="compress it, or leave the header `content-encoding` out"
            ) from None
        if self._zipped.unused_data:  # zlib would keep whatever follows
            raise InvalidRequest("The body goes on behind the end of what gzip has made")
        self._left = self._zipped.unconsumed_tail
        return part


def without_refused(headers: Headers) -> list[tuple[bytes, bytes]]:
    """`gzip;q=0` means that it must not be: who only looks for the word would take it for a wish."""
    return [(name, _wished(value) if name == ACCEPT else value) for name, value in headers]


def _wished(value: bytes) -> bytes:
    kept = [each for each in value.split(b",") if not _is_refused(each)]
    return b",".join(kept)


def _is_refused(choice: bytes) -> bool:
    quality = choice.replace(b" ", b"").lower().partition(b";q=")[2]
    return bool(quality) and not quality.strip(b"0.")
