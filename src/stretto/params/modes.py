"""Who may change a parameter, and when: tables, in the words of the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from stretto.model.param import InternalParamMode, ParamMode, ParamSource

M, S = ParamMode, ParamSource

STRICTNESS: Final[Mapping[ParamMode, int]] = {mode: rank for rank, mode in enumerate(ParamMode)}

IMPLIED: Final[Mapping[InternalParamMode, ParamMode]] = {
    InternalParamMode.OPTIONAL: M.MUTABLE,
    InternalParamMode.REQUIRED: M.MUTABLE,
    InternalParamMode.PROVIDED: M.MUTABLE,
    InternalParamMode.RESERVED: M.CONSTANT,
}

AT_START: Final = frozenset({M.MUTABLE, M.MUTABLE_ON_START_RESTART, M.MUTABLE_ON_START})
AT_RESTART: Final = frozenset({M.MUTABLE, M.MUTABLE_ON_START_RESTART})
BY_OUTPUT: Final = frozenset({M.MUTABLE})

# Sources that are not listed may change what a start may change.
CHANGEABLE: Final[Mapping[ParamSource, frozenset[ParamMode]]] = {
    S.RESTART: AT_RESTART,
    S.OUTPUT_PARAMETER: BY_OUTPUT,
}

# Tuples, because they are asked for every parameter, and an enum is compared faster than it is hashed.
SYSTEM_SOURCES: Final = (S.SYSTEM, S.TEMPLATE_SCHEMA, S.SYSTEM_INJECTED, S.SYSTEM_DEFAULT)
UPSTREAM_SOURCES: Final = (S.SUBWORKFLOW, S.FOREACH, S.WHILE, S.TEMPLATE)

# Who gives a step's parameter with a request, instead of what its definition says.
OVERRIDES: Final = (S.LAUNCH, S.RESTART)

# What a restart does with a parameter that nobody touches: these are evaluated again, others are kept.
EVALUATED_AGAIN: Final = frozenset({M.IMMUTABLE})


def stricter(one: ParamMode, other: ParamMode) -> ParamMode:
    """The one of two modes that allows less."""
    if one is other:
        return one
    return one if STRICTNESS[one] >= STRICTNESS[other] else other


@dataclass(frozen=True, slots=True)
class Stage:
    """One layer of a merge: where its parameters come from, and by which right.

    An upstream stage carries a parent run's parameters into its child: a weaker mode is ignored instead of
    refused, and what the parent did not define itself goes through. In a restart only what a restart may
    change can change, whatever the source.
    """

    source: ParamSource
    upstream: bool = False
    restart: bool = False

    @property
    def is_system(self) -> bool:
        return self.source in SYSTEM_SOURCES

    @property
    def changeable(self) -> frozenset[ParamMode]:
        """The modes of parameters that this stage may change."""
        allowed = CHANGEABLE.get(self.source, AT_START)
        return allowed & AT_RESTART if self.restart else allowed

    @classmethod
    def of_run(cls, source: ParamSource, *, restart: bool = False) -> Self:
        """The stage of a run's own parameters; upstream if a parent step started the run."""
        return cls(source, upstream=source in UPSTREAM_SOURCES, restart=restart)
