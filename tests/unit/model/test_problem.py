"""Paths and messages of problems, and the guess at what was meant."""

import pytest

from stretto.model.problem import Code, Problem, keys_in, keys_of, problem_at, render
from stretto.model.suggest import LONGEST, did_you_mean, one_edit_away


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ([], ""),
        (["workflow", "steps", 3, "foreach", "steps", 0, "id"], "workflow.steps[3].foreach.steps[0].id"),
        (["successors", "job.1"], 'successors["job.1"]'),
        (["a-b", "c_d"], "a-b.c_d"),
        ([0, "x"], "[0].x"),
        (["größe", 'q"'], '["größe"]["q\\""]'),
    ],
)
def test_paths(keys: list[str | int], path: str) -> None:
    assert render(keys) == path
    assert keys_in(path) == keys


def test_a_place_is_a_linked_list() -> None:
    assert keys_of(((None, "steps"), 3)) == ["steps", 3]
    assert problem_at((None, "id"), Code.BAD_NAME, "no").path == "id"


def test_a_problem_in_one_line() -> None:
    problem = Problem(code="c", path="a.b", message="is wrong", hint="do this", line=3, column=7)
    assert str(problem) == "3:7: a.b: is wrong (do this) [c]"
    assert str(Problem(code="c", path="", message="is wrong")) == "is wrong [c]"


def test_codes_are_unique() -> None:
    codes = [value for name, value in vars(Code).items() if name.isupper()]
    assert len(codes) == len(set(codes))
    assert all(code == code.lower().replace("_", "-") for code in codes)


def test_did_you_mean() -> None:
    assert did_you_mean("JOB.3x", ["job.3", "other"]) == "did you mean `job.3`?"
    assert did_you_mean("zzz", ["job.3", "other"]) is None


@pytest.mark.parametrize("typed", ["nihgtly", "nightl", "nightlyy", "mightly", "NIGHTLY"])
def test_one_edit_away(typed: str) -> None:
    assert "nightly" in one_edit_away(typed)
    assert typed not in one_edit_away(typed)


def test_one_edit_away_from_a_long_word_changes_no_letter() -> None:
    word = "n" * LONGEST + "-x"
    found = one_edit_away(word)
    assert {word[1:], word[:-2] + "x-", word.replace("-", "_")} <= found
    assert word + "y" not in found
    assert "" not in one_edit_away("a")
    assert one_edit_away(word[:LONGEST]) > {"m" + word[1:LONGEST]}
