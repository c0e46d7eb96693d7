"""Job templates."""

from typing import Final

from stretto.model.job_template import JobTemplate
from stretto.ports.paging import Slice
from stretto.ports.templates import NamedTemplate, TemplatePage, TemplateSelection
from stretto.store.sql.codec import TEMPLATE
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import NAME_LENGTH, fitting
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.statement import Bulk, Row, Statement, Way, texts

PUT: Final = Bulk(
    way=Way.PUT,
    table="job_template",
    key=2,
    fields=texts("job_type", "version", "doc"),
    changes=frozenset({"doc"}),
)
ONE: Final = Statement("SELECT doc FROM job_template WHERE job_type = :job_type AND version = :version")
DELETE: Final = Statement("DELETE FROM job_template WHERE job_type = :job_type AND version = :version")
DELETE_ALL: Final = Statement("DELETE FROM job_template WHERE job_type = :job_type")
OF_VERSION: Final = Listing("job_type, doc", "job_template WHERE version = :version", ["job_type"])


class SqlTemplates(Part):
    """See `ports.templates`."""

    async def put_template(self, template: JobTemplate) -> None:
        definition = template.definition
        job_type = fitting(definition.job_type, NAME_LENGTH, "a job type")
        version = fitting(definition.version, NAME_LENGTH, "the version of a job type")
        row = (job_type, version, TEMPLATE.write(template))

        async def work(tx: Transaction) -> None:
            await tx.bulk(PUT, [row])

        await self._db.write(work)

    async def templates(self, selection: TemplateSelection) -> Slice[JobTemplate]:
        async def work(tx: Transaction) -> Slice[JobTemplate]:
            match selection:
                case NamedTemplate():
                    rows = await tx.all(ONE, **selection._asdict())
                    return Slice(elements=tuple(TEMPLATE.read(row[0]) for row in rows))
                case TemplatePage(version, cut):
                    return (await OF_VERSION.page(tx, cut, version=version)).of(_template)

        return await (self._db.look(work) if isinstance(selection, NamedTemplate) else self._db.read(work))

    async def delete_templates(self, job_type: str, version: str | None = None) -> int:
        async def work(tx: Transaction) -> int:
            if version is None:
                return await tx.run(DELETE_ALL, job_type=job_type)
            return await tx.run(DELETE, job_type=job_type, version=version)

        return await self._db.write(work)


def _template(columns: Row) -> JobTemplate:
    return TEMPLATE.read(columns[1])
