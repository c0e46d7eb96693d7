"""Publishing steps whose types come from other packages: their parameters are checked as ours are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.actions.world import ANN, World, flow
from tests.unit.runtimes.packages import install, on_path, runtime

from stretto.actions.publish import check_definition, publish
from stretto.actions.publish_if_new import publish_if_new
from stretto.definition import Limits, load
from stretto.definition.parse import Options
from stretto.model.errors import InvalidDefinition
from stretto.model.workflow import Definition
from stretto.params import ParamError
from stretto.ports.workflows import read_workflow
from stretto.runtimes.types import with_installed

SHOUT = """
from stretto.model.param import ParamDefinition, ParamMode, ParamType
Runtime.params = lambda self, step: Injected(
    params={"loud": ParamDefinition(type=ParamType.LONG, value=1, mode=ParamMode.CONSTANT)},
    schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text", "loud"]},
)
"""


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with on_path(tmp_path / "site", monkeypatch) as folder:
        install(folder, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + SHOUT})
        yield folder


def definition(params: str, kind: str = "Shout") -> Definition:
    (found,) = load(flow(f"{{id: a, type: {kind}, params: {params}}}"), Options(rules=False))
    return found


def limits() -> Limits:
    return with_installed(Limits())


def test_what_fits_is_published() -> None:
    world = World()
    good = definition("{text: {type: STRING, value: x}}")
    assert world.do(publish(world.store, ANN, good, limits=limits())).workflow_definition is not None
    assert world.do(publish_if_new(world.store, ANN, good, limits=limits())) == 1


@pytest.mark.parametrize(
    ("params", "kind", "said"),
    [
        ("{}", "Shout", "the parameter `text` of step `a`, of type Shout, is missing"),
        ("{text: {type: LONG, value: 1}}", "Shout", "must be a text, not 1"),
        ("{}", "Shoot", "did you mean `Shout`"),
        ("{}", "Shell", "needs exactly one of `command` or `script`"),
    ],
)
def test_what_does_not_fit_is_refused(params: str, kind: str, said: str) -> None:
    world = World()
    for ask in (publish, check_definition):
        with pytest.raises(InvalidDefinition, match=said):
            world.do(ask(world.store, ANN, definition(params, kind), limits=limits()))
    assert world.do(read_workflow(world.store, "flow")) is None


def test_a_step_may_not_change_what_the_type_keeps_to_itself() -> None:
    world = World()
    bad = definition("{text: {type: STRING, value: x}, loud: {type: LONG, value: 2}}")
    with pytest.raises(ParamError, match="loud"):
        world.do(publish(world.store, ANN, bad, limits=limits()))


def test_without_these_limits_only_our_types_are_known() -> None:
    world = World()
    with pytest.raises(InvalidDefinition, match="is not a step type"):
        world.do(publish(world.store, ANN, definition("{text: {type: STRING, value: x}}")))
