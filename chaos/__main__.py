"""Does harm to nodes and databases, and says what came of it: python -m chaos --store sqlite --kills 20."""

import argparse
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Final

import msgspec
from tests.ports.postgresql_server import Missing

from chaos.campaign import SCENARIOS, STORES, fitting, play
from chaos.disk import NoDisk
from chaos.report import Report, text_of
from chaos.settings import LEASES, STORM_COMMANDS, Campaign
from chaos.takeover import TakeOver, text_of_take_over

ALL: Final = "all"
STORM_LASTS: Final = 120.0  # seconds


def main() -> None:
    chosen = _parser().parse_args()
    found = [
        _played(each)
        for store in (STORES if chosen.store == ALL else [chosen.store])
        for each in _campaigns(chosen, store)
    ]
    reports = [each for each in found if each is not None]
    if chosen.json:
        chosen.json.write_bytes(msgspec.json.format(msgspec.json.encode(reports), indent=2) + b"\n")
    sys.exit(not all(each.is_well for each in reports))


def _campaigns(chosen: argparse.Namespace, store: str) -> Iterator[Campaign]:
    scenarios = fitting(store) if chosen.scenario == ALL else [chosen.scenario]
    for scenario in scenarios:
        yield Campaign(
            store=store,
            scenario=scenario,
            times=chosen.kills if scenario == "kills" else chosen.times,
            seconds=chosen.seconds or (STORM_LASTS if scenario == "storm" else inf),
            nodes=chosen.nodes or (1 if (store, scenario) == ("sqlite", "storm") else 3),
            going=chosen.going,
            leases=chosen.leases or ("default" if scenario in {"storm", "takeover"} else "short"),
            seed=chosen.seed,
            harms=frozenset(chosen.harm),
            keep=chosen.keep,
            commands=STORM_COMMANDS if scenario == "storm" else None,
            waiting=chosen.waiting,
            working=chosen.working,
        )


def _played(campaign: Campaign) -> Report | TakeOver | None:
    """What came of it; None: it can not be had here, and that is said."""
    try:
        found = play(campaign)
    except (Missing, NoDisk) as error:
        print(f"{campaign.store}, {campaign.scenario}: LEFT OUT, {error}", flush=True)
        return None
    print(text_of(found) if isinstance(found, Report) else text_of_take_over(found), flush=True)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    say = parser.add_argument
    say("--store", choices=[*STORES, ALL], default="sqlite")
    say("--scenario", choices=[*SCENARIOS, ALL], default="kills")
    say("--kills", type=int, default=20, metavar="N", help="nodes that are killed")
    say("--times", type=int, default=4, metavar="N", help="how often, in all other scenarios")
    say("--seconds", type=float, metavar="S", help="after which no more harm is done; 120 for the storm")
    say("--nodes", type=int, metavar="N", help="3, but for the storm on SQLite: 1")
    say("--going", type=int, default=30, metavar="N", help="runs that are kept under way")
    say("--leases", choices=sorted(LEASES), help="short, but for the storm and the take-over")
    say("--seed", type=int, default=1, metavar="N", help="of the dice: who is killed when")
    say("--waiting", type=int, default=20_000, metavar="N", help="runs that wait, at the take-over")
    say("--working", type=int, default=500, metavar="N", help="steps that work, at the take-over")
    say("--harm", action="append", default=[], metavar="NAME", help="of the storm: only these")
    say("--keep", metavar="FOLDER", help="where logs and the ledger of the campaign go in the end")
    say("--json", type=Path, metavar="FILE", help="write the figures there, too")
    return parser


if __name__ == "__main__":
    main()
