"""Job templates: which one, what it inherits, and what it gives."""

import pytest

from stretto.engine.job_templates import (
    NOTHING,
    CyclicTemplates,
    TemplateKey,
    Templates,
    resolve,
    template_key,
    wanted,
)
from stretto.model.errors import InvalidRequest
from stretto.model.job_template import JobTemplateDefinition
from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.model.step import TypedStep
from stretto.model.tag import Tag, TagNamespace

STEP = TypedStep(id="job", type="Notebook", sub_type="shell")
SHELL = TemplateKey("shell", "default")


def params(**values: str) -> Params:
    return {name: ParamDefinition(type=ParamType.STRING, value=value) for name, value in values.items()}


def template(
    job_type: str, inherits: dict[str, str] | None = None, values: Params | None = None, tags: str = ""
) -> JobTemplateDefinition:
    return JobTemplateDefinition(
        job_type=job_type,
        step_type="Notebook" if job_type == "shell" else "Http",
        version="default",
        inherit_from=inherits,
        params=values,
        tags=tuple(Tag(name=name) for name in tags) or None,
    )


def known(*templates: JobTemplateDefinition) -> Templates:
    return {TemplateKey(each.job_type, each.version): each for each in templates}


def test_the_version_is_the_steps_or_the_runs_or_the_default() -> None:
    run = {"job_template_version": Parameter(type=ParamType.STRING, value="v2", evaluated_result="v2")}
    empty = {"job_template_version": Parameter(type=ParamType.STRING, value="", evaluated_result="")}
    own = TypedStep(id="job", type="Notebook", sub_type="shell", sub_type_version="v1")
    assert template_key(own, run) == ("shell", "v1")
    assert template_key(STEP, run) == ("shell", "v2")
    assert template_key(STEP, empty) == template_key(STEP, {}) == SHELL
    assert template_key(TypedStep(id="job", type="NoOp"), run) is None


def test_a_template_that_does_not_exist_gives_nothing() -> None:
    assert resolve(STEP, SHELL, {SHELL: None}) is NOTHING
    assert resolve(STEP, None, {}) is NOTHING


def test_children_override_their_parents_by_name() -> None:
    templates = known(
        template("shell", {"a": "default", "b": "default"}, params(one="shell"), "xy"),
        template("a", {"base": "default"}, params(one="a", two="a"), "z"),
        template("b", {"base": "default", "gone": "default"}),
        template("base", None, params(one="base", two="base", three="base"), "x"),
    )
    injected = resolve(STEP, SHELL, templates)
    assert injected.params == params(one="shell", two="a", three="base")
    assert [tag.name for tag in injected.tags] == ["x", "z", "y"]
    assert {tag.namespace for tag in injected.tags} == {TagNamespace.JOB_TEMPLATE}


def test_a_template_must_be_for_the_type_of_the_step() -> None:
    with pytest.raises(InvalidRequest, match=r"step type \[NOTEBOOK\] does not match .* \[HTTP\]"):
        resolve(TypedStep(id="job", type="Http", sub_type="shell"), SHELL, known(template("shell")))


@pytest.mark.parametrize("parents", [{"shell": "default"}, {"a": "default"}])
def test_a_template_does_not_inherit_from_itself(parents: dict[str, str]) -> None:
    templates = known(template("shell", parents), template("a", {"shell": "default"}))
    with pytest.raises(CyclicTemplates, match=r"step \[job\]\[NOTEBOOK\]\[shell\] when inheriting"):
        resolve(STEP, SHELL, templates)
    assert wanted(SHELL, templates) == set()


def test_another_version_of_the_same_type_is_another_template() -> None:
    newest = TemplateKey("shell", "v3")
    templates: Templates = {
        newest: template("shell", {"shell": "v2"}),
        TemplateKey("shell", "v2"): template("shell", {"shell": "v1"}),
        TemplateKey("shell", "v1"): template("shell", None, params(one="v1")),
    }
    assert resolve(STEP, newest, templates).params == params(one="v1")


def test_inheriting_along_many_ways_costs_no_more_than_along_one() -> None:
    levels = [
        template(f"{side}{level}", {f"{other}{level - 1}": "default" for other in "lr"})
        for level in range(1, 60)
        for side in "lr"
    ]
    top = template("shell", {"l59": "default", "r59": "default"})
    base = [template("l0", None, params(x="l")), template("r0", None, params(x="r"))]
    assert resolve(STEP, SHELL, known(top, *levels, *base)).params == params(x="r")


def test_what_must_be_fetched_is_asked_for_level_by_level() -> None:
    shell = template("shell", {"a": "v1", "b": "v1"})
    assert wanted(SHELL, {}) == {SHELL}
    assert wanted(SHELL, {SHELL: shell}) == {("a", "v1"), ("b", "v1")}
    assert wanted(SHELL, {SHELL: shell, TemplateKey("a", "v1"): None}) == {("b", "v1")}
