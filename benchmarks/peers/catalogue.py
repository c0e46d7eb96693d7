"""Who is measured beside us, on what, and how much of each workload."""

from typing import Any, Final, NamedTuple

from benchmarks.harness.workloads import BY_NAME

ALL: Final = ("W1", "W2", "W3", "W4", "W6")
NO_CUT: Final[dict[str, int]] = {}


class Peer(NamedTuple):
    """One system as its own documentation recommends it. `database` is what it keeps its state in."""

    folder: str
    title: str
    database: str  # sqlite, postgresql, redis or files
    workloads: tuple[str, ...] = ALL
    durable: bool = False  # whether the state of a workflow survives a crash of everything
    queue: bool = False  # nothing but a queue: no join, no state
    sizes: dict[str, int] = NO_CUT  # where the whole would take too long
    rounds: int = 3
    hello: bool = False

    @property
    def beside(self) -> str:
        """The database of ours that is measured in turn with it."""
        return "postgresql" if self.database == "postgresql" else "sqlite"

    @property
    def about(self) -> dict[str, Any]:
        """What is written of it beside its figures."""
        return {"title": self.title, "durable": self.durable, "queue": self.queue, "beside": self.beside}

    @property
    def quick(self) -> "Peer":
        """A twentieth of the work, once: whether it runs, not how fast."""
        sizes = {name: self.sizes.get(name, BY_NAME[name].size) // 20 + 1 for name in self.workloads}
        return self._replace(sizes=sizes, rounds=1)

    @property
    def key(self) -> str:
        return f"{self.folder}/{self.database}"


PEERS: Final = (
    Peer("dbos", "DBOS, SQLite", "sqlite", durable=True, hello=True),
    Peer("dbos", "DBOS, PostgreSQL", "postgresql", durable=True),
    Peer("dramatiq", "Dramatiq, Redis", "redis", ("W2", "W4", "W6"), queue=True),
    Peer("huey", "Huey, Redis", "redis", ("W2", "W4", "W6"), queue=True),
    Peer("procrastinate", "Procrastinate, PostgreSQL", "postgresql", ("W2", "W4"), queue=True),
    Peer("celery", "Celery, Redis", "redis", hello=True),
    Peer("luigi", "Luigi, marker files", "files", ("W1", "W2", "W3", "W4"), hello=True),
    Peer(
        "prefect",
        "Prefect server, PostgreSQL",
        "postgresql",
        ("W1", "W2", "W3", "W4"),
        durable=True,
        sizes={"W3": 50, "W4": 1_000},
        rounds=2,
        hello=True,
    ),
    Peer(
        "dagster",
        "Dagster in process, SQLite",
        "sqlite",
        ("W1", "W2", "W3", "W4"),
        durable=True,
        sizes={"W2": 200, "W3": 20, "W4": 200},
        rounds=1,
        hello=True,
    ),
    Peer(
        "airflow",
        "Airflow LocalExecutor, PostgreSQL",
        "postgresql",
        durable=True,
        sizes={"W1": 20, "W2": 100, "W3": 20, "W4": 100, "W6": 5},
        rounds=1,
    ),
)
