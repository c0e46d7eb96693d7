"""The smallest workflow: two steps, one after the other."""

from stretto import Engine, step, workflow


@step
def greeting(name: str) -> str:
    return f"Hello, {name}!"


@step
def shout(words: str) -> str:
    return words.upper()


@workflow
def hello(name: str = "world") -> str:
    return shout(greeting(name))


if __name__ == "__main__":
    with Engine("memory").sync() as engine:
        print(engine.run(hello, name="Ann"))
