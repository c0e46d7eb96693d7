"""Job templates."""

from typing import Final

from stretto.actions.job_templates import (
    delete_job_template,
    get_job_template,
    list_job_templates,
    put_job_template,
)
from stretto.api.routing import Calling, Given, Name, OptionalText, Text, deletes, gets, posts
from stretto.definition.reading.read import Format
from stretto.model.job_template import DEFAULT_VERSION, JobTemplate, JobTemplateRequest


@posts("/job-templates", reads=JobTemplateRequest)
async def put(call: Calling, given: Given[JobTemplateRequest]) -> JobTemplate:
    """Store a template."""
    return await put_job_template(call.store, call.caller, given, limits=call.desk.limits)


@posts("/job-templates/{=yaml}", reads=JobTemplateRequest, form=Format.YAML)
async def put_yaml(call: Calling, given: Given[JobTemplateRequest]) -> JobTemplate:
    """Store a template that is written in YAML."""
    return await put_job_template(call.store, call.caller, given, limits=call.desk.limits)


@gets("/job-templates/{job_type}")
async def read(call: Calling, job_type: Name, version: Text = DEFAULT_VERSION) -> JobTemplate:
    """One version of a template; without `version` the one that is called `default`."""
    return await get_job_template(call.store, call.reader, job_type, version)


@deletes("/job-templates/{job_type}", user=False)
async def remove(call: Calling, job_type: Name, version: OptionalText = None) -> str:
    """Delete one version of a template, or all; the answer says how many there were, 0 included."""
    return await delete_job_template(call.store, call.reader, job_type, version)


@gets("/job-templates")
async def read_all(call: Calling, version: Text = DEFAULT_VERSION) -> list[JobTemplate]:
    """All templates that have this version; without `version` those that have one called `default`."""
    return await list_job_templates(call.store, call.reader, version)


ROUTES: Final = (put, put_yaml, read, remove, read_all)
