"""What is said about words that are longer than any name: little, and at once."""

from stretto.model.problem import Code, keys_in, problem_at, render
from stretto.model.suggest import did_you_mean, one_edit_away

LONG = "k" * 1_000_000


def test_a_path_shows_the_beginning_of_a_long_key() -> None:
    path = render(["workflow", LONG, 3, "a b" * 100])
    assert len(path) < 500
    assert keys_in(path) == ["workflow", "k" * 200 + "…", 3, ("a b" * 100)[:200] + "…"]


def test_a_problem_shows_the_beginning_of_a_long_message() -> None:
    problem = problem_at((None, LONG), Code.UNKNOWN_FIELD, f"unknown field `{LONG}`")
    assert len(str(problem)) < 2_300
    assert "…" in problem.message


def test_nobody_looks_for_what_is_close_to_a_long_word() -> None:
    assert did_you_mean(LONG, ["k", LONG]) is None
    assert one_edit_away(LONG) == set()
