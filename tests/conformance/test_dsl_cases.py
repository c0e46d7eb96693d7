"""Behaviour cases of the area `dsl`."""

import re
from typing import Any

import pytest
import yaml
from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.corpus import corpus

from stretto.definition import check, parse
from stretto.definition.forms.dsl_transitions import successors_of
from stretto.definition.parse import Options
from stretto.definition.printing import to_value
from stretto.model.problem import Code, Problem

pytestmark = pytest.mark.conformance

CASES = cases_of("dsl")


def test_all_cases_are_here() -> None:
    assert CASES.keys() == {"dsl-transitions", "dsl-transitions-invalid", "dsl-params", "dsl-workflow"}


def successors(entries: list[str]) -> tuple[dict[str, Any], list[str]]:
    sink: list[Problem] = []
    return successors_of(entries, None, sink), [problem.message for problem in sink]


def test_dsl_transitions() -> None:
    case = CASES["dsl-transitions"]
    then = Then(case)
    assert [successors(entries) for entries in case["given"]["inputs"]] == [
        (edges, []) for edges in then.take("successors")
    ]
    then.assert_all_taken()


def test_dsl_transitions_invalid() -> None:
    case = CASES["dsl-transitions-invalid"]
    then = Then(case)
    for entries, error in zip(case["given"]["inputs"], then.take("error"), strict=True):
        [message] = successors(entries)[1]
        if "OTHERWISE" in error:
            assert "OTHERWISE must be the last" in message
        else:
            assert (error, "is not a transition" in message) == ("validation error", True)
    then.assert_all_taken()


def params_of(params: Case) -> Case:
    text = yaml.safe_dump({"workflow": {"id": "a", "jobs": [], **params}})
    made: Case = to_value(parse(text))["workflow"]["params"]
    return made


def described(param: Case) -> str:
    """`LONG expression CONSTANT`, in the words of the case."""
    words = [param["type"]]
    if "expression" in param:
        words.append("expression")
    if "mode" in param:
        words.append(param["mode"])
    return " ".join(words)


def test_dsl_params() -> None:
    case = CASES["dsl-params"]
    then = Then(case)
    made = params_of(case["given"]["params"])
    types = then.take("types")
    assert made.keys() == types.keys()
    for name, wanted in types.items():
        plain = re.sub(r" (literal|\[\]|\{\}|\(nested\))$", "", wanted)
        assert described(made[name]) == plain, name
        if wanted.endswith(("[]", "{}")):
            assert not made[name]["value"]
        if wanted.endswith("literal"):
            assert "value" in made[name]
        if wanted.endswith("(nested)"):
            assert made[name]["value"]["foo"]["value"]["bar"] == {"value": 123, "type": "LONG"}
    for invalid in then.take("invalid"):
        key, _, value = invalid.partition(" = ")
        given = {key: yaml.safe_load(value or "1")}
        text = yaml.safe_dump({"workflow": {"id": "a", "jobs": [], **given}})
        assert [problem.code for problem in check(text).problems] in (
            [[Code.UNKNOWN_VALUE], [Code.WRONG_TYPE]]
        ), invalid
    then.assert_all_taken()


def test_dsl_workflow() -> None:
    case = CASES["dsl-workflow"]
    given, then = case["given"], Then(case)
    text = corpus(*given["data_file"].split("/")).read_text(encoding="utf-8")
    options = Options(templates={name: kind.capitalize() for name, kind in given["type_resolver"].items()})
    assert check(text, options).problems == ()
    value = to_value(parse(text, options))
    assert value["properties"]["run_strategy"] == then.take("run_strategy")
    extract, loop = value["workflow"]["steps"]
    assert then.take("steps") == ["extract_data (NOTEBOOK/spark)", "process_partitions (FOREACH)"]
    extract, loop = extract["step"], loop["foreach"]
    assert (extract["id"], extract["type"], extract["sub_type"]) == ("extract_data", "Notebook", "spark")
    assert loop["id"] == "process_partitions"
    assert extract["transition"]["successors"] == then.take("extract_data.successors")
    params = loop["params"]["loop_params"]["value"]
    assert {name: param.get("value", param.get("expression")) for name, param in params.items()} == (
        then.take("loop_params")
    )
    check_inner(loop["steps"], then.take("inner"))
    assert then.take("unknown_job_in_dag") == "error"
    broken = check(text.replace("    extract_data:\n", "    extract_dota:\n"), options).problems
    assert (broken[0].code, "extract_dota" in broken[0].message) == (Code.UNKNOWN_STEP, True)
    then.assert_all_taken()


def check_inner(steps: list[Case], said: str) -> None:
    [retry] = [each["while"] for each in steps]
    job, child = retry["steps"]
    job, child = job["step"], child["subworkflow"]
    version = child["params"]["subworkflow_version"]["value"]
    assert child["explicit_params"] is True
    assert child["params"]["subworkflow_id"]["value"] == child["id"]
    assert said == (
        f"{retry['id']} (WHILE {retry['condition']}) with {job['id']} "
        f"({job['type'].upper()}/{job['sub_type']}) and {child['id']} (SUBWORKFLOW, explicit_params, "
        f"version {version})"
    )
    assert job["transition"]["successors"] == {child["id"]: "foo == 'bar'"}
