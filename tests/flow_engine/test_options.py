"""How an engine is made."""

import getpass
import sys
from pathlib import Path

import pytest
from tests.flow_engine import flows
from tests.flow_engine.flows import etl, finish

from stretto.config import Config, InvalidConfig
from stretto.config.settings import with_values
from stretto.flow.engine import Engine
from stretto.flow.engine.options import place_of
from stretto.model.errors import InvalidRequest, NotFound


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"recover": "perhaps"}, 'recover=\'perhaps\' is none of "auto", "manual"'),
        ({"on_stop": 3}, "on_stop=3 is none of"),
        ({"stop_within": 0}, "stop_within=0 must be a number of seconds above 0"),
        ({"pools": {"db": 0}}, "the size of the pool `db`"),
        ({"config": {"limits.stepz": 1}}, "limits.stepz"),
    ],
)
def test_bad_options_are_refused_at_once(options: dict[str, object], text: str) -> None:
    with pytest.raises((InvalidRequest, InvalidConfig)) as wrong:
        Engine("memory", **options)  # type: ignore[arg-type]
    assert text in str(wrong.value)


def test_a_database_that_there_can_not_be() -> None:
    with pytest.raises(InvalidConfig, match="the kind of database is none of memory, sqlite"):
        Engine("oracle://somewhere")


def test_where_the_database_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.delenv("STRETTO_DATABASE_URL", raising=False)
    assert place_of(None, None, 30).url == f"sqlite:///{tmp_path}/stretto.db"
    config = with_values(Config(), {("database", "url"): "sqlite:///x.db"})
    assert place_of(None, config, 30).url == "sqlite:///x.db"
    assert place_of("memory:", config, 30).url == "memory://"
    assert place_of(None, {"database.url": "sqlite:///y.db"}, 30).url == "sqlite:///y.db"
    (tmp_path / "mine.toml").write_text('[database]\nurl = "sqlite:///z.db"\n')
    assert place_of(None, tmp_path / "mine.toml", 30).url == "sqlite:///z.db"
    assert place_of(None, str(tmp_path / "mine.toml"), 30).config.node.stop_within == 28_000
    assert place_of("memory", None, 2).config.node.stop_within == 1_500


def test_steps_and_workflows_of_modules_are_known() -> None:
    for given in (flows, flows.__name__):
        engine = Engine("memory", modules=[given])
        assert "tests.flow_engine.flows:extract" in {each.name for each in engine._registry}


def test_who_has_no_name_runs_as_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid 12345")

    monkeypatch.setattr(getpass, "getuser", nobody)

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(etl, day="monday")
            await run.wait(30)
            row = await engine._opened().row(run.key)
            assert row.record.owner == "somebody"
            with pytest.raises(NotFound, match="there is no run etl/1/7"):
                await engine._opened().row(run.key._replace(run_id=7))

    finish(work())
