"""What is to be reached on two cores, durable by default, in one process unless said otherwise."""

from typing import Final

# By kind of step and database: W1 ms per step, W2 and W3 steps/s, W4 items/s, and p99 of W3 in seconds.
RATES: Final[dict[tuple[str, str], dict[str, float]]] = {
    ("noop", "sqlite"): {"W1": 0.05, "W2": 12_000, "W3": 8_000, "W4": 6_000, "W3 p99": 0.3},
    ("noop", "postgresql"): {"W1": 0.05, "W2": 8_000, "W3": 5_000, "W4": 4_000, "W3 p99": 0.5},
    ("async", "sqlite"): {"W1": 0.6, "W2": 5_000, "W3": 4_000, "W4": 3_500, "W3 p99": 0.5},
    ("async", "postgresql"): {"W1": 1.0, "W2": 3_500, "W3": 2_500, "W4": 2_500, "W3 p99": 0.8},
}
HELLO: Final = 0.6  # seconds
SERVER_READY: Final = 2.0
IDLE_MEMORY: Final = 100.0  # MB
PEAK_MEMORY: Final = 200.0
START_P50: Final = 3.0  # ms
START_P99: Final = 20.0
LIST: Final = 100.0  # ms of a page at a million runs
OVERVIEW: Final = 50.0
GRAPH: Final = 150.0  # of 10,000 steps
GRID: Final = 300.0
LARGE_READ: Final = 500.0  # of a run of 5,000 steps
HELD: Final = 50.0  # ms for which one request may hold the event loop
GROWTH: Final = 11.0  # times the time of a tenth of the work
LOOP_MEMORY: Final = 300.0  # MB of a foreach of 100,000
TWO_PROCESSES: Final = 1.6  # times one, where the database is not the limit
LIMITED: Final = 1.3  # times the time without limits, of a limit that never binds
SHARED: Final = 2.0  # the same, of a tag that eight groups share
FOLLOWED: Final = 1.2  # times the processor time per start without followers
OVER_DURABLE: Final = 20.0  # times the best peer with durable workflow state, on W2, W3 and W4
OVER_ALL: Final = 1.0  # times every peer, everywhere


FAR_AHEAD: Final = frozenset({"W2", "W3", "W4"})  # of peers that keep the state of workflows


def over_peer(workload: str, *, durable: bool) -> float:
    """How many times as fast as a peer we are to be; `durable` ones keep the state of workflows."""
    return OVER_DURABLE if durable and workload in FAR_AHEAD else OVER_ALL


def rate_target(kind: str, database: str, name: str) -> float | None:
    return RATES.get((kind, database), {}).get(name)
