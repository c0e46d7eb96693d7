"""Job templates."""

from typing import Final

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.naming import check_extra, check_reference
from stretto.actions.parts.repeat import repeated
from stretto.definition import Limits
from stretto.model.errors import InvalidDefinition, InvalidRequest, NotFound
from stretto.model.job_template import (
    DEFAULT_VERSION,
    JobTemplate,
    JobTemplateDefinition,
    JobTemplateMetadata,
    JobTemplateRequest,
)
from stretto.model.suggest import did_you_mean
from stretto.params import problems_of
from stretto.ports.paging import Cut
from stretto.ports.store import Store
from stretto.ports.templates import TemplatePage, read_template

DEFAULT_LIMITS: Final = Limits()


async def put_job_template(
    store: Store, caller: Caller, request: JobTemplateRequest, *, limits: Limits = DEFAULT_LIMITS
) -> JobTemplate:
    """Store a template, in the place of one with the same job type and version."""
    check_role(caller, Role.AUTHOR, "change job templates")
    definition = request.definition
    check_extra(request.extra, JobTemplateMetadata)
    _check(definition, limits)
    metadata = JobTemplateMetadata(
        owner=request.owner,
        version_author=caller.user,
        status=request.status,
        support=request.support,
        test_workflows=request.test_workflows,
        git_info=request.git_info,
        create_time=await store.now(),
        extra=request.extra,
    )
    template = JobTemplate(metadata=metadata, definition=definition)
    await repeated(lambda: store.put_template(template))
    return template


async def get_job_template(
    store: Store, caller: Caller, job_type: str, version: str = DEFAULT_VERSION
) -> JobTemplate:
    """One template."""
    check_role(caller, Role.VIEWER, "see job templates")
    found = await read_template(store, job_type, version)
    if found is None:
        hint = "name another version with `version=`" if version == DEFAULT_VERSION else None
        raise NotFound(f"Cannot find job template [{job_type}][{version}]", hint=hint)
    return found


async def list_job_templates(
    store: Store, caller: Caller, version: str = DEFAULT_VERSION
) -> list[JobTemplate]:
    """All templates that have this version, by job type."""
    check_role(caller, Role.VIEWER, "see job templates")
    found: list[JobTemplate] = []
    cut = Cut()
    while True:
        page = await store.templates(TemplatePage(version, cut))
        found += page.elements
        if not page.after:
            return found
        cut = Cut(above=page.elements[-1].definition.job_type)


async def delete_job_template(store: Store, caller: Caller, job_type: str, version: str | None = None) -> str:
    """Delete one version, or all; the answer says how many there were."""
    check_role(caller, Role.AUTHOR, "change job templates")
    count = await repeated(lambda: store.delete_templates(job_type, version))
    which = f"[{job_type}]" if version is None else f"[{job_type}][{version}]"
    return f"Deleted [{count}] versions of job template {which}"


def _check(definition: JobTemplateDefinition, limits: Limits) -> None:
    """The names, and what a step that takes the template could not have either."""
    name = f"job template [{definition.job_type[:40]}]"
    check_reference(definition.job_type, "a job type", limits.id_length)
    check_reference(definition.version, "a template version", limits.id_length)
    if len(definition.description or "") > limits.description_length:
        most = f"{limits.description_length:,} characters"
        raise InvalidRequest(f"The description of {name} is too long", hint=f"at most {most}")
    if definition.step_type not in limits.step_types:
        hint = did_you_mean(definition.step_type, sorted(limits.step_types))
        raise InvalidRequest(f"The step type [{definition.step_type}] of {name} is not known", hint=hint)
    problems = problems_of(definition.params or {}, (None, "params"))
    if problems:
        raise InvalidDefinition(problems, source=name)
