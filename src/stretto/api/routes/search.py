"""Looking for something."""

from typing import Final

from stretto.actions.reading.search import Findings, search
from stretto.api.routing import Calling, Text, gets


@gets("/search")
async def look(call: Calling, q: Text) -> Findings:
    """Workflows whose id begins so or has the words, the run with this address (`etl/12/2`), request id or
    correlation id, tags and signals that begin so: ten of each.
    """
    return await search(call.store, call.reader, q)


ROUTES: Final = (look,)
