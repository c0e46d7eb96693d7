"""What steps of a server call, by its entrypoint."""


def large(size: int) -> str:
    return "y" * size
