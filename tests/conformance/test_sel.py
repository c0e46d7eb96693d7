"""Every case of the SEL corpus at the levels `sel`, `maestro`, `validate` and, for texts, `interpolate`."""

import contextlib
import json
import re
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.sel_quirks import OURS

from stretto.cli.sel_cases import answer
from stretto.sel import Environment, Kind, Limits, SelError, compile_expression, compile_template
from stretto.sel.text import text_of
from stretto.sel.wire import from_wire

pytestmark = pytest.mark.conformance
Case = dict[str, Any]


def cases(*levels: str) -> list[Any]:
    found: list[Any] = []
    for name in ("cases.json", "probes.json"):
        data = json.loads(corpus("sel", name).read_text("utf-8"))
        for case in data["cases"] if isinstance(data, dict) else data:
            if case["level"] in levels:
                marks = [pytest.mark.prove] if "slow" in case.get("tags", ()) else []
                found.append(pytest.param(case, id=case["id"], marks=marks))
    return found


class Answering:
    """A host for the cases that describe the engine's state: it answers what the case expects of the engine.

    Whether the engine finds that answer in its state is the business of `params`, and tested there.
    """

    def __init__(self, case: Case) -> None:
        self._case = case

    def call(self, method: str, arguments: tuple[str, ...]) -> Any:
        if "expect" in self._case:
            return from_wire(self._case["expect"])
        raise SelError(Kind.MAESTRO_INTERNAL, f"{method}{list(arguments)} failed")


def surroundings(case: Case) -> Environment:
    return Environment(
        now_millis=case.get("clock_millis", 0),
        host=Answering(case) if case["group"] == "maestro-ext-unit" else None,
        functions={"testExtFunc": lambda name: f"Hello {name}"},
    )


def same(ours: Any, expected: Case) -> bool:
    value = expected["value"]
    if isinstance(value, float) and isinstance(ours, float):
        return bool(abs(ours - value) <= expected.get("tolerance", 0))
    if isinstance(value, str) and value.startswith('{"'):  # a map as JSON: its order is the reference's own
        return bool(json.loads(ours) == json.loads(value))
    return bool(ours == value)


def check(case: Case) -> None:
    got = answer(case, surroundings(case))
    if case["id"] in OURS:
        ours = OURS[case["id"]]
        assert got["error"]["kind"] == ours if isinstance(ours, str) else (got["type"], got["value"]) == ours
    elif "expect" in case:
        expected = case["expect"]
        assert got.get("type") == expected["type"], got
        assert "value" not in expected or same(got["value"], expected), got
        assert got.get("symbols") == expected["symbols"] if "symbols" in expected else True
    else:
        expected = case["expect_error"]
        kinds = {"illegal_argument": {"illegal_argument", "number_format"}}.get(
            expected["kind"], {expected["kind"]}
        )
        assert expected["kind"] == "any" or got["error"]["kind"] in kinds, got
        assert got["error"].get("limit") == expected["limit"] if "limit" in expected else True


@pytest.mark.parametrize("case", cases("sel"))
def test_row_59_sel(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", cases("maestro"))
def test_row_59_maestro(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", cases("validate"))
def test_row_59_validate(case: Case) -> None:
    check(case)


PLACE = re.compile(r"line (\d+),? column (\d+)")


def has_place(case: Case) -> bool:
    return bool(PLACE.search(str(case.get("expect_error", {}).get("observed")))) and case["id"] not in OURS


@pytest.mark.parametrize("case", [item for item in cases("sel", "validate") if has_place(item.values[0])])
def test_errors_have_the_place_that_the_reference_reports(case: Case) -> None:
    place = PLACE.search(case["expect_error"]["observed"])
    error = answer(case, surroundings(case))["error"]
    assert place is not None
    assert (error["line"], error["column"]) == (int(place[1]), int(place[2]))


def is_shown(case: Case) -> bool:
    shown = case.get("expect", {}).get("string")
    return shown is not None and case["expect"]["type"] != "MAP" and case["id"] not in OURS


@pytest.mark.parametrize("case", [item for item in cases("sel") if is_shown(item.values[0])])
def test_text_form(case: Case) -> None:
    value = compile_expression(case["script"]).evaluate(bindings(case), surroundings(case))
    assert text_of(value, lambda _: None) == case["expect"]["string"]


def bindings(case: Case) -> dict[str, Any]:
    return {name: from_wire(value) for name, value in case["bindings"].items()}


@pytest.mark.parametrize("case", [item for item in cases("sel") if item.values[0]["bindings"]])
def test_bindings_are_never_changed(case: Case) -> None:
    given = bindings(case)
    before = json.dumps(given, default=str)
    limits = Limits(**case.get("limits", {}))
    with contextlib.suppress(SelError):
        compile_expression(case["script"]).evaluate(given, Environment(now_millis=0, limits=limits))
    assert json.dumps(given, default=str) == before


@pytest.mark.parametrize(
    "case", [item for item in cases("interpolate") if item.values[0]["param"]["type"].startswith("STRING")]
)
def test_row_59_interpolate(case: Case) -> None:
    value = case["param"]["value"]
    names: list[str] = []
    values = {
        name: data["value"] if data["type"] == "STRING_MAP" else from_wire(data)
        for name, data in case["bindings"].items()
        if data.get("evaluated", True)
    }

    def rendered(text: str) -> str:
        template = compile_template(text)
        names.extend(name for name in template.names if name not in names)
        return template.render(values.__getitem__)

    def whole() -> Any:
        if isinstance(value, str):
            return rendered(value)
        if isinstance(value, list):
            return [rendered(text) for text in value]
        return {rendered(key): rendered(text) for key, text in value.items()}

    if "expect_error" in case:  # what a missing parameter means is the business of `params`
        with pytest.raises(KeyError):
            whole()
    else:
        assert whole() == case["expect"]["value"]
    assert names == case["expect_refs"]
