"""Definitions before they are published."""

from typing import Final

from stretto.actions.check_text import CheckRequest, TextCheck, check_text
from stretto.api.routing import Calling, Given, posts


@posts("/definitions/check", reads=CheckRequest, user=False)
async def check(call: Calling, given: Given[CheckRequest]) -> TextCheck:
    """Check a text as a push would: every problem with its place, and what would come of it. Nothing is
    stored.
    """
    desk = call.desk
    return await check_text(
        call.store, call.reader, given, limits=desk.limits, params=desk.params, evaluate=desk.evaluate
    )


ROUTES: Final = (check,)
