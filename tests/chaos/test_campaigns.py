"""Real processes, really killed: short here, long with `make prove` and `make chaos`."""

import os
from math import inf

import pytest
from chaos.campaign import fitting, play
from chaos.report import Report, text_of
from chaos.settings import STORM_COMMANDS, Campaign
from chaos.takeover import TakeOver, text_of_take_over
from tests.ports.postgresql_server import Missing, missing

ALL = [(store, scenario) for store in ("sqlite", "postgresql", "mariadb") for scenario in fitting(store)]


def played(campaign: Campaign) -> Report | TakeOver:
    try:
        return play(campaign)
    except Missing as error:
        missing(error)
        raise


def test_nodes_that_are_killed() -> None:
    report = played(Campaign(times=2, nodes=2, going=15))
    assert isinstance(report, Report)
    assert report.is_well, text_of(report)
    assert report.troubles == {"kills": 2}
    assert report.runs > 15
    assert report.lost == report.doubled == 0


def test_a_server_that_goes_away() -> None:
    report = played(Campaign(store="postgresql", scenario="outages", times=2, nodes=1, going=10))
    assert isinstance(report, Report)
    assert report.is_well, text_of(report)
    assert report.troubles == {"server stops": 1, "server kills": 1}


@pytest.mark.prove
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("store", "scenario"), ALL)
def test_everything_everywhere(store: str, scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    if scenario == "disk" and os.getuid():
        pytest.skip("only root may mount a small disk")
    is_storm = scenario == "storm"
    found = played(
        Campaign(
            store=store,
            scenario=scenario,
            times=20 if scenario == "kills" else 4,
            leases="default" if scenario in {"storm", "takeover"} else "short",
            seconds=120.0 if is_storm else inf,
            nodes=1 if is_storm and store == "sqlite" else 3,
            commands=STORM_COMMANDS if is_storm else None,
        )
    )
    text = text_of(found) if isinstance(found, Report) else text_of_take_over(found)
    with capsys.disabled():
        print(f"\n{text}")  # noqa: T201 - who runs a proof wants to know
    assert found.is_well, text
    if isinstance(found, TakeOver):
        assert found.heirs == 2
        assert found.owned <= 15
        assert found.resumed[-1] <= 15


@pytest.mark.prove
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("bug", "found"),
    [
        ("forgets", "was told that"),
        ("misses_nothing", "has not ended"),
        ("works_twice", "the same launch began 2 times"),
    ],
)
def test_a_planted_bug_is_found(bug: str, found: str) -> None:
    report = played(Campaign(times=3, nodes=2, patience=20, program=("tests.chaos.planted", bug)))
    assert isinstance(report, Report)
    assert any(found in each for each in report.violations), text_of(report)


@pytest.mark.prove
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("bug", "harm", "leases", "found"),
    [
        ("loses_fires", "kill-api", "short", "lost: the fire due at"),
        ("doubles_fires", "kill-api", "short", "doubled: the fire due at"),
        ("overlooks_runs", "kill", "short", "has not ended"),
        ("sets_nothing_aside", "plant", "careful", "was not set aside"),  # short ones know no quarantine
    ],
)
def test_a_planted_bug_is_found_by_the_storm(bug: str, harm: str, leases: str, found: str) -> None:
    report = played(
        Campaign(
            scenario="storm",
            seconds=60.0,
            going=12,
            nodes=2,
            leases=leases,
            apart=(2.0, 4.0),
            harms=frozenset({harm}),
            commands=STORM_COMMANDS,
            patience=20,
            program=("tests.chaos.planted", bug),
        )
    )
    assert isinstance(report, Report)
    assert any(found in each for each in report.violations), text_of(report)
