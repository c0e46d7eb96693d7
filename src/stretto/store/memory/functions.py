"""Records of functions, and results of theirs that are kept for a while."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from stretto.ports.functions import FunctionRecord
from stretto.ports.groups import NodeState
from stretto.ports.rows import NodeId
from stretto.store.memory.database import Part
from stretto.store.memory.schema import KeptResult


class MemoryFunctions(Part):
    """See `ports.functions` and `ports.cache`."""

    async def function_records(self, names: Collection[str] | None = None) -> Sequence[FunctionRecord]:
        with self._db.transaction():
            wanted = sorted(self._db.functions if names is None else set(names))
            return [self._db.functions[name] for name in wanted if name in self._db.functions]

    async def put_function(self, record: FunctionRecord) -> FunctionRecord | None:
        with self._db.transaction():
            before = self._db.functions.get(record.name)
            self._db.functions.put(record.name, record)
            return before

    async def advertise(self, node: NodeId, functions: Collection[str]) -> bool:
        with self._db.transaction():
            row = self._db.nodes.get(node)
            if row is None or row.state is NodeState.DEAD:
                return False
            self._db.nodes.put(node, msgspec.structs.replace(row, advertised=row.advertised + 1))
            self._db.advertised.put(node, frozenset(functions))
            return True

    async def advertised(self, nodes: Collection[NodeId] | None = None) -> Mapping[NodeId, frozenset[str]]:
        with self._db.transaction():
            rows = self._db.nodes
            asked = [each for each in rows if rows[each].state is NodeState.ALIVE] if nodes is None else nodes
            return {each: known for each in sorted(asked) if (known := self._db.advertised.get(each))}

    async def cached(self, key: str, now: int) -> str | None:
        with self._db.transaction():
            kept = self._db.results.get(key)
            return kept.value if kept is not None and kept.until > now else None

    async def keep(self, key: str, value: str, until: int) -> None:
        with self._db.transaction():
            self._db.results.put(key, KeptResult(value, until))

    async def keep_first(self, key: str, value: str, now: int, lasting: int) -> str | None:
        with self._db.transaction():
            kept = self._db.results.get(key)
            if kept is not None and kept.until > now and kept.value != value:
                return kept.value
            self._db.results.put(key, KeptResult(value, now + lasting))
            return None

    async def forget(self, key: str, value: str) -> None:
        with self._db.transaction():
            kept = self._db.results.get(key)
            if kept is not None and kept.value == value:
                self._db.results.pop(key)
