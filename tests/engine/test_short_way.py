"""A plain step takes all its statuses in one go; it must end up as if it had taken them one by one."""

from typing import Any

import pytest
from tests.engine.driver import Driver

from stretto.engine.machine import begin

DIAMOND = """
workflow:
  id: w
  jobs:
    - job: {id: a, type: NoOp, transition: [b, c]}
    - job: {id: b, type: NoOp, transition: [d]}
    - job: {id: c, type: Join, transition: [d]}
    - job: {id: d, type: NoOp}
"""


def ended() -> tuple[str, list[Any]]:
    driver = Driver(DIAMOND).finish()
    return driver.status, driver.flow.attempts


def test_the_short_way_and_the_long_way_give_the_same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    short = ended()
    monkeypatch.setattr(begin, "_passes_freely", lambda *_: False)
    assert ended() == short


def test_the_short_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    real = begin._pass_through

    def noted(turn: Any, flow: Any, plan: Any) -> None:
        taken.append(plan.id)
        real(turn, flow, plan)

    monkeypatch.setattr(begin, "_pass_through", noted)
    ended()
    assert sorted(taken) == ["a", "b", "c", "d"]
