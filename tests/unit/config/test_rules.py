"""What must hold between two settings."""

from pathlib import Path

import pytest
from tests.unit.config.reading import loaded, problems, said

from stretto.config import InvalidConfig
from stretto.config.catalogue import SETTINGS
from stretto.config.rules import RULES, Rule


def values(rule: Rule) -> tuple[int, int]:
    return SETTINGS[rule.less].default, SETTINGS[rule.more].default


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.less} {rule.more}")
def test_the_defaults_obey(rule: Rule) -> None:
    less, more = values(rule)
    assert less < more or (rule.may_equal and less == more)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.less} {rule.more}")
def test_each_rule_is_kept_to_the_unit(rule: Rule, tmp_path: Path) -> None:
    """At the border nothing is said of this rule; one beyond it is refused, whoever moved."""
    less, more = values(rule)
    moves = [
        (rule.less, more if rule.may_equal else more - 1, 1),
        (rule.more, less if rule.may_equal else less + 1, -1),
    ]
    for name, border, beyond in moves:
        assert rule not in broken(tmp_path, name, border)
        assert rule in broken(tmp_path, name, border + beyond)


def broken(folder: Path, name: str, value: int) -> list[Rule]:
    """The rules that are broken when one setting is moved; others than the one at hand may be, too."""
    try:
        assert loaded(folder, sets=[f"{name}={value}"]).value(name) == value
    except InvalidConfig as error:
        why = [each.problem.hint for each in error.problems]
        return [rule for rule in RULES if f"else {rule.why}" in why]
    return []


def test_it_is_reported_where_the_last_word_was_said(tmp_path: Path) -> None:
    file = '[node]\ntrust = "11s"\n'
    hint = "(else others could take what a node still trusts to be its own) [conflict]"
    must = "it is 11s, and must be less than `node.expiry`, which is 10s (default)"
    assert said(problems(tmp_path, file), tmp_path) == [f"stretto.toml:2:1: node.trust: {must} {hint}"]
    must = "it is 9s, and must be more than `node.trust`, which is 11s (stretto.toml:2)"
    found = problems(tmp_path, file, environ={"STRETTO_NODE_EXPIRY": "9s"})
    assert said(found, tmp_path) == [f"STRETTO_NODE_EXPIRY: node.expiry: {must} {hint}"]


def test_at_most_and_at_least(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, sets=["node.fetch_soon=3s"])
    assert "must be at most `node.fetch_late`" in found.problem.message
    (found,) = problems(tmp_path, sets=["node.fetch_late=100ms"])
    assert "must be at least `node.fetch_soon`" in found.problem.message


@pytest.mark.parametrize("bad", ["node.beat_every", "node.trust"])
def test_a_value_that_can_not_be_read_breaks_no_rule(tmp_path: Path, bad: str) -> None:
    other = {"node.beat_every": "node.trust=1ms", "node.trust": "node.beat_every=3900ms"}[bad]
    (found,) = problems(tmp_path, sets=[f"{bad}=x", other])
    assert found.problem.path == bad
