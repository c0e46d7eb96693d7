"""Everything at a glance."""

from typing import Final

from stretto.actions.reading.overview import OverviewOfAll, get_overview
from stretto.actions.reading.windows import window_in
from stretto.api.routing import Calling, OptionalText, gets


@gets("/overview")
async def read_overview(call: Calling, window: OptionalText = None) -> OverviewOfAll:
    """Which workflows fail, what runs and waits, what is late and what comes, how runs ended in the last
    24 hours or the `window` (`1h` to `31d`), how long that took, and how the nodes and the database are.
    """
    return await get_overview(call.store, call.reader, call.desk.clock, window_in(window))


ROUTES: Final = (read_overview,)
