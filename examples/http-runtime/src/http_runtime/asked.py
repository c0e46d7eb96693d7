"""What a step asks for, read from its parameters; and the schema that says which ones there are."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, urlsplit

from stretto.ports.runtime import Launch, StepContext

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
TIMEOUT = 30  # seconds
MOST_BYTES = 1024 * 1024

# Checked when a definition is validated, shown by `stretto runtimes show Http`, and known to editors.
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "http": {
            "type": "object",
            "description": "The request.",
            "properties": {
                "url": {"type": "string", "description": "Where to: http:// or https://."},
                "method": {"enum": METHODS, "default": "GET", "description": "What to do there."},
                "headers": {"type": "object", "description": "Headers of the request, as texts."},
                "body": {"type": "string", "description": "What is sent, as UTF-8."},
                "timeout": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "default": TIMEOUT,
                    "description": "Seconds for the whole request.",
                },
                "most_bytes": {
                    "type": "integer",
                    "minimum": 0,
                    "default": MOST_BYTES,
                    "description": "The largest answer that is taken.",
                },
            },
            "required": ["url"],
            "additionalProperties": False,
        },
        "status_code": {"type": "integer", "description": "Output: the status of the answer."},
        "response_body": {"type": "string", "description": "Output: the answer."},
        "response_headers": {
            "type": "object",
            "description": "Output, if the step declares it: the headers of the answer, in lower case.",
        },
        # Maestro's way to say which answers are good. This runtime has one rule: 2xx is.
        "state_expr": False,
    },
    "required": ["http"],
}


class Unusable(Exception):
    """Parameters of which no request can be made; trying again will not help."""


class Asked(NamedTuple):
    """A request that can be sent."""

    method: str
    url: SplitResult
    headers: Mapping[str, str]
    body: bytes | None
    timeout: float
    most_bytes: int

    @property
    def target(self) -> str:
        """What stands in the first line of the request."""
        return (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")

    def __str__(self) -> str:
        """For messages: without the query and the password, which may be secrets."""
        return f"{self.method} {self.url.scheme}://{self.url.hostname}{self.url.path}"


def asked_of(ctx: StepContext) -> Asked:
    """The request of a step. Raises Unusable."""
    http = ctx.params["http"].evaluated_result if "http" in ctx.params else {}
    url = _url(http.get("url"))
    method = str(http.get("method", "GET")).upper()
    if method not in METHODS:  # an expression may have given it, so no schema has seen it
        raise Unusable(f"`http.method` is {method}; it must be one of {', '.join(METHODS)}")
    body = http.get("body")
    return Asked(
        method=method,
        url=url,
        headers={**_own_headers(ctx.launch), **_headers(http.get("headers", {}))},
        body=None if body is None else str(body).encode(),
        timeout=float(http.get("timeout", TIMEOUT)),
        most_bytes=int(http.get("most_bytes", MOST_BYTES)),
    )


def _url(text: object) -> SplitResult:
    try:
        url = urlsplit(str(text).strip())
        usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError as error:  # a port that is no number, half of an IPv6 address
        raise Unusable(f"`http.url` can not be used: {error}") from None
    if not usable or any(ord(each) <= 32 or ord(each) > 126 for each in url.path + url.query):
        raise Unusable(f"`http.url` is {text!r}; it must be such as https://example.com/a%20path")
    return url


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    headers = {str(name): str(value) for name, value in given.items()}
    for name, value in headers.items():
        if not name or not (name + value).isprintable() or ":" in name or not (name + value).isascii():
            raise Unusable(f"`{name}` in `http.headers` can not be sent: use plain characters on one line")
    return headers


def _own_headers(launch: Launch) -> dict[str, str]:
    """A start may be repeated after a crash. Whoever is asked knows by the key that it is the same attempt,
    and by the launch, which only grows, which of two is the newer.
    """
    key, whole = (quote(str(each), safe="[]") for each in (launch.attempt, launch))
    return {"Idempotency-Key": key, "Stretto-Launch": whole}
