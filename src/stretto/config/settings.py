"""All settings in one record. Each part belongs to the package that obeys it, with its defaults."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from stretto.api.settings import ServerSettings
from stretto.client.settings import ClientSettings
from stretto.definition.limits import Limits
from stretto.engine.settings import EngineSettings
from stretto.node.settings import NodeSettings, RetentionSettings
from stretto.params import ParamLimits
from stretto.runtimes.expressions.pool import SECONDS, WORKERS
from stretto.runtimes.settings import RuntimeSettings
from stretto.sel import Limits as ExpressionLimits
from stretto.store.settings import DatabaseSettings

T = TypeVar("T")

FieldPath = tuple[str, ...]  # the attributes that lead to a value: ("node", "engine", "depth")


class ExpressionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where long expressions are evaluated, and how much any expression may use."""

    workers: int = WORKERS
    within: int = round(SECONDS * 1_000)  # milliseconds that the expressions of one step may take
    limits: ExpressionLimits = ExpressionLimits()


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set. Read once, at the start, and handed down as plain values."""

    database: DatabaseSettings = DatabaseSettings()
    node: NodeSettings = NodeSettings()
    limits: Limits = Limits()
    params: ParamLimits = ParamLimits()
    expressions: ExpressionSettings = ExpressionSettings()
    retention: RetentionSettings = RetentionSettings()
    runtimes: RuntimeSettings = RuntimeSettings()
    server: ServerSettings = ServerSettings()
    client: ClientSettings = ClientSettings()

    @property
    def engine(self) -> EngineSettings:
        """The engine's own part of a node's settings."""
        return self.node.engine

    @property
    def for_node(self) -> NodeSettings:
        """The node's part, with the limits that its engine obeys."""
        engine = msgspec.structs.replace(
            self.node.engine, expressions=self.expressions.limits, params=self.params
        )
        return msgspec.structs.replace(self.node, engine=engine)


def value_at(record: object, path: FieldPath) -> Any:
    """What stands at the end of a path."""
    for name in path:
        record = getattr(record, name)
    return record


def with_values(record: T, values: Mapping[FieldPath, Any]) -> T:
    """A copy of a record, with other values at the ends of some paths."""
    inner: dict[str, dict[FieldPath, Any]] = {}
    changes: dict[str, Any] = {}
    for (name, *rest), value in values.items():
        if rest:
            inner.setdefault(name, {})[tuple(rest)] = value
        else:
            changes[name] = value
    changes |= {name: with_values(getattr(record, name), below) for name, below in inner.items()}
    if isinstance(record, msgspec.Struct):
        return msgspec.structs.replace(record, **changes)
    return dataclasses.replace(record, **changes)  # type: ignore[type-var]  # the other kind of record
