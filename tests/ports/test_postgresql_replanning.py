"""Plans of a connection are made again as its use grows, and not between."""

import asyncio

from stretto.store.postgresql.address import address_of
from stretto.store.postgresql.connecting import connected


def test_plans_are_made_again_whenever_four_times_as_much_was_done(postgresql_url: str) -> None:
    async def new_plans() -> list[int]:
        connection = await connected(address_of(postgresql_url))
        plans = []
        try:
            await connection.execute("CREATE TEMPORARY TABLE probed (n INTEGER PRIMARY KEY)")
            await connection.execute("PREPARE probe AS SELECT n FROM probed WHERE n = 1")
            for use in range(1, 40):
                await connection.used()
                await connection.execute(
                    f"SET cpu_tuple_cost = {use}"
                )  # a plan that is kept knows nothing of it
                plans.append(str(await connection.fetch("EXPLAIN EXECUTE probe")))
        finally:
            await connection.close()
        return [use for use in range(1, 40) if use == 1 or plans[use - 1] != plans[use - 2]]

    assert asyncio.run(new_plans()) == [1, 8, 32]
