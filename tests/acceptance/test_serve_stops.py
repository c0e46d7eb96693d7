"""How `stretto serve` starts without its database, stops under load, and what its probes say of trouble."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from tests.acceptance.processes import PATIENCE, Running, until
from tests.acceptance.serving import Serving
from tests.acceptance.test_serve import WORKFLOW
from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_server import PostgresServer

SERVERS = [PostgresServer, MariadbServer]
AnyServer = PostgresServer | MariadbServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.yaml").write_text(WORKFLOW)
    return tmp_path


@contextmanager
def started(kind: type[AnyServer]) -> Iterator[tuple[AnyServer, str]]:
    """A server with an empty database on it."""
    server = kind()
    try:
        if isinstance(server, MariadbServer):
            server.run("CREATE DATABASE fresh")
        yield server, server.url("postgres" if isinstance(server, PostgresServer) else "fresh")
    finally:
        server.close()


# --------------------------------------------------------------------------------------------------- starting
@pytest.mark.parametrize("kind", SERVERS)
def test_an_empty_database_is_set_up_by_whoever_comes_first(kind: type[AnyServer], folder: Path) -> None:
    """Three processes at once: one makes the tables, the others wait for it."""
    with started(kind) as (_, url):
        commands = [
            Running("serve", "--port", "0", "--db", url, "--load", "w.yaml", folder=folder) for _ in range(3)
        ]
        try:
            for each in commands:
                each.until_it_says("Ctrl-C ends it")
        finally:
            for each in commands:
                each.send(signal.SIGTERM)
        assert [each.ended()[0] for each in commands] == [0, 0, 0]


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_waits_for_its_database(kind: type[AnyServer], folder: Path) -> None:
    with started(kind) as (database, url):
        database.stop()
        with Running("serve", "--port", "18713", "--db", url, "--load", "w.yaml", folder=folder) as server:
            server.until_it_says("waiting for the database: ")
            base = "http://127.0.0.1:18713"
            assert httpx.get(f"{base}/health").status_code == 200
            ready = httpx.get(f"{base}/readyz")
            assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
            assert "can not be opened" in ready.json()["reason"]
            other = httpx.get(f"{base}/api/v3/workflows/w/versions/latest")
            assert (other.status_code, other.json()["title"]) == (503, "Service Unavailable")
            assert httpx.get(f"{base}/health", headers={"host": "evil.example"}).status_code == 403
            database.start()
            server.until_it_says("Ctrl-C ends it")
            assert httpx.get(f"{base}/readyz").status_code == 200
            server.send(signal.SIGTERM)
            assert server.ended()[0] == 0


def test_a_server_that_waits_can_be_stopped(folder: Path) -> None:
    nobody = "postgresql://nobody@127.0.0.1:9/none"
    with Running("serve", "--port", "0", "--db", nobody, folder=folder) as server:
        server.until_it_says("waiting for the database: ")
        server.send(signal.SIGTERM)
        code, out, err = server.ended()
    assert (code, err) == (0, "")
    assert out.count("waiting for the database") == 1


# --------------------------------------------------------------------------------------------------- stopping
def hammered(server: Serving, statuses: list[int], over: threading.Event) -> None:
    """Start runs and read them, each over a connection of its own, until nobody answers."""
    path = f"{server.url}/api/v3/workflows/w"
    while not over.is_set():
        try:
            body = {"initiator": {"type": "manual"}}
            made = httpx.post(
                f"{path}/versions/latest/actions/start", json=body, headers={"user": "ann"}, timeout=PATIENCE
            )
            seen = httpx.get(f"{path}/instances/1/why", timeout=PATIENCE)
            statuses += [made.status_code, seen.status_code]
        except httpx.TransportError:
            if server.process.poll() is not None:
                return


def test_a_stop_under_load_gives_no_internal_errors(folder: Path) -> None:
    statuses: list[int] = []
    over = threading.Event()
    with Serving("--load", "w.yaml", folder=folder) as server:
        threads = [threading.Thread(target=hammered, args=(server, statuses, over)) for _ in range(8)]
        for each in threads:
            each.start()
        until(lambda: statuses.count(200) > 40, "requests were answered")
        code, _, err = server.stopped()
        over.set()
        for each in threads:
            each.join()
    assert (code, err) == (0, "")
    assert set(statuses) <= {200, 404, 503}


def test_requests_that_outlast_the_stop_are_told_so(folder: Path) -> None:
    """Here one whose body does not come: it would wait longer than the server has time."""
    with Serving("--set", "server.stop_within=1s", folder=folder) as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as link:
            link.sendall(
                b"POST /api/v3/signals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
            )
            assert link.recv(65_536).startswith(b"HTTP/1.1 100 ")  # the route waits for the body now
            server.send(signal.SIGTERM)
            answer = b""
            while part := link.recv(65_536):
                answer += part
        assert server.ended()[0] == 0
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in answer


@pytest.mark.parametrize("how", ["STOP", "KILL"])
def test_a_stop_ends_in_time_without_a_database(how: str, folder: Path) -> None:
    """A database that is frozen answers nothing, and says nothing either."""
    with started(PostgresServer) as (database, url):
        assert isinstance(database, PostgresServer)
        options = ("--set", "node.stop_within=4s", "--set", "server.stop_within=2s")
        with Serving("--load", "w.yaml", *options, folder=folder, database=url) as server:
            server.start("w")
            pid = int((database.folder / "data" / "postmaster.pid").read_text().split()[0])
            own = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, check=True)  # noqa: S603, S607
            pids = [pid, *map(int, own.stdout.split())]
            for each in pids:
                os.kill(each, getattr(signal, f"SIG{how}"))
            try:
                server.send(signal.SIGTERM)
                code, _, err = server.ended()
            finally:
                for each in pids if how == "STOP" else []:
                    os.kill(each, signal.SIGCONT)
        assert code in {0, 143}, err


# ----------------------------------------------------------------------------------------------------- probes
@contextmanager
def small_disk(folder: Path, size: str = "8m") -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = folder / "disk"
    place.mkdir()
    made = subprocess.run(  # noqa: S603
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)],  # noqa: S607
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)  # noqa: S603, S607


def fill(path: Path) -> None:
    """Until nothing more fits on the disk."""
    target = os.open(path, os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while os.write(target, bytes(4_096)):
            pass
    os.close(target)


def readiness(server: Serving) -> int:
    return httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code


def test_a_full_disk_is_not_ready(folder: Path) -> None:
    with (
        small_disk(folder) as disk,
        Serving("--load", "w.yaml", folder=folder, database=f"sqlite:///{disk}/work.db") as server,
    ):
        assert readiness(server) == 200
        filler = disk / "filler"
        fill(filler)
        until(lambda: readiness(server) == 503, "the probe noticed")
        assert "disk" in server.get("/ready")["reason"]
        filler.unlink()
        until(lambda: readiness(server) == 200, "the probe noticed that there is room")
        assert server.stopped()[0] == 0


@pytest.mark.parametrize("place", [0, 4_096], ids=["the header", "a page"])
def test_a_damaged_database_is_not_ready(folder: Path, place: int) -> None:
    with Serving("--load", "w.yaml", folder=folder):
        pass
    with Serving("--load", "w.yaml", folder=folder) as server:
        assert readiness(server) == 200
        with (folder / "work.db").open("r+b") as file:
            file.seek(place)
            file.write(b"\xa5" * 40_960)
        until(lambda: readiness(server) == 503, "the probe noticed")
        assert "work.db" in server.get("/ready")["reason"]
        server.killed()


@pytest.mark.parametrize("end", ["", "-wal"])
def test_files_that_were_deleted_are_noticed(folder: Path, end: str) -> None:
    """Nothing is acknowledged that would be gone with the process."""
    with Serving("--load", "w.yaml", folder=folder) as server:
        server.start("w")
        (folder / f"work.db{end}").unlink()
        path = f"{server.url}/api/v3/workflows/w/versions/latest/actions/start"
        body = {"initiator": {"type": "manual"}}
        answer = httpx.post(path, json=body, headers={"user": "ann"}, timeout=PATIENCE)
        assert answer.status_code == 503
        assert "was deleted" in answer.text
        assert readiness(server) == 503
        server.killed()


def test_the_files_of_a_database_are_for_their_owner(folder: Path) -> None:
    with Serving("--load", "w.yaml", folder=folder) as server:
        server.start("w")
        for end in ("", "-wal", "-shm", "-lock"):
            assert (folder / f"work.db{end}").stat().st_mode & 0o777 == 0o600
        server.killed()


def test_files_of_an_older_release_are_closed_to_others(folder: Path) -> None:
    with Serving("--load", "w.yaml", folder=folder) as server:
        server.start("w")
        server.killed()  # so that -wal and -shm stay
    files = [folder / f"work.db{end}" for end in ("", "-wal", "-shm", "-lock")]
    for each in files:
        each.chmod(0o644)
    with Serving(folder=folder) as server:
        assert {each.stat().st_mode & 0o777 for each in files} == {0o600}
        server.killed()


def test_a_group_that_was_chosen_keeps_its_access(folder: Path) -> None:
    with Serving(folder=folder) as server:
        server.killed()
    (folder / "work.db").chmod(0o664)
    with Serving("--load", "w.yaml", folder=folder) as server:
        server.start("w")
        assert {(folder / f"work.db{end}").stat().st_mode & 0o777 for end in ("", "-wal")} == {0o660}
        server.killed()


def test_of_two_servers_on_one_port_the_second_says_so(folder: Path) -> None:
    """Also at once, before one of them has opened its database."""
    commands = [
        Running("serve", "--port", "18714", "--db", f"sqlite:///{name}.db", folder=folder) for name in "ab"
    ]
    try:
        until(lambda: any(each.process.poll() is not None for each in commands), "one gave up")
    finally:
        for each in commands:
            if each.process.poll() is None:
                each.until_it_says("Ctrl-C ends it")
                each.send(signal.SIGTERM)
        ended = [each.ended() for each in commands]
    assert sorted(code for code, _, _ in ended) == [0, 2]
    assert any("port 18714 of 127.0.0.1 is taken" in err for _, _, err in ended)


def test_few_files_are_told_at_the_start(folder: Path) -> None:
    with Serving(folder=folder, files=400) as server:
        assert "this process may have 400 files open" in server.told
        assert readiness(server) == 200
        assert server.stopped()[0] == 0
