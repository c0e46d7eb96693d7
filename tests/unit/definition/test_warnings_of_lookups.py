"""Parameters of other steps, and of the run, that an expression asks for by name and nothing has."""

from typing import Any

import pytest
from tests.unit.definition.samples import Raw, flow, foreach, step, text_of
from tests.unit.definition.test_warnings import KNOWN, OLD, WARNINGS, long, text, value

from stretto.definition import Limits, check
from stretto.definition.parse import Options
from stretto.model.problem import Code
from stretto.model.step import STEP_TYPES


def warned(
    *params: Raw, others: tuple[Raw, ...] = (), options: Options = WARNINGS
) -> list[tuple[str, str | None]]:
    """The messages and hints about a step with these parameters, after one with the parameter `rows`."""
    asks = step("asks", params={f"p{number}": each for number, each in enumerate(params)})
    raw = flow(step("load", params={"rows": value()}), *others, asks, params={"day": value()})
    checked = check(text_of(raw), options)
    assert not checked.problems, checked.problems
    assert all(each.code == Code.UNKNOWN_PARAM for each in checked.warnings), checked.warnings
    assert all("steps" in each.path for each in checked.warnings)
    return [(each.message, each.hint) for each in checked.warnings]


SUB: Raw = {"subworkflow": {"id": "sub", "params": {"subworkflow_id": text("child")}}}
LOOP = foreach("loop", [step("inner", params={"out": value()})])


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("params.getFromStep('loaf', 'rows')", "there is no step `loaf`", "did you mean `load`?"),
        ("params.getFromStep('zzz', 'rows')", "there is no step `zzz`", None),
        ("params.getFromForeach('lop', 'inner', 'out')", "there is no step `lop`", "did you mean `loop`?"),
        ("params.getFromForeach('load', 'a', 'b')", "step `load` is no foreach step", None),
        (
            "params.getFromForeach('loop', 'iner', 'out')",
            "there is no step `iner` in `loop`",
            "did you mean `inner`?",
        ),
        (
            "params.getFromForeach('loop', 'inner', 'oot')",
            "step `inner` has no parameter `oot`",
            "did you mean `out`?",
        ),
        ("params.getFromSubworkflow('sup', 'a', 'b')", "there is no step `sup`", "did you mean `sub`?"),
        ("params.getFromSubworkflow('load', 'a', 'b')", "step `load` is no subworkflow step", None),
        (
            "params.getFromStep('load', 'row')",
            "step `load` has no parameter `row`",
            "did you mean `rows`?",
        ),
        (
            "params.getFromStep('load', 'zz')",
            "step `load` has no parameter `zz`",
            "declare `zz` among the parameters of step `load`",
        ),
        ("params.get('dai')", "nothing here gives it a value", "did you mean `day`?"),
        (
            "params.get('zork')",
            "nothing here gives it a value",
            "declare `zork` as a parameter, or bring it with each start",
        ),
    ],
)
def test_a_name_that_nothing_has(written: str, message: str, hint: str | None) -> None:
    wanted = [(f"`{written}` is read, and {message}", hint)]
    assert warned(long(f"return {written};"), others=(LOOP, SUB)) == wanted


@pytest.mark.parametrize("written", ["params['zork']", "params.zork"])
def test_the_other_ways_to_write_it(written: str) -> None:
    ((message, _hint),) = warned(long(f"{written} + 1"))
    assert message == "`params.get('zork')` is read, and nothing here gives it a value"


@pytest.mark.parametrize("written", [long("load__row"), text("${load__row} rows")])
def test_a_parameter_that_a_step_does_not_have(written: Raw) -> None:
    wanted = ("`load__row` is read, and step `load` has no parameter `row`", "did you mean `rows`?")
    assert warned(written) == [wanted]


def test_a_function_that_there_is_not() -> None:
    ((message, hint),) = warned(long("params.getFromSteps('load', 'rows')"))
    assert message.endswith("is called, and `params` has no such function with 2 arguments")
    assert hint == "did you mean `getFromStep`?"
    ((message, _hint),) = warned(long("params.getFromForeach('loop', 'inner')"), others=(LOOP,))
    assert "`params` has no such function with 2 arguments" in message


@pytest.mark.parametrize(
    "written",
    [
        "params.getFromStep('load', 'rows')",
        "params.getFromStep('load', 'MAESTRO_STEP_STATUS')",
        "params.getFromStep('load', 'STRETTO_STEP_ERROR')",
        "params.getFromStep('loop', 'MAESTRO_STEP_STATUS')",
        "params.getFromStep('loop', 'MAESTRO_STEP_END_TIME')",
        "params.getFromStep('loop', 'STRETTO_STEP_ERROR')",
        "params.getFromStep('sub', 'MAESTRO_STEP_STATUS')",
        "params.getFromStep('step_id')",
        "params.getFromStep('inner', 'out')",
        "params.getFromStep('sub', 'anything')",
        "params.getFromForeach('loop', 'inner', 'out')",
        "String p = 'o' + 'ut'; return params.getFromForeach('loop', 'inner', p);",
        "params.getFromSubworkflow('sub', 'any', 'thing')",
        "params.getFromInstance('workflow_id')",
        "params.getFromSignalOrDefault('s', 'p', 'x')",
        "String s = 'lo' + 'ad'; return params.getFromStep(s, 'rows');",
        "params.get('day')",
        "params.containsKey('zork') ? params.get('zork') : 1",
        "params.get('zork') == null ? 1 : 2",
        "params.nextUniqueId()",
    ],
)
def test_what_is_there_or_tested_is_not_doubted(written: str) -> None:
    assert warned(long(written), others=(LOOP, SUB)) == []


def test_nothing_is_said_of_what_is_not_known_here() -> None:
    """A job template and a type from elsewhere bring parameters; a start may bring others."""
    spark: dict[str, Any] = {"step": {"id": "s", "type": "Kubernetes", "sub_type": "spark", "params": {}}}
    assert warned(long("s__cores"), others=(spark,), options=KNOWN) == []
    old: Raw = {"step": {"id": "o", "type": "Old", "params": {}}}
    ((message, _hint),) = warned(long("o__fresh + o__stale"), others=(old,), options=OLD)
    assert message == "`o__stale` is read, and step `o` has no parameter `stale`"
    given = Options(warnings=True, given=frozenset({"zork"}))
    assert warned(long("params.get('zork')"), options=given) == []


@pytest.mark.parametrize("options", [WARNINGS, KNOWN, OLD])
def test_nothing_is_said_of_steps_whose_type_is_not_known(options: Options) -> None:
    strange: Raw = {"step": {"id": "strange", "type": "Strange", "params": {}}}
    checked = check(text_of(flow(strange, step("asks", params={"p": long("strange__x")}))), options)
    assert not [each for each in checked.warnings if each.code == Code.UNKNOWN_PARAM]


def test_nothing_is_said_of_a_type_without_a_schema() -> None:
    options = Options(warnings=True, limits=Limits(step_types=frozenset({*STEP_TYPES, "Plain"})))
    plain: Raw = {"step": {"id": "plain", "type": "Plain", "params": {}}}
    assert warned(long("plain__x"), others=(plain,), options=options) == []


def test_nothing_is_said_where_the_underscores_can_be_read_in_two_ways() -> None:
    others = (step("a", params={"_x": value()}), step("a_", params={"x": value()}))
    assert warned(long("a___y"), others=others) == []
