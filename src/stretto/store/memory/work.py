"""Attempts that a pool on some node may take."""

import msgspec

from stretto.engine.records import AttemptKey
from stretto.ports.groups import NodeState
from stretto.ports.paging import Slice
from stretto.ports.rows import NodeId
from stretto.ports.work import FreeWork, PoolUse, Work, WorkPage, WorkSelection
from stretto.store.memory.database import Part
from stretto.store.memory.paging import select, slice_of


class MemoryPools(Part):
    """See `ports.work`."""

    async def take_work(self, node: NodeId, pool: str, attempt: AttemptKey | None = None) -> Work | None:
        with self._db.transaction():
            taker = self._db.nodes.get(node)
            free = [key for _since, key in self._db.free_work[pool] if attempt in {None, key}]
            if taker is None or taker.state is not NodeState.ALIVE or not free:
                return None
            work = self._db.work[free[0]]
            taken = msgspec.structs.replace(work, taken_by=node, take=work.take + 1)
            self._db.work.put(free[0], taken)
            return taken

    async def pool_work(self, selection: WorkSelection) -> Slice[Work]:
        db = self._db
        with db.transaction():
            match selection:
                case FreeWork(pool, before, most):
                    free = [key for since, key in db.free_work[pool] if since < before]
                    return Slice(elements=tuple(db.work[key] for key in free[:most]))
                case WorkPage(pool, cut):
                    return slice_of(select(db.work_of_pool[pool], cut), db.work.__getitem__)

    async def pools(self, *, most: int = 10_000) -> list[PoolUse]:
        db = self._db
        with db.transaction():
            return [self._use(pool, most) for pool in sorted(map(str, db.work_of_pool.buckets()))]

    def _use(self, pool: str, most: int) -> PoolUse:
        free, everything = self._db.free_work[pool], self._db.work_of_pool[pool]
        return PoolUse(
            pool=pool,
            ready=min(len(free), most),
            busy=min(len(everything) - len(free), most),
            oldest=free[0][0] if free else None,
        )
