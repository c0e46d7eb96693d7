"""The tables of a database that has none yet."""

import asyncio
import logging

from stretto.config.database_url import masked
from stretto.store.opening import module_of
from stretto.store.sql.version import Standing

LOG = logging.getLogger(__name__)


async def make_tables(url: str) -> bool:
    """Make the tables, if the database is empty. One with other tables, or with those of another version, is
    left as it is: what becomes of it is for people to say.
    """
    upkeep = module_of(url, "upkeep")
    standing, _ = await asyncio.to_thread(upkeep.check, url)
    if standing is not Standing.EMPTY:
        return False
    await asyncio.to_thread(upkeep.upgrade, url)
    LOG.info("the tables of %s were made", masked(url))
    return True
