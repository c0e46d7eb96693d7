"""Every doubt about one definition, in the order of the text."""

from collections.abc import Callable, Collection, Container, Iterable
from contextlib import suppress
from typing import Final

from stretto.definition.doubts.constants import doubt_constants
from stretto.definition.doubts.outdated import doubt_outdated
from stretto.definition.doubts.schedules import doubt_schedules
from stretto.definition.doubts.texts import words_of
from stretto.definition.doubts.unknown import doubt_unknown
from stretto.definition.doubts.unused import doubt_unused, doubt_unused_limits
from stretto.definition.findings import Enough
from stretto.definition.limits import Limits
from stretto.definition.rules.visits import Scene, TemplateVersion
from stretto.model.problem import Problem, keys_in
from stretto.model.workflow import Definition

DOUBTS: Final[tuple[Callable[[Scene, Collection[str]], None], ...]] = (
    doubt_unknown,
    doubt_unused,
    doubt_unused_limits,
    doubt_constants,
    doubt_schedules,
    doubt_outdated,
)


def warn(
    definition: Definition,
    limits: Limits,
    templates: Collection[str] = (),
    given: Collection[str] = (),
    versions: Container[TemplateVersion] | None = None,
) -> list[Problem]:
    """What the author of a definition should look at again; `given`: parameters that a start would bring.
    `templates` and `versions`: see `Scene`.
    """
    scene = Scene(definition, limits, templates, versions)
    with suppress(Enough):
        for doubt in DOUBTS:
            doubt(scene, given)
    return scene.problems


def unread_keys(odd: Iterable[Problem], definition: Definition) -> list[Problem]:
    """Of the keys that look like fields, those that nothing reads as the parameters that they are."""
    words = words_of(definition)
    return [problem for problem in odd if keys_in(problem.path)[-1] not in words]
