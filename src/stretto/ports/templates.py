"""Job templates."""

from typing import Protocol

from stretto.model.job_template import JobTemplate
from stretto.ports.paging import Cut, Slice


class Templates(Protocol):
    """Templates by job type and version."""

    async def put_template(self, template: JobTemplate) -> None:
        """Store it, in the place of one with the same job type and version."""
        ...

    async def template(self, job_type: str, version: str) -> JobTemplate | None:
        """One template. Only reads."""
        ...

    async def templates(self, version: str, cut: Cut) -> Slice[JobTemplate]:
        """All templates that have this version, by job type. Only reads."""
        ...

    async def delete_templates(self, job_type: str, version: str | None = None) -> int:
        """Delete one version, or all; returns how many there were. Idempotent."""
        ...
