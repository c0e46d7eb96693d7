"""Parameters in brief: what differs from the defaults is written, and everything comes back."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from stretto.actions.parts.evaluation import FreshRun, answer_to, facts_of, question_of
from stretto.engine.kinds.loops import IterationParams
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.model.errors import Internal
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Parameter, ParamMode, Params, ParamType
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag
from stretto.model.workflow import Workflow
from stretto.params import workflow_params
from stretto.ports.default_params import DEFAULT_PARAMS
from stretto.store.sql.codec import ATTEMPT, EVALUATED, OWN_PARAMS, PARAMS
from stretto.store.sql.params import KnownParams

NOW = 1_763_280_000_000
KEY = RunKey("wf", 1, 1)
OWN = Parameter(type=ParamType.LONG, value=7, evaluated_result=7, evaluated_time=NOW)


def evaluated(**given: ParamDefinition) -> Mapping[str, Parameter]:
    """The parameters of a fresh run."""
    params: Params = given
    facts = facts_of(Workflow(id="wf"), ManualInitiator(), "ann", RunPolicy.START_FRESH_NEW_RUN)
    return answer_to(question_of(workflow_params(params), FreshRun(facts, {}, 1), "request", NOW))


def written(params: Mapping[str, Parameter]) -> dict[str, Any]:
    """The text, as an object; what is read from it are the same parameters."""
    text = PARAMS.write(params)
    assert PARAMS.read(text) == dict(params)
    found: dict[str, Any] = msgspec.json.decode(text)
    return found


def bare(found: dict[str, Any]) -> set[str]:
    return {name for name, each in found.items() if not isinstance(each, dict)} - {EVALUATED}


def test_of_untouched_defaults_only_the_result_is_written() -> None:
    params = evaluated(x=ParamDefinition(type=ParamType.LONG, value=5))
    found = written(params)
    assert found[EVALUATED] == NOW
    assert bare(found) == set(params) - {"x"}
    assert found["RUN_TS"] == NOW
    assert found["owner"] == "ann"
    assert len(PARAMS.write(params)) < 1_000
    assert [*found] == [*params, EVALUATED]


def test_parameters_that_were_read_are_written_in_brief_again() -> None:
    text = PARAMS.write(evaluated())
    assert PARAMS.write(PARAMS.read(text)) == text


def test_facts_of_steps_are_written_in_brief() -> None:
    facts = {
        name: replace(DEFAULT_PARAMS[name], evaluated_result=result, evaluated_time=NOW)
        for name, result in {"step_id": "s", "step_attempt_id": 1, "step_instance_uuid": "u"}.items()
    }
    record = AttemptRecord(key=AttemptKey(KEY, "s", 1), sequence=1, params={**facts, "x": OWN})
    text = ATTEMPT.write(record)
    assert msgspec.json.decode(text)["params"].keys() - {"x"} == {*facts, EVALUATED}
    assert bare(msgspec.json.decode(text)["params"]) == set(facts)
    assert ATTEMPT.read(text) == record


@pytest.mark.parametrize(
    "change",
    [
        {"mode": ParamMode.CONSTANT},
        {"tags": (Tag(name="t"),)},
        {"expression": "return 1;"},
        {"validator": "return true;"},
        {"meta": {"a": 1}},
        {"evaluated_result": None},
        {"evaluated_result": True},
        {"evaluated_result": (1, 2)},
        {"evaluated_time": None},
        {"evaluated_time": NOW + 1},
    ],
)
def test_what_somebody_changed_is_written_whole(change: dict[str, Any]) -> None:
    params = dict(evaluated())
    params["RUN_DATE"] = replace(params["RUN_DATE"], **change)
    assert bare(written(params)) == set(params) - {"RUN_DATE"}


def test_a_time_may_be_the_beginning_of_time() -> None:
    params = {name: replace(each, evaluated_time=0) for name, each in evaluated().items()}
    params["RUN_DATE"] = replace(params["RUN_DATE"], evaluated_time=5)
    assert bare(written(params)) == set(params) - {"RUN_DATE"}


def test_without_a_time_nothing_is_bare() -> None:
    params = {name: replace(each, evaluated_time=None) for name, each in evaluated().items()}
    found = written(params)
    assert not bare(found)
    assert EVALUATED not in found


def test_a_parameter_may_be_called_as_the_mark_is() -> None:
    found = written({**evaluated(), EVALUATED: OWN})
    assert not bare(found)


def test_whole_defaults_are_read_too() -> None:
    """Rows that were written before there was a short form."""
    params = dict(evaluated())
    text = OWN_PARAMS.write(params)
    assert len(text) > 5_000
    assert PARAMS.read(text) == params


@pytest.mark.parametrize(
    "text",
    ['{"a":"b","~1":5}', '{"RUN_TS":5}', '{"RUN_TS":5,"~2":5}', '{"RUN_TS":5,"~1":5,"~2":5}'],
)
def test_what_is_no_default_can_not_be_read(text: str) -> None:
    with pytest.raises(Internal, match="none of the defaults"):
        PARAMS.read(text)


def iteration(own: dict[str, Parameter]) -> RunRecord:
    return RunRecord(
        key=KEY,
        uuid="u",
        version_id=1,
        initiator=ManualInitiator(),
        correlation_id="c",
        params=IterationParams(own, evaluated()),
    )


def test_what_an_iteration_has_of_its_own_stands_over_its_base() -> None:
    later = replace(dict(evaluated())["RUN_DATE"], evaluated_result="20300101", evaluated_time=NOW + 5)
    record = iteration({"i": OWN, "RUN_DATE": later})
    found = KnownParams().written(record, iteration=True)
    assert found.base is not None
    assert found.own is not None
    assert {**PARAMS.read(found.base.text), **OWN_PARAMS.read(found.own)} == dict(record.params)


def test_an_iteration_whose_own_parameter_is_called_as_the_mark_is() -> None:
    record = iteration({EVALUATED: OWN})
    found = KnownParams().written(record, iteration=True)
    assert found.base is None
    assert found.own is not None
    assert PARAMS.read(found.own) == dict(record.params)
