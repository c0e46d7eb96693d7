"""Every definition, step and block of params that the Maestro design document prints can be read."""

import json
import re
from typing import Any

import pytest
from tests.conformance.corpus import corpus

from stretto.definition import check, parse, to_json, to_yaml
from stretto.definition.printing import to_value
from stretto.model.problem import Code

pytestmark = pytest.mark.conformance

PAGE = corpus("..", "design-documents", "maestro-architecture.zh.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = [(PAGE.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in BLOCK.finditer(PAGE)]

SETTINGS = "settings of the server"
DEPLOYMENT = "how the server is deployed"
REQUEST = "commands that call the API"
# Blocks of JSON, YAML and shell that hold no definition: how they begin, and what they are.
OTHERS = {
    "# application.yml\nmaestro:\n  queue:": SETTINGS,
    "maestro:\n  sel:": SETTINGS,
    "# application-aws.yml": SETTINGS,
    "engine:\n  configs:\n    internal-worker-num": SETTINGS,
    "maestro:\n  queue:\n    properties:\n      3:": SETTINGS,
    "engine:\n  configs:\n    workflow-database": SETTINGS,
    "stepruntime:\n  foreach:": SETTINGS,
    "stepruntime:\n  subworkflow:": SETTINGS,
    "stepruntime:\n  enable-tag-permit": SETTINGS,
    "# application-prod.yml": SETTINGS,
    "# 增加工作流启动处理器线程": SETTINGS,
    "engine:\n  configs:\n    maintenance-delay": SETTINGS,
    "# docker-compose.yml": DEPLOYMENT,
    "apiVersion: apps/v1": DEPLOYMENT,
    "# 创建带信号触发的工作流": REQUEST,
    "# 创建断点": REQUEST,
    "# 查看信号实例": REQUEST,
}
DEFINITIONS = [(line, text) for line, kind, text in BLOCKS if kind == "json"]


def whole(text: str) -> dict[str, Any]:
    """A fragment inside a workflow."""
    value = json.loads(text)
    if "workflow" in value:
        return dict(value)
    if value.keys() == {"params"}:
        return {"workflow": {"id": "printed", **value}}
    return {"workflow": {"id": "printed", "steps": [value]}}


def test_every_other_block_is_known() -> None:
    rest = [text for _, kind, text in BLOCKS if kind in {"yaml", "bash"}]
    for text in rest:
        assert [start for start in OTHERS if text.startswith(start)], text[:80]
    assert len(rest) == len(OTHERS)
    assert {kind for _, kind, _ in BLOCKS} == {"", "java", "json", "yaml", "bash"}
    assert not [text for _, kind, text in BLOCKS if not kind and text.lstrip().startswith(("{", "workflow"))]


def test_there_are_six_to_read() -> None:
    assert [sorted(json.loads(text)) for _, text in DEFINITIONS] == [
        ["properties", "workflow"],
        ["params"],
        ["foreach"],
        ["subworkflow"],
        ["while"],
        ["step"],
    ]


@pytest.mark.parametrize(("line", "text"), DEFINITIONS, ids=[f"line-{line}" for line, _ in DEFINITIONS])
def test_printed_definitions(line: int, text: str) -> None:
    value = json.dumps(whole(text))
    made = parse(value)
    assert parse(to_json(made)) == parse(to_yaml(made)) == made
    assert [problem.code for problem in check(value).problems] == [], line


def test_what_the_short_forms_mean() -> None:
    steps: dict[str, Any] = {}
    for _, text in DEFINITIONS[2:]:
        steps.update(to_value(parse(json.dumps(whole(text))))["workflow"]["steps"][0])
    assert steps["foreach"]["params"]["loop_params"]["value"]["items"] == {
        "value": [1, 2, 3, 4, 5],
        "type": "LONG_ARRAY",
    }
    assert steps["subworkflow"]["params"]["subworkflow_id"]["value"] == "child-workflow-id"
    assert steps["subworkflow"]["params"]["subworkflow_version"]["value"] == "latest"
    assert steps["while"]["condition"] == "iteration_count < 10 && !data_ready"
    assert steps["while"]["max_iterations"] == 100
    assert (steps["step"]["type"], steps["step"]["tags"]) == ("Titus", [{"name": "gpu_cluster", "permit": 5}])


def test_the_same_texts_with_an_error_in_them() -> None:
    """They were not read by chance: a wrong word in each is found."""
    for _, text in DEFINITIONS:
        broken = json.dumps(whole(text)).replace('"type"', '"tipe"', 1).replace('"id"', '"idd"', 1)
        codes = {problem.code for problem in check(broken).problems}
        assert codes & {Code.MISSING_FIELD, Code.UNKNOWN_FIELD}
