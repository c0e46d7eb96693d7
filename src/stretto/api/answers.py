"""Records as answers: written by the wire codec of the type that a route says it returns."""

from typing import Any, ClassVar

from litestar import Request, Response
from litestar.response.base import ASGIResponse

from stretto.actions.preview import Preview
from stretto.model.wire import codec_of, to_json


class Wire(Response[Any]):
    """JSON of a record. Text stays text, and nothing is an empty body."""

    texts: ClassVar[str] = "text/plain"

    def to_asgi_response(  # type: ignore[override]  # the rest of the arguments is handed on as it comes
        self, app: None, request: Request[Any, Any, Any], **rest: Any
    ) -> ASGIResponse:
        if self.content is None:
            self.content, self.media_type = "", self.texts
        elif isinstance(self.content, str):
            self.media_type = self.texts
        else:
            told = request.route_handler.parsed_fn_signature.return_type.annotation
            tp = Preview if isinstance(self.content, Preview) else told
            self.content = to_json(codec_of(tp).encode(self.content))
        return super().to_asgi_response(app, request, **rest)
