"""Every rule over one definition: all problems at once, in the order of the text."""

from collections.abc import Callable, Collection, Container
from contextlib import suppress
from typing import Final

from stretto.definition.findings import Enough
from stretto.definition.limits import Limits
from stretto.definition.rules.alerts import check_alerts
from stretto.definition.rules.compensation import check_compensation
from stretto.definition.rules.expressions import check_expressions
from stretto.definition.rules.kinds import check_kinds, check_owner
from stretto.definition.rules.loops import check_loops
from stretto.definition.rules.names import check_names, check_property_texts
from stretto.definition.rules.numbers import check_numbers, check_property_numbers
from stretto.definition.rules.own_params import check_own_params
from stretto.definition.rules.shape import check_shape
from stretto.definition.rules.signals import check_signals
from stretto.definition.rules.triggers import check_triggers
from stretto.definition.rules.validators import check_validators
from stretto.definition.rules.visits import Scene, TemplateVersion
from stretto.model.problem import Problem
from stretto.model.properties import Properties
from stretto.model.workflow import Definition, Workflow

RULES: Final[tuple[Callable[[Scene], None], ...]] = (
    check_names,
    check_shape,
    check_kinds,
    check_compensation,
    check_own_params,
    check_numbers,
    check_loops,
    check_triggers,
    check_signals,
    check_alerts,
    check_expressions,
    check_validators,
)
DEFAULT_LIMITS: Final = Limits()


def validate(
    definition: Definition,
    limits: Limits = DEFAULT_LIMITS,
    *,
    templates: Collection[str] = (),
    versions: Container[TemplateVersion] | None = None,
    first_version: bool = False,
) -> list[Problem]:
    """What keeps this definition from being published; empty if nothing does.

    `templates`, `versions`: job templates that are known, and bring what their steps do not say; see `Scene`.
    `first_version`: nothing is stored under this id yet, so the definition must name an owner.
    """
    scene = Scene(definition, limits, templates, versions)
    with suppress(Enough):
        for rule in RULES:
            rule(scene)
        if first_version:
            check_owner(scene)
    return scene.problems


def validate_properties(properties: Properties, limits: Limits = DEFAULT_LIMITS) -> list[Problem]:
    """The same for properties that come without a definition."""
    scene = Scene(Definition(properties=properties, workflow=Workflow(id="")), limits)
    with suppress(Enough):
        for rule in (check_property_texts, check_property_numbers, check_alerts):
            rule(scene, None)
    return scene.problems
