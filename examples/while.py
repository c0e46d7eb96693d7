"""Again and again, until something has come: each pass is durable, and so is the time between them."""

from stretto import Engine, loop_while, step, when, workflow


@step
def ready(attempt: int) -> bool:
    print("looking,", attempt)
    return attempt >= 2


@step
def fetch(attempt: int) -> None:
    print("fetching after", attempt)


@workflow
def patience(most: int = 5) -> int:
    with loop_while(lambda v: (v.attempt < most) & ~v.done, attempt=0, done=False) as v:
        found = ready(v.attempt)
        with when(found):
            fetch(v.attempt)
        v.attempt = v.attempt + 1
        v.done = found
    return v.attempt


if __name__ == "__main__":
    with Engine("memory").sync() as engine:
        print("found after", engine.run(patience), "looks")
