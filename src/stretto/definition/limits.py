"""How large and how odd a definition may be. Every number is a setting; the defaults are ours."""

from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from stretto.model.properties import MOST_PARALLEL
from stretto.model.step import STEP_TYPES

KIB: Final = 1024
MIB: Final = 1024 * KIB


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds for reading and validating definitions."""

    text_bytes: int = 4 * MIB
    nesting: int = 128  # levels of lists and objects; about 30 loops inside each other
    nodes: int = 1_000_000  # keys, values, lists and objects of one text or request body
    alias_nodes: int = 100_000  # values that YAML aliases may stand for, all together
    problems: int = 1_000  # that are reported for one document
    steps: int = 10_000  # over all levels
    id_length: int = 128
    name_length: int = 256
    description_length: int = 16_384
    signals_per_trigger: int = 8
    foreach_concurrency: int = 500
    step_concurrency: int = 1_000
    workflow_concurrency: int = MOST_PARALLEL
    instance_step_concurrency: int = 999
    iterations: int = 1_000_000  # of one loop
    timeout_days: int = 120
    fire_gap_millis: int = 1_000  # the least time between two fires of a trigger
    empty_workflow: bool = True  # may `steps` be empty? Maestro's API says no
    step_types: AbstractSet[str] = frozenset(STEP_TYPES)  # names alone, or `StepTypes` that can say more


MAESTRO_LIMITS: Final = Limits(
    text_bytes=256 * KIB,
    steps=300,
    iterations=25_000,
    fire_gap_millis=120_000,
    empty_workflow=False,
)
