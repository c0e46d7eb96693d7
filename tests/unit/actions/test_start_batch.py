"""Requests that come together: one transaction, and an answer for each."""

import asyncio

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import PendingStart, start_batch
from stretto.definition import parse
from stretto.model.errors import InvalidRequest, StrettoError, WrongState
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse, StartStatus
from stretto.model.user import User
from stretto.ports.store import Store
from stretto.store.opening import open_store

ANN = Caller(user=User(name="ann"))
FLOW = (
    "{properties: {owner: ann, run_strategy: RULE}, workflow: {id: w, params: {n: {value: 1, type: LONG}}, "
    "steps: [{step: {id: s, type: NoOp}}]}}"
)


def asked(name: str | None = None, **params: ParamDefinition) -> StartRequest:
    return StartRequest(initiator=ManualInitiator(), request_id=name, run_params=params or None)


async def made(rule: str = "parallel") -> Store:
    store = await open_store("memory:")
    await publish(store, ANN, parse(FLOW.replace("RULE", rule)))
    return store


async def start_many(
    store: Store, caller: Caller, workflow_id: str, version: str, requests: list[StartRequest]
) -> list[StartResponse | StrettoError]:
    pending = [PendingStart(caller, version, request) for request in requests]
    return await start_batch(store, workflow_id, pending)


def shown(answers: list[StartResponse | StrettoError]) -> list[object]:
    return [
        (each.workflow_instance_id, each.status) if isinstance(each, StartResponse) else type(each)
        for each in answers
    ]


def test_each_has_its_answer() -> None:
    async def work() -> None:
        store = await made()
        bad = ParamDefinition(type=ParamType.LONG, expression="nowhere + 1")
        answers = await start_many(
            store, ANN, "w", "active", [asked("a"), asked(n=bad), asked("b"), asked("a"), asked()]
        )
        created, again = StartStatus.CREATED, StartStatus.DUPLICATED
        found = shown(answers)
        assert found[:1] + found[2:] == [(1, created), (2, created), (1, again), (3, created)]
        assert isinstance(answers[1], StrettoError)
        assert shown(await start_many(store, ANN, "w", "active", [asked("b")])) == [(2, again)]

    asyncio.run(work())


def test_all_are_refused() -> None:
    async def work() -> None:
        store = await made()
        unknown = StartRequest(initiator=ManualInitiator(), step_run_params={"nowhere": {}})
        assert shown(await start_many(store, ANN, "w", "active", [unknown])) == [InvalidRequest]

    asyncio.run(work())


def test_the_strategy_refuses_some() -> None:
    async def work() -> None:
        store = await made("first_only")
        found = shown(await start_many(store, ANN, "w", "active", [asked("a"), asked("b")]))
        assert found[0] == (1, StartStatus.CREATED)
        assert found[1] in {WrongState, (2, StartStatus.STOPPED)}
        strict = await made("strict_sequential")
        assert len(await start_many(strict, ANN, "w", "active", [asked("a"), asked("b")])) == 2

    asyncio.run(work())
