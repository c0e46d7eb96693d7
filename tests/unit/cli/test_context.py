"""Contexts, and the one rule by which commands find their target."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.api.serving import Served, served
from tests.unit.cli.running.files import FAILING, stretto

from stretto.cli.database import Place, Refused, place_of
from stretto.cli.remote.server import Remote
from stretto.cli.target import Given, pinned, server_of, target_of
from stretto.config import Config
from stretto.config import contexts as contexts_module

HELLO = "workflow: {id: hello, owner: ann, jobs: [{job: {id: say, type: Shell, command: echo hi}}]}"
A, B, C, D = (f"http://{name}.example:8080" for name in "abcd")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("STRETTO_CONTEXT", "STRETTO_CLIENT_SERVER", "STRETTO_DATABASE_URL", "STRETTO_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "work").mkdir()
    with chdir(tmp_path / "work"):
        yield tmp_path / "work"


def context(*words: str) -> Result:
    return stretto("context", *words)


def given(**options: Any) -> Given:
    return Given(options.pop("config_file", None), options.pop("assignments", ()), **options)


# --------------------------------------------------------------------------------------------------- commands
def test_from_the_first_to_the_last(folder: Path) -> None:
    assert context("list").stdout == "no contexts; `stretto context add NAME --server URL` makes one\n"
    assert context("show").exit_code == 2
    made = context("add", "production", "--server", "a.example:8080/", "--user", "ann")
    assert made.stdout == f"production  server {A}, user ann, in use\n"
    made = context("add", "local", "--db", "sqlite:///work.db")
    assert made.stdout == f"local  database sqlite:///{folder}/work.db\n"
    assert context("list").stdout == (
        f"  local       database sqlite:///{folder}/work.db\n* production  server {A}, user ann\n"
    )
    assert context("use", "local").stdout == f"local  database sqlite:///{folder}/work.db, in use\n"
    assert context("show").stdout == f"local  database sqlite:///{folder}/work.db\n"
    shown = json.loads(context("show", "production", "--json").stdout)
    assert shown.pop("file").endswith("contexts.toml")
    assert shown == {"name": "production", "server": A, "user": "ann", "in_use": False}
    assert json.loads(context("list", "--json").stdout)["current"] == "local"
    assert context("remove", "production").stdout == "production is forgotten\n"
    assert context("remove", "local").stdout == "local is forgotten; no context is in use\n"
    assert context("list").stdout.startswith("no contexts")


def test_a_context_gets_another_target() -> None:
    context("add", "one", "--server", A)
    context("add", "two", "--server", B, "--use")
    context("add", "one", "--server", C)
    assert context("list").stdout == f"  one  server {C}\n* two  server {B}\n"


def test_passwords_are_kept_for_the_user_and_not_shown(folder: Path) -> None:
    context("add", "team", "--db", "postgresql://ann:secret@host/db")
    path = folder.parent / "config/stretto/contexts.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" in path.read_text()
    for words in (("list",), ("show",), ("list", "--json")):
        assert "secret" not in context(*words).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("use", "prod"), "there is no context `prod`"),
        (("show", "producton"), "did you mean `production`"),
        (("remove", "x"), "there are production; `stretto context add` makes one"),
        (("add", "a b", "--server", A), "can not be the name of a context"),
        (("add", "x"), "must have a server or a database"),
        (("add", "x", "--server", A, "--db", "memory://"), "and not both"),
        (("add", "x", "--db", "memory://", "--user", "ann"), "a database knows none"),
        (("add", "x", "--server", "ftp://x"), "is not the address of a server"),
        (("add", "x", "--db", "mongo://x"), "the kind of database is none of"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], said: str) -> None:
    context("add", "production", "--server", A)
    result = context(*words)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "current = ",
        "contexts = 3",
        "current = 3",
        "[contexts.x]\nhost = 'y'",
        "[contexts.x]\nserver = 3",
        "\xff",
    ],
)
def test_a_file_that_can_not_be_understood(folder: Path, text: str) -> None:
    path = folder.parent / "config/stretto/contexts.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("latin-1"))
    for words in (("list",), ("use", "x")):
        result = context(*words)
        assert result.exit_code == 2
        assert "contexts.toml" in result.stderr
    assert "contexts.toml" in stretto("runs").stderr
    assert stretto("runs", "--db", f"sqlite:///{folder}/x.db").exit_code == 0  # it is not asked
    place = Place("sqlite:///x.db", Config(), ())
    assert pinned(place, given()).options == ("--db", "sqlite:///x.db")


def test_no_place_to_keep_them(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(contexts_module, "config_folder", lambda _around: None)
    assert context("list").exit_code == 0
    assert "set HOME" in context("add", "x", "--server", A).stderr
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "file"))
    (folder / "file").write_text("")
    assert "can not be read" in context("add", "x", "--server", A).stderr
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    (folder / f"stretto/contexts.toml.{os.getpid()}").mkdir(parents=True)
    assert "can not be written" in context("add", "x", "--server", A).stderr


def test_a_variable_counts_more_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    context("add", "one", "--server", A)
    context("add", "two", "--server", B)
    monkeypatch.setenv("STRETTO_CONTEXT", "two")
    assert context("use", "one").stderr.startswith("the variable STRETTO_CONTEXT names another one")
    assert context("list").stdout == f"  one  server {A}\n* two  server {B}\n"


# ------------------------------------------------------------------------------------------------------- rule
def test_one_rule_for_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level is hidden by the next one; read from the last to the first."""

    def reads(**options: Any) -> str:
        found = target_of(given(**options))
        return found.url

    def asks(**options: Any) -> str:
        return server_of(given(**options)).url

    default = "http://127.0.0.1:8080"
    assert (reads(), asks()) == ("sqlite:///.stretto/stretto.db", default)
    (folder / "stretto.toml").write_text('[database]\nurl = "sqlite:///file.db"\n')
    assert (reads(), asks()) == ("sqlite:///file.db", default)
    (folder / "stretto.toml").write_text(f'[client]\nserver = "{D}"\n')
    assert (reads(), asks()) == (D, D)
    context("add", "current", "--server", C)
    context("add", "other", "--server", B)
    context("add", "files", "--db", "sqlite:////x/files.db")
    assert (reads(), asks()) == (C, C)
    monkeypatch.setenv("STRETTO_CONTEXT", "")  # in none
    assert (reads(), asks()) == (D, D)
    monkeypatch.setenv("STRETTO_CONTEXT", "other")
    assert (reads(), asks()) == (B, B)
    monkeypatch.setenv("STRETTO_DATABASE_URL", "sqlite:///env.db")
    assert (reads(), asks()) == ("sqlite:///env.db", B)
    monkeypatch.setenv("STRETTO_CLIENT_SERVER", A)
    assert (reads(), asks()) == (A, A)
    assert reads(context="files") == "sqlite:////x/files.db"
    assert asks(context="current") == C
    assert reads(database="sqlite:///flag.db") == "sqlite:///flag.db"
    assert reads(assignments=("database.url=sqlite:///set.db",)) == "sqlite:///set.db"
    assert (reads(server=D), asks(server=D)) == (D, D)


def test_a_file_that_is_named_counts_as_an_option_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context("add", "current", "--server", C)
    (folder / "other.toml").write_text(f'[client]\nserver = "{D}"\n')
    assert target_of(given(config_file="other.toml")).url == D
    monkeypatch.setenv("STRETTO_CONFIG", "other.toml")
    assert target_of(given()).url == D


def test_who_talks_to_the_server() -> None:
    context("add", "one", "--server", A, "--user", "ann")

    def user(**options: Any) -> str:
        found = target_of(given(**options))
        assert isinstance(found, Remote)
        return found.user

    assert user() == "ann"
    assert user(user="bob") == "bob"
    assert user(server=B) != "ann"


def test_a_command_that_is_suggested_comes_to_the_same_target() -> None:
    context("add", "one", "--server", A)
    context("add", "files", "--db", "sqlite:////x/files.db")
    assert target_of(given()).again("runs") == "stretto runs"
    assert target_of(given(context="one")).again("runs") == "stretto runs --context one"
    assert target_of(given(context="files")).again("runs") == "stretto runs --context files"
    assert target_of(given(server=B)).again("runs") == f"stretto runs --server {B}"


@pytest.mark.parametrize("named", ["nothing", "variable", "file", "context", "database"])
def test_what_a_local_run_suggests_stays_local(
    folder: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """A server that is named for other commands is not asked for a run that it does not know."""
    if named == "variable":
        monkeypatch.setenv("STRETTO_CLIENT_SERVER", A)
    elif named == "file":
        (folder / "stretto.toml").write_text(f'[client]\nserver = "{A}"\n')
    elif named == "context":
        context("add", "production", "--server", A)
    elif named == "database":
        context("add", "files", "--db", f"sqlite:///{folder}/files.db")
    (folder / "failing.yaml").write_text(FAILING)
    lines = stretto("run", "failing.yaml").stdout.splitlines()
    (more,) = [line.partition("More: ")[2] for line in lines if "More: " in line]
    pin = "" if named == "nothing" else " --db sqlite:///.stretto/stretto.db"
    assert more == f"stretto show failing/1:bad{pin}"
    assert stretto(*more.split()[1:]).stdout.startswith("✗ failing/1:bad FATALLY_FAILED")
    place = pinned(place_of(None, (), None), given())
    assert place.again("run", "failing.yaml", "--resume") == f"stretto run failing.yaml --resume{pin}"


def test_two_targets_are_refused() -> None:
    context("add", "one", "--server", A)
    result = stretto("runs", "--server", A, "--context", "one")
    assert result.exit_code == 2
    assert "--server and --context name different targets" in result.stderr
    assert stretto("start", "etl", "--server", A, "--context", "one").exit_code == 2
    assert stretto("runs", "--context", "one", "--context", "two").exit_code == 2


def test_a_database_can_not_start_anything() -> None:
    context("add", "files", "--db", "sqlite:////x/files.db")
    for words in (("push", "x.yaml"), ("start", "etl"), ("stop", "etl/1"), ("restart", "etl/1")):
        result = stretto(*words)
        assert result.exit_code == 2
        assert "the context `files` is a database, and this is done by a server" in result.stderr
    with pytest.raises(Refused, match="there is no context"):
        server_of(given(context="nope"))


def test_a_variable_that_names_no_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRETTO_CONTEXT", "nope")
    result = stretto("runs")
    assert result.exit_code == 2
    assert "there is no context `nope`" in result.stderr


# ----------------------------------------------------------------------------------------------------- in use
@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


def test_every_command_follows_the_context(server: Served, folder: Path) -> None:
    context("add", "here", "--server", server.url, "--user", "ann")
    (folder / "hello.yaml").write_text(HELLO)
    assert stretto("push", "hello.yaml").stdout == "hello: version 1\n"
    assert stretto("start", "hello", "--wait").exit_code == 0
    assert "hello/1" in stretto("runs").stdout
    assert "hello/1" in stretto("show", "hello/1").stdout
    assert "hello/1" in stretto("why", "hello/1").stdout
    assert stretto("logs", "hello/1:say").stdout == "hi\n"
    assert stretto("restart", "hello/1", "--all", "--wait").exit_code == 0
    assert "has already ended" in stretto("stop", "hello/1").stderr


def test_a_run_in_this_folder_is_not_sent_to_the_context(server: Served, folder: Path) -> None:
    context("add", "here", "--server", server.url)
    (folder / "bad.yaml").write_text(HELLO.replace("echo hi", "exit 3").replace("id: hello", "id: bad"))
    result = stretto("run", "bad.yaml")
    assert result.exit_code == 1
    assert "stretto show bad/1:say --db sqlite:///.stretto/stretto.db" in result.stdout
    assert "bad/1" in stretto("runs", "--db", "sqlite:///.stretto/stretto.db").stdout
    assert "bad/1" not in stretto("runs").stdout
