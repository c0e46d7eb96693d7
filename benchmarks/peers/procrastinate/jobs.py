"""The tasks, as a worker imports them."""

import os

from procrastinate import App, PsycopgConnector

APP = App(connector=PsycopgConnector(conninfo=os.environ["BENCH_DATABASE"]))


@APP.task
async def nothing(number: int) -> None:
    pass
