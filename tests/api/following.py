"""Server-sent events as a client hears them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from tests.api.serving import PATIENCE, Served


class Message:
    """`id`: the last one that came, with this message or before it, as a browser keeps it."""

    def __init__(self, text: str, last_id: str) -> None:
        fields = dict(line.partition(": ")[::2] for line in text.splitlines())
        self.has_id = "id" in fields
        self.id = fields.get("id", last_id)
        self.name = fields.get("event", "")
        self.data: Any = json.loads(fields["data"]) if "data" in fields else None


def messages(response: httpx.Response) -> Iterator[Message]:
    text = last_id = ""
    for part in response.iter_text():
        text += part
        while "\n\n" in text:
            message, _, text = text.partition("\n\n")
            heard = Message(message, last_id)
            last_id = heard.id
            yield heard


def follow(server: Served, *topics: str, **rest: Any) -> Any:
    params = [*(("topic", each) for each in topics), *rest.items()]
    return server.client.stream("GET", "/api/v3/events", params=params, timeout=PATIENCE)
