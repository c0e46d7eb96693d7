"""A module that nobody imports but workers."""


def answer() -> int:
    return 42
