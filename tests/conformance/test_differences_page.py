"""docs/explanation/differences.md lists every difference that the comparison with Maestro accepts."""

import json
from pathlib import Path

from tests.conformance.accepted_differences import ENTRIES, Rule, digest, gaps, rows_of
from tests.conformance.corpus import corpus

PAGE = (Path(__file__).parents[2] / "docs/explanation/differences.md").read_text(encoding="utf-8")
RULES: list[Rule] = json.loads(corpus("maestro-live", "judged.json").read_text(encoding="utf-8"))


def test_every_accepted_difference_has_an_entry() -> None:
    assert gaps(RULES, PAGE, ENTRIES) == []


def test_every_entry_says_what_both_systems_do_and_why() -> None:
    rows = rows_of(PAGE)
    assert len(rows) == len(dict(rows)), "an anchor is there twice"
    assert [name for name, cells in rows if len(cells) != 4 or not all(cells)] == []


def test_a_new_rule_is_a_gap() -> None:
    new = {"match": "invented / rule", "class": "harmless", "note": "not on the page"}
    assert [each for each in gaps([*RULES, new], PAGE, ENTRIES) if "invented / rule" in each]


def test_a_rule_of_an_unknown_class_is_a_gap() -> None:
    new = {"match": "invented / rule", "class": "pending", "note": "a class that nobody knows"}
    assert gaps([new], '| <a id="a"></a>A | b | c | d |', {digest(new): ("a",)}) != []


def test_a_rule_that_has_become_wider_is_a_gap() -> None:
    rule = next(each for each in RULES if digest(each) in ENTRIES)
    wider = [{**each, "match": ".*"} if each is rule else each for each in RULES]
    told = gaps(wider, PAGE, ENTRIES)
    assert [each.split(":")[0] for each in told] == [digest({**rule, "match": ".*"}), digest(rule)]


def test_an_entry_that_is_taken_from_the_page_is_a_gap() -> None:
    name = ENTRIES[next(iter(ENTRIES))][0]
    assert gaps(RULES, PAGE.replace(f'<a id="{name}"></a>', ""), ENTRIES) == [f"#{name}: not on the page"]


def test_an_entry_that_covers_no_rule_is_a_gap() -> None:
    more = f'{PAGE}\n| <a id="stale"></a>What | this | that | because |\n'
    assert gaps(RULES, more, ENTRIES) == ["#stale: covers no rule"]
