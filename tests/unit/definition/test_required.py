"""What a workflow function says of itself in the metadata of its definition."""

from typing import Any

import pytest

from stretto.definition.required import ResultPlace, required_by, required_of, result_place_of
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.workflow import Workflow, WorkflowVersion


def test_entries_without_a_known_type_say_nothing() -> None:
    said = {
        "day": {"type": "STRING"},
        "rows": {"type": "MAP", "format": "json"},
        "odd": {"type": "?"},
        "no": 3,
    }
    assert required_of({"requires": said}) == {
        "day": ParamDefinition(type=ParamType.STRING),
        "rows": ParamDefinition(type=ParamType.MAP, meta={"format": "json"}),
    }
    assert required_of({"requires": ["day"]}) == {}


def test_a_version_without_metadata_requires_nothing() -> None:
    assert required_by(WorkflowVersion(workflow=Workflow(id="wf"))) == {}


@pytest.mark.parametrize("said", [None, "load", {"step": "load"}, {"param": "result"}])
def test_a_result_has_a_step_and_a_parameter(said: Any) -> None:
    assert result_place_of({"returns": said}) is None
    assert result_place_of({"returns": {"step": "load", "param": "rows"}}) == ResultPlace("load", "rows")
