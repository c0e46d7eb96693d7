"""Functions for worker processes, in a module that is imported quickly."""


def double(n: int) -> int:
    """The work of a step that does next to nothing."""
    return 2 * n
