"""How a campaign is set, and its nodes.

default   as they come
short     leases so short that many deaths fit into minutes. Owners that die all the time are no reason for
          suspicion then
careful   the same, but with suspicion: what was about to be touched at a death is set aside, until an
          operator lets it go on
"""

from math import inf
from typing import Final

import msgspec

from stretto.config.settings import Config
from stretto.node.settings import NodeSettings
from stretto.store.settings import DatabaseSettings

DEFAULT: Final = Config()
CAREFUL: Final = Config(
    database=DatabaseSettings(beat_lasts=2_000, lock_within=1_500, idle_in_transaction=1_500),
    node=NodeSettings(
        beat_every=400,
        trust=1_600,
        watch=1_600,
        watch_longer=4_000,
        claim_every=2_000,
        fetch_late=500,
        sweep_every=2_000,
        ask_every=5_000,
        calm_after=5_000,
        retry_most=1_000,
        park_after=1_000,
        stop_within=10_000,
    ),
)
SHORT: Final = msgspec.structs.replace(
    CAREFUL, node=msgspec.structs.replace(CAREFUL.node, falls_to_be_careful=1_000_000)
)
LEASES: Final = {"default": DEFAULT, "short": SHORT, "careful": CAREFUL}

STORM_COMMANDS: Final = 2  # Shell steps that a node runs at once: most of them wait for a slot
NODE: Final = ("chaos.node",)


def config_of(leases: str, commands: str | None = None) -> Config:
    """The settings of a node. `commands`: how many Shell steps it runs at once."""
    config = LEASES[leases]
    if commands is None:
        return config
    few = msgspec.structs.replace(config.runtimes, commands=int(commands))
    return msgspec.structs.replace(config, runtimes=few)


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done.

    times     how often: kills, freezes, outages ...
    seconds   that the trouble may last; what has not been done by then is left out
    going     how many runs are kept under way
    waiting   runs that wait, and `working` steps that work, when the take-over is measured
    patience  seconds from the end of the trouble until all runs must have ended
    apart     seconds between two faults of the storm, at least and at most
    harms     of the storm, by name; none: all of them
    commands  how many Shell steps a node runs at once; None: as many as it likes
    keep      where the logs and the ledger go in the end; None: they are removed
    program   the module that is run as a node, and words before its own
    """

    store: str = "sqlite"
    scenario: str = "kills"
    times: int = 20
    seconds: float = inf
    nodes: int = 3
    going: int = 30
    leases: str = "short"
    seed: int = 1
    waiting: int = 20_000
    working: int = 500
    patience: float = 180.0
    apart: tuple[float, float] = (6.0, 14.0)
    harms: frozenset[str] = frozenset()
    commands: int | None = None
    keep: str | None = None
    program: tuple[str, ...] = NODE
