"""What a job template gives to a step: parameters below the step's own, and tags.

    template_key(step, workflow_params)   -> which template the step names, if any
    wanted(key, templates)                -> templates that must still be fetched to resolve it
    resolve(step, key, templates)         -> Injected(params, tags)

`templates` maps what was looked up to what was found; None: there is no such template, and then it gives
nothing. Parents come first and the child overrides them by name; a template that is inherited along two ways
counts once. That workflow parameters of the same name override a template's is the business of the layers
(`params.StepLayers`), which merge them with their modes.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.model.errors import InvalidRequest
from stretto.model.job_template import DEFAULT_VERSION, VERSION_PARAM, JobTemplateDefinition
from stretto.model.param import Parameter, Params
from stretto.model.step import TypedStep
from stretto.model.tag import Tag, TagNamespace


class TemplateKey(NamedTuple):
    """A template by its type and version."""

    job_type: str
    version: str


Templates = Mapping[TemplateKey, JobTemplateDefinition | None]


class Injected(msgspec.Struct, frozen=True):
    """What a step brings along beside its own definition."""

    params: Params = {}
    tags: tuple[Tag, ...] = ()


NOTHING: Final = Injected()


class CyclicTemplates(InvalidRequest):
    """A template inherits from itself."""

    id = "cyclic-templates"


def template_key(step: TypedStep, workflow_params: Mapping[str, Parameter]) -> TemplateKey | None:
    """The template of a step; its version is the step's, else the run's, else the default one."""
    if step.sub_type is None:
        return None
    chosen = workflow_params.get(VERSION_PARAM)
    of_run = None if chosen is None else chosen.evaluated_result
    return TemplateKey(step.sub_type, step.sub_type_version or of_run or DEFAULT_VERSION)


def wanted(key: TemplateKey, templates: Templates) -> set[TemplateKey]:
    """What nobody has looked up yet. Asked again and again, it ends with everything that is needed."""
    missing: set[TemplateKey] = set()
    seen = {key}
    todo = [key]
    while todo:
        each = todo.pop()
        if each not in templates:
            missing.add(each)
            continue
        new = [parent for parent in _parents(templates[each]) if parent not in seen]
        seen.update(new)
        todo += new
    return missing


def absent(key: TemplateKey | None, templates: Templates) -> list[TemplateKey]:
    """Templates that a step takes, or that those inherit from, and that there are not."""
    found: list[TemplateKey] = []
    seen, todo = {key}, [] if key is None else [key]
    while todo:
        each = todo.pop()
        if templates.get(each) is None:
            found.append(each)
        new = [parent for parent in _parents(templates.get(each)) if parent not in seen]
        seen.update(new)
        todo += new
    return sorted(found)


def resolve(step: TypedStep, key: TemplateKey | None, templates: Templates) -> Injected:
    """The template's parameters and tags with those that it inherits. Only its own step type must fit."""
    template = None if key is None else templates.get(key)
    if key is None or template is None:
        return NOTHING
    if template.step_type.casefold() != step.type.casefold():
        raise InvalidRequest(
            f"Job template definition step type [{template.step_type.upper()}] does not match"
            f" the current step type [{step.type.upper()}]"
        )
    line = _Lineage(step, templates)
    for parent in _parents(template):
        line.follow(parent, frozenset())
    line.found[key] = template
    params: Params = {}
    tags: dict[str, Tag] = {}
    for each in line.found.values():
        params |= each.params or {}
        tags |= {tag.name: _named(tag) for tag in each.tags or ()}
    return Injected(params, tuple(tags.values()))


class _Lineage:
    """Templates in the order in which they apply: each after those that it inherits from."""

    def __init__(self, step: TypedStep, templates: Templates) -> None:
        self.found: dict[TemplateKey, JobTemplateDefinition] = {}
        self._step = step
        self._templates = templates

    def follow(self, key: TemplateKey, path: frozenset[TemplateKey]) -> None:
        if key in path:
            raise CyclicTemplates(
                f"Cyclic dependency detected for step [{self._step.id}][{self._step.type.upper()}]"
                f"[{self._step.sub_type}] when inheriting job type [{key.job_type}]"
            )
        template = self._templates.get(key)
        if key in self.found or template is None:
            return
        for parent in _parents(template):
            self.follow(parent, path | {key})
        self.found[key] = template


def _parents(template: JobTemplateDefinition | None) -> list[TemplateKey]:
    inherited = template.inherit_from if template is not None else None
    return [TemplateKey(*item) for item in (inherited or {}).items()]


def _named(tag: Tag) -> Tag:
    return msgspec.structs.replace(tag, namespace=TagNamespace.JOB_TEMPLATE)
