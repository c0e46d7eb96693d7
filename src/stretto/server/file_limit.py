"""How many files a server may have open, and what it offers if these are few."""

import sys
from typing import Final

from stretto.config import Config
from stretto.config.catalogue import SETTINGS
from stretto.config.settings import with_values
from stretto.model.errors import PreconditionFailed

OWN: Final = 160  # files that a process needs for itself: libraries, logs of steps, event loop, sockets
OF_A_DATABASE_CONNECTION: Final = 3  # of SQLite: the file, its log, its index
OF_A_COMMAND: Final = 4  # its guard, its outputs, its log
FEWEST: Final = 8  # of connections and of commands, below which a server is of no use
CONNECTIONS: Final = "server.connections"
COMMANDS: Final = "runtimes.commands"


def raise_limit() -> int | None:
    """As many as the system allows to this process; None: it does not say."""
    if sys.platform == "win32":  # pragma: no cover
        return None
    import resource  # noqa: PLC0415 - POSIX only

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return None if hard == resource.RLIM_INFINITY else hard


def fitted(config: Config, most: int | None) -> tuple[Config, str | None]:
    """Settings that so many files are enough for, and what to say if others were asked for."""
    connections, commands = config.server.connections, config.runtimes.commands
    reserved = OWN + OF_A_DATABASE_CONNECTION * config.database.connections
    wanted = connections + OF_A_COMMAND * commands
    if most is None or reserved + wanted <= most:
        return config, None
    fewest = reserved + FEWEST * (1 + OF_A_COMMAND)
    if most < fewest:
        raise PreconditionFailed(
            f"this process may have {most} files open, and a server needs {fewest}",
            hint=f"raise the limit: ulimit -n {reserved + wanted}",
        )
    share = (most - reserved) / wanted
    fits = {
        CONNECTIONS: min(connections, max(FEWEST, int(connections * share))),
        COMMANDS: min(commands, max(FEWEST, int(commands * share))),
    }
    told = (
        f"this process may have {most} files open, {reserved + wanted} are needed: {CONNECTIONS} is"
        f" {fits[CONNECTIONS]} instead of {connections}, {COMMANDS} {fits[COMMANDS]} instead of {commands};"
        f" `ulimit -n {reserved + wanted}` before the start gives what was asked for"
    )
    return with_values(config, {SETTINGS[name].path: value for name, value in fits.items()}), told
