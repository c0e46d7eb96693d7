"""Measures peers and ourselves in turn: python -m benchmarks.peers [PEER...]."""

import argparse
from typing import Any, Final

from benchmarks.harness import results
from benchmarks.harness.databases import databases
from benchmarks.harness.targets import over_peer
from benchmarks.peers.catalogue import PEERS, Peer
from benchmarks.peers.turns import compared
from benchmarks.report.page import write

NAMES: Final = tuple(dict.fromkeys(peer.folder for peer in PEERS))


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    arguments.add_argument("peers", nargs="*", metavar="PEER", help=f"of {', '.join(NAMES)}; all")
    arguments.add_argument("--quick", action="store_true", help="little work, and nothing is kept of it")
    chosen = arguments.parse_args()
    unknown = set(chosen.peers) - set(NAMES)
    if unknown:
        arguments.error(f"there is no peer {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    kept = results.read(results.PEERS)
    for peer in PEERS:
        if chosen.peers and peer.folder not in chosen.peers:
            continue
        print(f"\n{peer.title}", flush=True)
        with databases() as into:
            wanted = peer.quick if chosen.quick else peer
            found = compared(wanted, into, lambda row, peer=peer: print(line(row, peer), flush=True))  # type: ignore[misc]
        if chosen.quick:
            continue
        kept[peer.key] = {**found, "about": results.about()}
        results.write(results.PEERS, {each.key: kept[each.key] for each in PEERS if each.key in kept})
    if not chosen.quick:
        write()


def line(row: dict[str, Any], peer: Peer) -> str:
    wanted, ratio = over_peer(row["workload"], durable=peer.durable), row["ratio"]
    what = f"{row['workload']} {row['size']:>6,} {row['unit']:<8}"
    figures = f"peer {shown(row['peer']):>9} ours {shown(row['async']):>9}"
    ratios = f"{ratio['async']:.3g} x (NoOp {ratio['noop']:.3g} x), target {wanted:g}"
    return f"  {what} {figures}  {ratios}  {'ok' if ratio['async'] >= wanted else 'MISS'}"


def shown(measured: dict[str, Any]) -> str:
    figure = measured["p50"] * 1_000 if measured["figure"] is None else measured["figure"]
    return f"{figure:,.4g}"


if __name__ == "__main__":
    main()
