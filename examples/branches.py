"""Branches: by a condition, by a value, and when a step has failed."""

from stretto import Engine, either, on_failure, otherwise, step, switch, text, when, workflow


@step
def count(table: str) -> int:
    if table == "secret":
        raise PermissionError(table)
    return len(table) * 100


@step
def copy(table: str, how: str) -> str:
    return f"{table} copied {how}"


@step
def tell(words: str) -> str:
    return words


@workflow
def transfer(table: str = "events", target: str = "lake") -> str:
    size = count(table)
    with on_failure(size):
        failed = tell(text("nobody may read ", table))
    with when(size > 500):
        large = copy(table, "in parts")
    with otherwise():
        small = copy(table, "at once")
    copied = either(large, small, failed)
    with switch(target) as case:
        with case("lake", "warehouse"):
            told = tell(text(copied, " into the ", target))
        with case.default():
            other = tell(text(copied, ", but where is ", target, "?"))
    return either(told, other)


if __name__ == "__main__":
    with Engine("memory").sync() as engine:
        print(engine.run(transfer))
        print(engine.run(transfer, table="log", target="attic"))
        print(engine.run(transfer, table="secret"))
