"""The shortest program of its guide, on SQLite."""

from dbos import DBOS


@DBOS.step()
def hello(name: str) -> str:
    return f"Hello, {name}!"


@DBOS.workflow()
def greet(name: str) -> str:
    return hello(name)


if __name__ == "__main__":
    DBOS(config={"name": "hello", "system_database_url": "sqlite:///hello.sqlite"})
    DBOS.launch()
    print(greet("world"))
    DBOS.destroy()
