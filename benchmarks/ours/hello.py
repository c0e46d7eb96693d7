"""The shortest program: a workflow of one step, on a database beside it."""

import asyncio

from stretto import Engine, step, workflow


@step
async def hello(name: str) -> str:
    return f"Hello, {name}!"


@workflow
def greet(name: str) -> str:
    return hello(name)


async def main() -> None:
    async with Engine("sqlite:///hello.db") as engine:
        said = await engine.run(greet, name="world")
    print(said)


if __name__ == "__main__":
    asyncio.run(main())
