"""A module that takes its time."""

import time

time.sleep(0.2)


def call() -> int:
    return 1
