"""Job templates."""

from typing import NamedTuple, Protocol

from stretto.model.job_template import JobTemplate
from stretto.ports.paging import Cut, Slice


class NamedTemplate(NamedTuple):
    """One template, if it is there."""

    job_type: str
    version: str


class TemplatePage(NamedTuple):
    """All templates that have this version, by job type."""

    version: str
    cut: Cut


TemplateSelection = NamedTemplate | TemplatePage


class Templates(Protocol):
    """Templates by job type and version."""

    async def put_template(self, template: JobTemplate) -> None:
        """Store it, in the place of one with the same job type and version."""
        ...

    async def templates(self, selection: TemplateSelection) -> Slice[JobTemplate]:
        """The selected templates. Only reads."""
        ...

    async def delete_templates(self, job_type: str, version: str | None = None) -> int:
        """Delete one version, or all; returns how many there were. Idempotent."""
        ...


async def read_template(templates: Templates, job_type: str, version: str) -> JobTemplate | None:
    """One template."""
    return next(iter((await templates.templates(NamedTemplate(job_type, version))).elements), None)
