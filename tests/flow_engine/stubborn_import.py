"""A module whose import never ends, whoever interrupts it."""

import time
from contextlib import suppress

while True:
    with suppress(BaseException):  # as careless code does
        time.sleep(0.01)
