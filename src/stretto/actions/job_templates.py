"""Job templates."""

from typing import Final

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.repeat import repeated
from stretto.definition.rules.names import PREFIX, REFERENCE_ID, SEPARATOR
from stretto.model.errors import InvalidDefinition, InvalidRequest, NotFound
from stretto.model.job_template import JobTemplate, JobTemplateMetadata, JobTemplateRequest
from stretto.params import problems_of
from stretto.ports.paging import Cut
from stretto.ports.store import Store

DEFAULT_VERSION: Final = "default"


async def put_job_template(store: Store, caller: Caller, request: JobTemplateRequest) -> JobTemplate:
    """Store a template, in the place of one with the same job type and version."""
    check_role(caller, Role.AUTHOR, "change job templates")
    definition = request.definition
    for text, what in ((definition.job_type, "job type"), (definition.version, "template version")):
        if not REFERENCE_ID.fullmatch(text) or SEPARATOR in text or text.lower().startswith(PREFIX):
            raise InvalidRequest(f"[{text}] can not be a {what}")
    problems = problems_of(definition.params or {}, (None, "params"))
    if problems:
        raise InvalidDefinition(problems, source=f"job template [{definition.job_type}]")
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
    found = await store.template(job_type, version)
    if found is None:
        raise NotFound(f"Cannot find job template [{job_type}][{version}]")
    return found


async def list_job_templates(
    store: Store, caller: Caller, version: str = DEFAULT_VERSION
) -> list[JobTemplate]:
    """All templates that have this version, by job type."""
    check_role(caller, Role.VIEWER, "see job templates")
    found: list[JobTemplate] = []
    cut = Cut()
    while True:
        page = await store.templates(version, cut)
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
