"""Behaviour cases about job templates and about what a runtime leaves behind, one test for each."""

from typing import Any

import msgspec
import pytest
from tests.conformance.behaviour import Then
from tests.conformance.rule_cases import Rules, fixture

from stretto.engine.events import ResultState
from stretto.engine.job_templates import Injected, TemplateKey, Templates, resolve, template_key, wanted
from stretto.engine.outcome import merged_artifacts
from stretto.engine.records import appended
from stretto.model.artifact import Artifacts
from stretto.model.errors import InvalidRequest, StrettoError
from stretto.model.job_template import JobTemplate, JobTemplateDefinition
from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.model.step import TypedStep
from stretto.model.tag import Tag, TagNamespace
from stretto.model.timeline import LogEvent
from stretto.model.wire import decode, encode
from stretto.params import StepLayers, step_params

pytestmark = pytest.mark.conformance
RULES = Rules()


# ---------------------------------------------------------------------------------------------- job templates
TEMPLATE = "maestro-data/maestro-common/src/testFixtures/resources/fixtures/stepruntime/job_template.json"
STEP = TypedStep(id="test-step", type="Notebook", sub_type="shell")


def shell(**changes: Any) -> JobTemplateDefinition:
    template: JobTemplate = fixture(TEMPLATE, JobTemplate)
    return msgspec.structs.replace(template.definition, **changes)


def strings(**values: str) -> Params:
    return {name: ParamDefinition(type=ParamType.STRING, value=value) for name, value in values.items()}


def parent_template(**fields: Any) -> JobTemplateDefinition:
    return JobTemplateDefinition(
        job_type="parent-job-type", step_type="Kubernetes", version="default", **fields
    )


def load(version: str, *definitions: JobTemplateDefinition) -> Injected:
    params = {
        "job_template_version": Parameter(type=ParamType.STRING, value=version, evaluated_result=version)
    }
    key = template_key(STEP, params)
    templates: Templates = {TemplateKey(each.job_type, each.version): each for each in definitions}
    assert key is not None
    assert wanted(key, templates) == set()
    return resolve(STEP, key, templates)


@RULES.case("job-template-missing")
def check_no_template(given: Any, then: Then) -> None:
    step = TypedStep(id="job", type="Notebook", sub_type=given["sub_type"])
    key = template_key(step, {})
    assert key is not None
    assert list(key) == then.take("lookup")
    injected = resolve(step, key, {key: given["template"]})
    assert injected.params == then.take("params")
    assert list(injected.tags) == then.take("tags")


@RULES.case("job-template-loaded")
def check_loaded(given: Any, then: Then) -> None:
    assert given["template"] == TEMPLATE
    injected = load(given["workflow_param_job_template_version"], shell())
    check_injected(injected, then)
    assert injected.params["script"].value == then.take("script")


def check_injected(injected: Injected, then: Then) -> None:
    assert len(injected.params) == then.take("param_count")
    assert [tag.name for tag in injected.tags] == then.take("tags")
    assert {tag.namespace for tag in injected.tags} == {TagNamespace.JOB_TEMPLATE}


@RULES.case("job-template-type-mismatch")
def check_mismatch(given: Any, then: Then) -> None:
    with pytest.raises(InvalidRequest) as caught:
        load("v1", shell(step_type=given["template_step_type"].title()))
    assert then.take("error") in caught.value.message


@RULES.case("job-template-inherit")
def check_inherit(given: Any, then: Then) -> None:
    tags = tuple(Tag(name=name) for name in given["parent"]["tags"])
    above = parent_template(params=strings(**given["parent"]["params"]), tags=tags)
    assert above.step_type.upper() == given["parent"]["step_type"]
    check_injected(load("v1", shell(inherit_from=given["inherit_from"]), above), then)
    assert then.take("note") == "parent step type is not checked"


@RULES.case("job-template-child-wins")
def check_child_wins(given: Any, then: Then) -> None:
    above = parent_template(params=strings(**given["parent_params"]))
    injected = load("v1", shell(inherit_from={"parent-job-type": "default"}), above)
    assert injected.params["script"].value == then.take("script") == given["child_script"]


@RULES.case("job-template-cycle")
def check_cycle(given: Any, then: Then) -> None:
    assert given["parent-job-type"] == "inherits shell v1"
    above = parent_template(inherit_from={"shell": "v1"})
    with pytest.raises(StrettoError) as caught:
        load("v1", shell(inherit_from={"parent-job-type": "default"}), above)
    assert then.take("error") in caught.value.message


@RULES.case("job-template-workflow-params-override")
def check_override(given: Any, then: Then) -> None:
    run = {
        name: Parameter(type=ParamType.STRING, value=value, evaluated_result=value)
        for name, value in given["workflow_params"].items()
    }
    merged = step_params(StepLayers(definition={}, template=load("v1", shell()).params, workflow=run))
    assert merged["script"].value == then.take("script")
    assert then.take("foo").startswith("not injected")
    assert "foo" not in merged


# -------------------------------------------------------------------------------- step runtime
@RULES.case("runtime-state-flags")
def check_flags(given: Any, then: Then) -> None:
    states = [ResultState(word) for word in given["states"]]
    assert states == list(ResultState)
    assert [state.is_failed for state in states] == then.take("failed")
    assert [state.is_terminal for state in states] == then.take("terminal")


@RULES.case("timeline-dedup")
def check_timeline(given: Any, then: Then) -> None:
    timeline = appended((), [LogEvent(timestamp=0, message="first")])
    assert len(timeline) == given["timeline_size"]
    for at, message in enumerate(given["add"]):
        timeline = appended(timeline, [LogEvent(timestamp=at, message=message)])
    assert len(timeline) == then.take("timeline_size")


@RULES.case("artifact-merge")
def check_artifacts(given: Any, then: Then) -> None:
    existing, update = (decode(Artifacts, given[name])[0] for name in ("existing", "update"))
    merged = merged_artifacts(existing, update)
    assert encode(merged["artifact1"]) == then.take("artifact1")
    assert then.take("synced") is False  # the attempt has changed
    assert merged != existing


@pytest.mark.parametrize("case_id", RULES.checks)
def test_case(case_id: str) -> None:
    RULES.run(case_id)
