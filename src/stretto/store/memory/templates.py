"""Job templates."""

from stretto.model.job_template import JobTemplate
from stretto.ports.paging import Slice
from stretto.ports.templates import NamedTemplate, TemplatePage, TemplateSelection
from stretto.store.memory.database import Part
from stretto.store.memory.paging import select, slice_of


class MemoryTemplates(Part):
    """See `ports.templates`."""

    async def put_template(self, template: JobTemplate) -> None:
        with self._db.transaction():
            self._db.templates.put((template.definition.job_type, template.definition.version), template)

    async def templates(self, selection: TemplateSelection) -> Slice[JobTemplate]:
        db = self._db
        with db.transaction():
            match selection:
                case NamedTemplate():
                    found = db.templates.get(selection)
                    return Slice(elements=() if found is None else (found,))
                case TemplatePage(version, cut):
                    types = [job_type for job_type, _version in db.templates_of[version]]
                    return slice_of(select(types, cut), lambda job_type: db.templates[job_type, version])

    async def delete_templates(self, job_type: str, version: str | None = None) -> int:
        with self._db.transaction():
            doomed = [at for at in self._db.templates if at[0] == job_type and version in {None, at[1]}]
            for at in doomed:
                self._db.templates.pop(at)
            return len(doomed)
