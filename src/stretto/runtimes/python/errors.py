"""What the code of a step raises to say more than that it failed."""

import asyncio


class Fatal(Exception):
    """The step has failed, and another try is of no use."""


NotRetryable = Fatal


class PlatformTrouble(Exception):
    """Not the code failed but what it runs on: tried again within the platform's budget."""


class Veto(Exception):
    """A filter does not let a step run."""


class Cancelled(asyncio.CancelledError):
    """The step was told to end. No `except Exception` swallows it."""


class TooLarge(Exception):
    """A result that can not be stored. The text is for its author."""


class Refused(Exception):
    """The function of a step can not be called as the step asks for. The text is for its author."""
