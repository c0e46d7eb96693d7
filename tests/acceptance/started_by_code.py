"""A program that asks for a run and nothing else: `python started_by_code.py URL REQUEST-ID how`.

It prints what it was answered. `how`: `die` ends it at once, as by `kill -9`; `stay` lets it end by itself.
"""

import asyncio
import json
import os
import signal
import sys

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.definition import parse_all
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.user import User
from stretto.ports.workflows import read_workflow
from stretto.store.opening import open_store

FLOW = """
workflow: {id: asked, owner: ann, jobs: [{job: {id: work, type: Shell, command: echo done >> done.txt}}]}
"""


async def main(url: str, request_id: str, how: str) -> None:
    ann = Caller(user=User(name="ann"))
    store = await open_store(url)
    (definition,) = parse_all(FLOW)
    if await read_workflow(store, "asked") is None:
        await publish(store, ann, definition)
    request = StartRequest(initiator=ManualInitiator(), request_id=request_id)
    made = await start(store, ann, "asked", "latest", request)
    print(json.dumps([made.workflow_instance_id, made.workflow_run_id, made.status]), flush=True)  # noqa: T201
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
