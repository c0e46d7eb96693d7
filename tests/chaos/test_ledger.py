"""The world outside: the highest launch wins, and who is late is refused and counted."""

from pathlib import Path

import pytest
from chaos.ledger import Effect, Ledger, NotNow, Stale


def test_an_effect(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    assert ledger.begin("a", 3, 11, at=1.0)
    assert ledger.begun_at("a", 3) == 1.0
    assert ledger.end("a", 3, 11, at=2.0)
    assert ledger.end("a", 3, 11, at=9.0)  # the same again changes nothing
    assert ledger.effects() == [Effect("a", 3, 11, 1.0, 2.0, 0)]
    assert ledger.late() == 0


def test_who_is_late_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.begin("a", 3, 11, at=1.0)
    other = Ledger(tmp_path / "ledger.db")
    assert other.begin("a", 5, 12, at=2.0)
    assert not ledger.end("a", 3, 11)
    assert not ledger.begin("a", 4, 11, at=2.5)
    assert ledger.begin("b", 1, 11, at=3.0)  # another attempt
    assert [effect.ended for effect in ledger.effects()] == [None, None, None]
    assert other.late() == 1
    assert other.stale() == [Stale("a", 4, 11, 2.5, 5)]


def test_work_that_may_not_begin_now(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(NotNow):
        ledger.begin("a", 3, 11, may=lambda: False)
    assert not ledger.effects()
    assert ledger.begin("a", 3, 11)  # nobody holds the ledger


def test_the_same_launch_twice_is_noted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.begin("a", 3, 11, at=1.0)
    ledger.begin("a", 3, 12, at=2.0)
    assert ledger.effects() == [Effect("a", 3, 11, 1.0, None, 1)]
    assert ledger.begun_at("a", 4) is None
    assert not ledger.stale()  # a repetition


def test_what_commands_wrote(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    file = tmp_path / "commands.txt"
    ledger.replay(file)  # none was run
    file.write_text("[w][1][1][s][1][7][0] 5 begin 1.5\n[w][1][1][s][1][7][0] 5 end 2.5\n")
    ledger.replay(file)
    assert ledger.effects() == [Effect("[w][1][1][s][1]", 7, 5, 1.5, 2.5, 0)]
    file.write_text("nonsense 5 begin 1.5\n")
    with pytest.raises(ValueError, match="no launch"):
        ledger.replay(file)
