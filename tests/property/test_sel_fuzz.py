"""Random scripts: they end with a value or a `SelError`, and printing them keeps their meaning."""

import contextlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts.fuzz_sel import ENVIRONMENT, Grammar, Report, execute, fuzz, mutated

from stretto.sel import SelError, compile_expression, compile_template, sanitize
from stretto.sel.syntax.parser import parse
from stretto.sel.syntax.printer import show
from stretto.sel.syntax.source import Source

seeds = st.integers(0, 2**32).map(random.Random)


@settings(deadline=None)
@given(seeds)
def test_printing_and_parsing_again_changes_nothing(chance: random.Random) -> None:
    script = Grammar(chance).script()
    with contextlib.suppress(SelError):
        first = parse(Source(script))
        assert parse(Source(show(first))) == first


@settings(deadline=None)
@given(seeds)
def test_row_61_scripts_end_well(chance: random.Random) -> None:
    report = Report()
    script = Grammar(chance).script()
    execute(script, report)
    execute(mutated(chance, script), report)
    assert not report.crashes


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_script_or_an_error(text: str) -> None:
    with contextlib.suppress(SelError):
        compile_expression(text).evaluate({}, ENVIRONMENT)
    with contextlib.suppress(SelError):
        compile_expression(sanitize(text)).evaluate({}, ENVIRONMENT)
    compile_template(text).render(str)


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_two_evaluations_are_equal(chance: random.Random) -> None:
    script = Grammar(chance).script()

    def outcome() -> str:
        try:
            return repr(compile_expression(script).evaluate({"a": 1}, ENVIRONMENT)).split(" object at ")[0]
        except SelError as error:
            return str(error)

    assert outcome() == outcome()


@pytest.mark.prove
def test_row_61_a_million_executions() -> None:
    report = fuzz(executions=1_000_000, minutes=60, seed=random.SystemRandom().getrandbits(32))
    assert not report.crashes, report.text(0)
