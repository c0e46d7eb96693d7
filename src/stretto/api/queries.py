"""What may stand behind the `?` of a request."""

from typing import Final, cast

from litestar.handlers import BaseRouteHandler

from stretto.api.openapi.document import parameters
from stretto.api.routing import DRY_RUN, HARMLESS, PREFIX, Connection, Route
from stretto.model.errors import InvalidRequest
from stretto.model.suggest import did_you_mean

QUERY: Final = "query"  # where a route keeps the names, once they were asked for


def check_query(connection: Connection, handler: BaseRouteHandler) -> None:
    """A filter or a switch that nobody reads would change what is answered, or done, without a word."""
    if not connection.scope["query_string"] or not connection.scope["path"].startswith(PREFIX):
        return
    known = _names(handler)
    for name in connection.query_params:
        if name not in known and not (name == DRY_RUN and connection.scope.get("method") in HARMLESS):
            taken = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise InvalidRequest(
                f"This request has no parameter [{name[:80]}]", hint=did_you_mean(name, known) or taken
            )


def _names(handler: BaseRouteHandler) -> frozenset[str]:
    """Those that the description of the API has for it."""
    if QUERY not in handler.opt:
        found = parameters(cast("Route", handler))
        handler.opt[QUERY] = frozenset(each["name"] for each in found if each["in"] == "query")
    names: frozenset[str] = handler.opt[QUERY]
    return names
