"""A program that serves while the command line can not be imported; it prints what it saw."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec

import httpx


def is_command_line(module: str) -> bool:
    return module == "stretto.cli" or module.startswith("stretto.cli.")


class NoCommandLine:
    """Refuses to find `stretto.cli`, and whatever is in it."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: object = None) -> ModuleSpec | None:
        if is_command_line(name):
            message = f"{name} is blocked"
            raise ImportError(message)
        return None


sys.meta_path.insert(0, NoCommandLine())

from stretto import step, workflow  # noqa: E402
from stretto.actions.caller import Caller  # noqa: E402
from stretto.api.settings import ServerSettings  # noqa: E402
from stretto.config import Config  # noqa: E402
from stretto.model.user import User  # noqa: E402
from stretto.server.interrupts import Interrupts  # noqa: E402
from stretto.server.lifecycle import Notices, ServerOptions, run, serve  # noqa: E402

ANN = {"user": "ann"}


@step
def double(number: int) -> int:
    return 2 * number


@workflow
def doubled(number: int = 21) -> int:
    return double(number)


class Heard(Notices):
    def __init__(self) -> None:
        self.url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.loaded: dict[str, int] = {}

    def started(self, url: str, loaded: Mapping[str, int]) -> None:
        self.loaded |= loaded
        self.url.set_result(url)


async def use(url: str) -> str:
    """Start a run over HTTP, and follow it to its end."""
    async with httpx.AsyncClient(
        base_url=f"{url}/api/v3/workflows/doubled", headers=ANN, timeout=60
    ) as client:
        body = {"initiator": {"type": "manual"}}
        started = await client.post("/versions/latest/actions/start", json=body)
        started.raise_for_status()
        while True:
            found = (await client.get("/instances/1")).raise_for_status().json()
            if found["status"] not in {"CREATED", "IN_PROGRESS"}:
                return str(found["status"])
            await asyncio.sleep(0.02)


async def main() -> None:
    notices, interrupts = Heard(), Interrupts()
    options = ServerOptions(
        url="memory://",
        caller=Caller(user=User(name="ann")),
        config=Config(server=ServerSettings(port=0)),
        definitions=(doubled.definition,),
        flows=(doubled,),
    )
    server = asyncio.create_task(serve(options, notices, interrupts))
    server.add_done_callback(lambda _: notices.url.cancel())  # if it ends before it listens
    status = await use(await notices.url)
    interrupts.come(0)
    print(f"{notices.loaded} {status}, exit code {await server}")  # noqa: T201


if __name__ == "__main__":
    run(main())
    print("command line imported:", any(map(is_command_line, sys.modules)))  # noqa: T201
