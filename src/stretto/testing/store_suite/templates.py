"""Job templates, and that a store can tell whether it stores."""

from stretto.model.job_template import JobTemplate, JobTemplateDefinition, JobTemplateMetadata
from stretto.ports.paging import Cut
from stretto.ports.templates import TemplatePage, read_template
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import ALICE, World

SUITE = Suite("templates")


def template(job_type: str, version: str = "default", support: str = "none") -> JobTemplate:
    return JobTemplate(
        metadata=JobTemplateMetadata(owner=ALICE, status="TEST", support=support),
        definition=JobTemplateDefinition(job_type=job_type, step_type="Http", version=version),
    )


@SUITE.check
async def a_template_is_kept_by_type_and_version(world: World) -> None:
    await world.store.put_template(template("a"))
    await world.store.put_template(template("a", "v2"))
    await world.store.put_template(template("a", support="team"))
    assert await read_template(world.store, "a", "default") == template("a", support="team")
    assert await read_template(world.store, "a", "v2") == template("a", "v2")
    assert await read_template(world.store, "b", "default") is None


@SUITE.check
async def templates_are_listed_by_type(world: World) -> None:
    for job_type in "cab":
        await world.store.put_template(template(job_type))
    await world.store.put_template(template("z", "v2"))
    page = await world.store.templates(TemplatePage("default", Cut(most=2)))
    assert [each.definition.job_type for each in page.elements] == ["a", "b"]
    assert page.after
    rest = await world.store.templates(TemplatePage("default", Cut(above="b")))
    assert [each.definition.job_type for each in rest.elements] == ["c"]


@SUITE.check
async def one_version_or_all_are_deleted(world: World) -> None:
    for version in ("v1", "v2", "v3"):
        await world.store.put_template(template("a", version))
    await world.store.put_template(template("b", "v1"))
    assert await world.store.delete_templates("a", "v1") == 1
    assert await world.store.delete_templates("a", "v1") == 0
    assert await world.store.delete_templates("a") == 2
    assert await read_template(world.store, "b", "v1") is not None


@SUITE.check
async def a_probe_leaves_what_is_kept_alone(world: World) -> None:
    await world.store.put_template(template("a"))
    await world.store.probe()
    await world.store.probe()
    assert await read_template(world.store, "a", "default") == template("a")
