"""What limits that never bind cost beside the same steps without: statements, not seconds."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.ports.statement_counts import Counted, counted
from tests.ports.test_sql_budget import ANN, CALM, AtOnce
from tests.waiting import until

from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.actions.tag_permits import set_tag_permit
from stretto.app import App, running
from stretto.definition import parse_all
from stretto.engine.records import RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.permit import TagPermitRequest
from stretto.model.request import StartRequest
from stretto.model.status import RunStatus
from stretto.ports.run_snapshot import read_run

STEPS = 30
ROUNDS = 20  # at most, of which the least counts: a node does other things now and then
MOST = {"postgresql": 0, "sqlite": 3, "mariadb": 3}
"""More for each step in a row: a look at the tags, and permits that come and go; PostgreSQL has it in one."""

ONCE = 20  # for the first step of a run, the last one, and what a node does now and then


@pytest.fixture(params=list(MOST))
def database(request: pytest.FixtureRequest) -> Iterator[tuple[str, Counted]]:
    with counted(request.param, request) as made:
        yield request.param, made


def chain(workflow_id: str, *, properties: str = "", workflow: str = "", step: str = "") -> str:
    steps = []
    for place in range(STEPS):
        after = f', transition: {{successors: {{s{place + 1}: "true"}}}}' if place + 1 < STEPS else ""
        steps.append(f"    - step: {{id: s{place}, type: Shell{step}{after}}}\n")
    head = f"properties: {{owner: ann{properties}}}\nworkflow:\n  id: {workflow_id}\n{workflow}  steps:\n"
    return head + "".join(steps)


CHAINS = {
    "plain": chain("plain"),
    "workflow": chain("workflow", properties=", step_concurrency: 1000"),
    "instance": chain("instance", workflow="  instance_step_concurrency: 999\n"),
    "tag": chain("tag", step=", tags: [gpu]"),
    "free": chain("free", step=", tags: [free]"),
}


class Asked:
    """Looks for the end of a run, and knows what the looks have cost."""

    def __init__(self, app: App, database: Counted) -> None:
        self._app = app
        self._database = database
        self._looks = 0

    async def statements_of(self, workflow_id: str) -> int:
        """How many statements a run takes."""
        before = await self._statements()
        request = StartRequest(initiator=ManualInitiator())
        made = await start(self._app.store, ANN, workflow_id, "latest", request, hints=self._app.hints)
        key = RunKey(workflow_id, made.workflow_instance_id, made.workflow_run_id)
        looks = self._looks
        await until(lambda: self._has_succeeded(key))
        after, looks = await self._statements(), self._looks - looks
        await self._has_succeeded(key)
        return after - before - looks * (await self._statements() - after)

    async def _has_succeeded(self, key: RunKey) -> bool:
        self._looks += 1
        row = await read_run(self._app.store, key)
        return row is not None and row.record.status is RunStatus.SUCCEEDED

    async def _statements(self) -> int:
        return await asyncio.to_thread(self._database.statements)


def costly(counts: dict[str, int], kind: str) -> dict[str, int]:
    """Those that cost too much beside the plain chain."""
    most = counts["plain"] + STEPS * MOST[kind] + ONCE
    return {name: count for name, count in counts.items() if count > most}


def test_limits_that_never_bind_cost_few_statements(database: tuple[str, Counted]) -> None:
    kind, made = database

    async def work() -> dict[str, int]:
        async with running(CALM, made.url, runtimes=lambda _around: {"Shell": AtOnce()}) as app:

            async def body() -> dict[str, int]:
                await set_tag_permit(app.store, ANN, TagPermitRequest(tag="gpu", max_allowed=1))
                for text in CHAINS.values():
                    (definition,) = parse_all(text)
                    await publish(app.store, ANN, definition, hints=app.hints)
                asked = Asked(app, made)
                least = {name: await asked.statements_of(name) for name in CHAINS}
                for _ in range(ROUNDS):
                    if not costly(least, kind):
                        break
                    for name, count in least.items():
                        least[name] = min(count, await asked.statements_of(name))
                return least

            return await app.watch(body())

    assert costly(asyncio.run(work()), kind) == {}
