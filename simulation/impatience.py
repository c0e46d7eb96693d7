"""Settings under which a node does at once, or in small portions, what it usually puts off."""

from typing import Final

from stretto.engine.settings import EngineSettings
from stretto.node.settings import NodeSettings

IMPATIENT: Final = NodeSettings(
    engine=EngineSettings(records_per_decision=1, live_leaves=3, expression_visits=60),
    live_leaves=4,
    park_after=300,
    sweep_every=5_000,
    ask_every=7_000,
    rows_per_commit=6,
    commits_at_once=1,
    events_per_turn=2,
    loads_at_once=1,
    runs_per_load=1,
    effects_at_once=1,
    calls_at_once=2,
    rollup_every=0,
)
