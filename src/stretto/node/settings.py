"""Numbers that a node depends on. Times are in milliseconds unless the name says otherwise."""

from typing import Final

import msgspec

from stretto.engine.settings import EngineSettings

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a node behaves. The defaults are those of the protocol."""

    engine: EngineSettings = EngineSettings()

    beat_every: int = 2_000
    trust: int = 8_000  # after a beat was sent, without an answer to a later one
    watch: int = 8_000  # so long must an expired beat stand still before its node is buried: as long as trust
    watch_longer: int = 20_000  # one that stands still for so long is buried, whatever the clock says
    claim_every: int = 10_000
    give_up_at_once: int = 8  # groups that are given up per beat, when a node has joined

    fetch_soon: int = 200  # after a fetch that found something
    fetch_late: int = 2_000  # the slowest
    sweep_every: int = 15_000
    ask_every: int = 60_000  # whether work that another node does is still there
    calm_after: int = 60_000  # a group that fell is held in peace for so long, then that is forgotten
    falls_to_be_careful: int = 1

    rows_per_commit: int = 2_000
    rows_beside_others: int = 200  # that one run writes at once while others have something to do
    commits_at_once: int = 2
    events_per_turn: int = 500  # of one group, before others have their turn
    loads_at_once: int = 8
    runs_per_load: int = 64
    effects_at_once: int = 64  # that need the store
    calls_at_once: int = 1_000  # of runtimes
    retry_first: int = 100  # after a store failed; doubled up to retry_most
    retry_most: int = 10_000

    live_leaves: int = 100_000  # leaf steps of iterations in memory; more iterations wait
    park_after: int = 5_000  # a run that only waits leaves memory after so long
    most_active: int = 10_000  # runs in memory; those that wait longest leave first
    rollup_every: int = 1_000
    stop_within: int = 30_000


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long ended things are kept; None: for ever. Nothing unfinished is ever forgotten."""

    runs: int | None = 90 * DAY  # instances with all their runs; request ids live as long as their run
    log: int | None = 7 * DAY  # the change log, from which events are read
    signals: int | None = 90 * DAY  # announcements, by age alone: a dependency matches what is kept
    nodes: int | None = 7 * DAY  # nodes that were buried
    outcomes: int | None = 365 * DAY  # hourly counters of how runs ended
    every: int = HOUR // 6  # between two looks
    rows_at_once: int = 500  # that one transaction deletes
