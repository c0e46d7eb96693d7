"""`stretto run` on databases that are servers: set up by the first process, shared by all."""

import asyncio
import json
import signal
from pathlib import Path

import pytest
from tests.acceptance.processes import Running, number_in
from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import PostgresServer

CHAIN = """
workflow:
  id: chain
  jobs:
    - job: {id: first, type: Shell, rows: 0, command: 'echo rows=7 >> "$$STRETTO_OUTPUT"', transition: [long]}
    - job: {id: long, type: Shell, command: 'echo $$$$ > pid.txt; test -e go || sleep 60', transition: [last]}
    - job: {id: last, type: Shell, command: 'test ${first__rows} = 7'}
"""


async def _create(url: str, name: str) -> None:
    async with connection_to(url) as connection:
        await connection.execute(f"CREATE DATABASE {name}")


@pytest.fixture
def postgresql(own_postgresql: PostgresServer, tmp_path: Path) -> str:
    name = f"run_{abs(hash(str(tmp_path)))}"
    asyncio.run(_create(own_postgresql.url(), name))
    return own_postgresql.url(name)


@pytest.fixture
def mariadb(own_mariadb: MariadbServer, tmp_path: Path) -> str:
    name = f"run_{abs(hash(str(tmp_path)))}"
    own_mariadb.run(f"CREATE DATABASE {name}")
    return own_mariadb.url(name)


def stretto(folder: Path, *arguments: str) -> tuple[int, str, str]:
    with Running(*arguments, folder=folder) as command:
        return command.ended()


@pytest.mark.parametrize("server", ["postgresql", "mariadb"])
def test_a_run_that_is_killed_and_continued(
    server: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(server)
    (tmp_path / "chain.yaml").write_text(CHAIN)
    assert stretto(tmp_path, "db", "check", "--db", url)[0] == 1
    code, _, err = stretto(tmp_path, "runs", "--db", url)
    assert (code, "stretto db upgrade" in err) == (2, True)  # who only reads makes nothing
    with Running("run", "chain.yaml", "--db", url, folder=tmp_path) as command:
        number_in(tmp_path / "pid.txt")
        command.send(signal.SIGKILL)
        command.process.wait()
    assert stretto(tmp_path, "db", "check", "--db", url)[0] == 0
    (tmp_path / "go").touch()
    code, out, err = stretto(tmp_path, "run", "chain.yaml", "--db", url, "--resume", "--json")
    assert (code, json.loads(out)["status"]) == (0, "SUCCEEDED"), err
    _, listed, _ = stretto(tmp_path, "runs", "--db", url, "--json")
    assert [each["run"] for each in json.loads(listed)["runs"]] == ["chain/1/1"]
    assert "password" not in out.lower() + err.lower()
