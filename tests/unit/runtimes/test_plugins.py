"""Runtimes that other packages bring: found, made late, refused where two are one, harmless when broken."""

import asyncio
import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtimes.contexts import Told
from tests.unit.runtimes.packages import install, on_path, runtime

from stretto.definition import Limits
from stretto.definition.step_types import NOT_DESCRIBED, described
from stretto.model.step import NESTING_TYPES, STEP_TYPES, TypedStep
from stretto.node.clock import SystemClock
from stretto.ports.logs import NOWHERE
from stretto.ports.runtime import Continue, Done, FatalError, Injected, Stopped
from stretto.runtimes.built_in import OwnWork, Runtimes, built_in
from stretto.runtimes.listing import listed, schemas
from stretto.runtimes.plugin import Plugin, PluginRuntime, made
from stretto.runtimes.plugins import by_type, installed
from stretto.runtimes.settings import RuntimeSettings
from stretto.runtimes.surroundings import Surroundings
from stretto.runtimes.types import BUILT_IN, OF_ENGINE, OURS, InstalledTypes, with_installed
from stretto.store.memory.database import Database
from stretto.store.memory.store import MemoryStore


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with on_path(tmp_path / "site", monkeypatch) as folder:
        yield folder


def around() -> Surroundings:
    return Surroundings(
        store=MemoryStore(Database(SystemClock())),
        clock=SystemClock(),
        settings=RuntimeSettings(grace=5),
        sink=NOWHERE,
    )


def step(kind: str, **params: Any) -> TypedStep:
    return TypedStep(id="a", type=kind, params=params or None)


def only(kind: str) -> PluginRuntime:
    [found] = by_type(around()).values()
    assert found.plugin.type == kind
    return found


# ----------------------------------------------------------------------------------------------- finding
def test_nothing_is_installed_here() -> None:
    assert installed() == []
    assert by_type() == {}


def test_one_is_found_and_not_imported(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime()}, "2.1")
    [plugin] = installed()
    assert plugin == Plugin(type="Shout", value="shout:Runtime", package="shouting", version="2.1")
    assert str(plugin) == "shouting 2.1 (shout:Runtime)"
    found = only("Shout")
    assert "shout" not in sys.modules
    assert isinstance(found, OwnWork)
    assert (found.at_work, found.kill_all(), asyncio.run(found.close())) == ([], None, None)  # type: ignore[func-returns-value]
    assert "shout" not in sys.modules
    assert found.broken is None
    assert "shout" in sys.modules


def test_it_does_the_work(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime()})
    found = only("Shout")

    async def body() -> None:
        ctx = Told().ctx
        assert await found.start(ctx) == Done()
        assert await found.execute(ctx) == Done()
        assert await found.terminate(ctx) == Stopped()

    asyncio.run(body())
    assert found.outside is False
    assert found.params(step("Shout")) == Injected()


def test_a_package_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint, EntryPoints  # noqa: PLC0415 - only here

    lonely = EntryPoint("Lonely", "lonely:Runtime", "stretto.runtimes")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: EntryPoints([lonely]))
    assert [str(each) for each in installed()] == ["a package without a name (lonely:Runtime)"]


# ----------------------------------------------------------------------------------------------- clashes
@pytest.mark.parametrize("kind", ["Shell", "python", "NoOp", "Sleep", "Wait", "Join", "foreach"])
def test_types_of_ours_are_refused(path: Path, kind: str) -> None:
    install(path, "greedy", {kind: "greedy:Runtime"}, {"greedy": runtime()})
    [plugin] = installed()
    assert plugin.refused is not None
    assert f"the type {kind} comes with Stretto; that of greedy 1.0 (greedy:Runtime)" in plugin.refused
    assert by_type() == {}


def test_one_type_from_two_packages_is_refused(path: Path) -> None:
    install(path, "one", {"Shout": "one:Runtime"}, {"one": runtime()})
    install(path, "two", {"SHOUT": "two:Runtime"}, {"two": runtime()})
    assert [each.refused is None for each in installed()] == [False, False]
    [found] = by_type().values()
    said = asyncio.run(_start(found))
    assert isinstance(said, FatalError)
    assert "one 1.0 (one:Runtime) and two 1.0 (two:Runtime); uninstall all but one" in said.message
    assert {"one", "two"}.isdisjoint(sys.modules)


async def _start(found: PluginRuntime) -> Any:
    return await found.start(Told().ctx)


def test_all_that_the_product_carries_out_is_ours() -> None:
    async def kinds() -> set[str]:
        return set(built_in(around()))

    assert asyncio.run(kinds()) == set(BUILT_IN)
    assert {name.casefold() for name in (*OF_ENGINE, *BUILT_IN, *NESTING_TYPES)} == OURS
    assert {name.casefold() for name in STEP_TYPES} >= OURS


# ------------------------------------------------------------------------------------------------ making
ASKING = """
    def __init__(self, now, *, settings=None, sink, other=3):
        self.has = now, settings, sink

def every(**given):
    made = Runtime(now=1, sink=2)
    made.has = given
    return made

def nothing(*args, more=1):
    return every()
"""


def test_it_is_given_what_it_asks_for(path: Path) -> None:
    install(path, "asking", {"Ask": "asking:Runtime"}, {"asking": runtime() + ASKING})
    at = around()
    plugin = installed()[0]
    given: Mapping[str, Any] = {"now": at.clock.now, "settings": at.settings, "sink": NOWHERE}
    assert getattr(made(plugin, given), "has") == (at.clock.now, at.settings, NOWHERE)  # noqa: B009
    for name, wanted in (("every", given), ("nothing", {})):
        value = Plugin(type="Ask", value=f"asking:{name} [extra]", package="asking", version="1.0")
        assert getattr(made(value, given), "has") == wanted  # noqa: B009


BROKEN = {
    "missing:Runtime": "ModuleNotFoundError: No module named 'missing'",
    "bad": "`bad` names no class and no function: write `bad:NAME`",
    "bad:Nobody": "AttributeError: module 'bad' has no attribute 'Nobody'",
    "bad:NUMBER": "`bad:NUMBER` is an `int`, not a class or a function",
    "bad:Greedy": "it asks for `money`; a runtime may ask for now, settings, sink",
    "bad:Positional": "it asks for `now`; a runtime may ask for now, settings, sink",
    "bad:Raising": "ZeroDivisionError",
    "bad:leaving": "SystemExit",
    "bad:Half": "what it returns is not a StepRuntime: it has no execute and no terminate",
    "bad:Unsure": "ZeroDivisionError",
    "rude:Runtime": "SystemExit: 3",
}
BAD = """
NUMBER = 5
class Greedy:
    def __init__(self, money): pass
class Positional:
    def __init__(self, now, /): pass
class Raising:
    def __init__(self): 1 / 0
def leaving(): raise SystemExit
class Half:
    outside = params = start = None
class Unsure:
    params = start = execute = terminate = None
    outside = property(lambda self: 1 / 0)
"""


@pytest.mark.parametrize("value", BROKEN)
def test_one_that_is_broken_fails_its_steps_and_nothing_else(path: Path, value: str) -> None:
    modules = {"bad": BAD, "rude": "raise SystemExit(3)"}
    install(path, "broken", {"Bad": value}, modules)
    found = only("Bad")

    async def body() -> None:
        ctx = Told().ctx
        for said in (await found.start(ctx), await found.execute(ctx)):
            assert isinstance(said, FatalError)
            assert said.message.startswith(
                f"the runtime of Bad steps, broken 1.0 ({value}), can not be used: "
            )
            assert BROKEN[value] in said.message
        assert await found.terminate(ctx) == Stopped()
        await found.close()

    asyncio.run(body())
    assert (found.outside, found.params(step("Bad")), found.at_work) == (False, Injected(), [])
    assert BROKEN[value] in str(found.describe(step("Bad")).broken)


# ------------------------------------------------------------------------------------------ parameters
PARAMS = """
from stretto.model.param import ParamDefinition, ParamType
from stretto.ports.runtime import Injected
def brought(self, step):
    return Injected(params={
        "loud": ParamDefinition(type=ParamType.BOOLEAN, value=True),
        "text": ParamDefinition(type=ParamType.STRING, expression="'a' + 'b';"),
    }, schema={"type": "object"})
Runtime.params = brought
async def start(self, ctx):
    self.seen = {name: each.evaluated_result for name, each in ctx.params.items()}
    from stretto.ports.runtime import Continue
    return Continue()
Runtime.start = start
"""


def test_steps_have_what_the_type_brings_along(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + PARAMS})
    found = only("Shout")

    async def body() -> Any:
        assert await found.start(Told(text="mine").ctx) == Continue()
        first = found._runtime().seen  # type: ignore[attr-defined]
        await found.start(Told().ctx)
        return first, found._runtime().seen  # type: ignore[attr-defined]

    assert asyncio.run(body()) == ({"loud": True, "text": "mine"}, {"loud": True, "text": "ab"})


def test_what_it_brings_along_hangs_on_nothing(path: Path) -> None:
    text = PARAMS.replace("'a' + 'b';", "params.nextUniqueId();")
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + text})
    with pytest.raises(ValueError, match=r"shouting 1.0 .* brings along hang on something else"):
        asyncio.run(_start(only("Shout")))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Runtime.params = lambda self, step: {}", "TypeError: `params` gives a dict, not an Injected"),
        ("Runtime.params = lambda self, step: 1 / 0", "ZeroDivisionError"),
        ("Runtime.params = lambda self, step: Injected(schema={'type': 'text'})", "`type` of the schema"),
    ],
)
def test_one_that_can_not_be_described(path: Path, text: str, reason: str) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": f"{runtime()}\n{text}"})
    assert reason in str(only("Shout").describe(step("Shout")).broken)
    assert [each.usable for each in listed() if each.type == "Shout"] == [False]
    assert "Shout" not in schemas()


# -------------------------------------------------------------------------------------------------- ending
ENDING = """
Runtime.at_work = property(lambda self: [1])
Runtime.kill_all = lambda self: self.calls.append("kill")
Runtime.calls = []
async def close(self):
    self.calls.append("close")
Runtime.close = close
"""


def test_it_may_have_work_of_its_own(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + ENDING})
    found = only("Shout")
    assert found.broken is None
    assert list(map(str, found.at_work)) == ["1"]
    found.kill_all()
    asyncio.run(found.close())
    assert found._runtime().calls == ["kill", "close"]  # type: ignore[attr-defined]


def test_one_that_can_not_end_harms_nobody(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = """
    Runtime.at_work = property(lambda self: 1 / 0)
    Runtime.kill_all = lambda self: 1 / 0
    async def close(self):
        1 / 0
    Runtime.close = close
    """
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + _dedented(text)})
    found = only("Shout")
    assert found.broken is None
    with caplog.at_level(logging.ERROR):
        assert found.at_work == []
        found.kill_all()
        asyncio.run(found.close())
    told = ["failed to tell `at_work`", "failed to tell `kill_all`", "failed to close"]
    assert [each.getMessage() for each in caplog.records] == [
        f"shouting 1.0 (shout:Runtime) {each}" for each in told
    ]


def test_close_need_not_be_async(path: Path) -> None:
    install(
        path,
        "shouting",
        {"Shout": "shout:Runtime"},
        {"shout": runtime() + "\nRuntime.close = lambda self: None\n"},
    )
    found = only("Shout")
    assert found.broken is None
    asyncio.run(found.close())


def test_one_that_does_not_end_is_left(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "\nasync def close(self):\n    import asyncio\n    await asyncio.sleep(60)\nRuntime.close = close\n"
    )
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + text})
    monkeypatch.setattr("stretto.runtimes.plugin.CLOSE_WITHIN", 0.01)
    found = only("Shout")
    assert found.broken is None
    asyncio.run(found.close())
    assert "shouting 1.0 (shout:Runtime) failed to close" in caplog.text


def _dedented(text: str) -> str:
    return "\n".join(line[4:] for line in text.splitlines())


# --------------------------------------------------------------------------------------------------- nodes
def test_a_node_looks_for_packages_when_it_meets_a_type_of_theirs(path: Path) -> None:
    runtimes = Runtimes(around(), lambda _around: {"Mine": built_in(around())["Shell"]})
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime()})
    assert runtimes.by_type["Mine"] is not runtimes.by_type["Shell"]
    assert set(runtimes.by_type.at_hand) == {"Shell", "Python", "Mine"}  # nobody has looked
    found = runtimes.by_type["Shout"]
    assert isinstance(found, PluginRuntime)
    assert set(runtimes.by_type) == {"Shell", "Python", "Mine", "Shout"}
    assert len(runtimes.by_type) == 4
    assert found in runtimes.by_type.at_hand.values()  # so it is closed with the others
    assert runtimes.by_type.get("Unheard") is None
    assert runtimes.at_work == []
    asyncio.run(runtimes.close())


# --------------------------------------------------------------------------------------------------- types
def test_all_types_that_are_here(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime", "Http": "shout:Runtime"}, {"shout": runtime()})
    types = InstalledTypes()
    assert set(types) == {*STEP_TYPES, "Shout"}
    assert len(types) == len(STEP_TYPES) + 1
    assert {"shout", "SHELL", "http"} <= {each for each in ("shout", "SHELL", "http", "x") if each in types}
    assert "x" not in types
    nothing: Any = 5
    assert nothing not in types
    assert types | {"Mine"} == {*STEP_TYPES, "Shout", "Mine"}
    assert "shout" not in sys.modules


def test_our_types_are_described_without_a_look_at_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stretto.runtimes.plugins.by_type", None)
    types = InstalledTypes()
    assert set(types.describe(step("Shell")).schema or ()) >= {"properties", "oneOf"}
    assert "properties" in (types.describe(step("Python")).schema or ())
    assert types.describe(step("NoOp")) == NOT_DESCRIBED
    assert described(frozenset({"Shell"}), step("Shell")) == NOT_DESCRIBED


def test_other_types_are_described_by_their_packages(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + PARAMS})
    types = InstalledTypes()
    told = types.describe(step("sHOUT"))
    assert told.broken is None
    assert (told.schema, set(told.params)) == ({"type": "object"}, {"loud", "text"})
    assert types.describe(step("Http")) == NOT_DESCRIBED
    limits = with_installed(Limits(steps=5))
    assert (limits.steps, "Shout" in limits.step_types) == (5, True)


# --------------------------------------------------------------------------------------------------- lists
def test_the_list_has_all_leaf_types() -> None:
    found = {each.type: each for each in listed()}
    assert set(found) == {"NoOp", "Sleep", "Wait", "Join", "Shell", "Python"} | {
        "Http",
        "Kubernetes",
        "Notebook",
        "Titus",
    }
    assert {each.type for each in found.values() if not each.usable} == {
        "Http",
        "Kubernetes",
        "Notebook",
        "Titus",
    }
    assert [(each.name, each.type) for each in found["Sleep"].params] == [("sleep_seconds", "a whole number")]
    http = {each.name: each for each in found["Http"].params}
    assert (http["http.url"].required, http["http.method"].default) == (True, "GET")
    notebook = {each.name: each for each in found["Notebook"].params}
    assert notebook["notebook.papermill_arguments"].type == "a list of texts"
    assert notebook["notebook.papermill_arguments"].default is None
    assert notebook["notebook.init_command"].default == ""
    assert set(schemas()) == {"Python", "Shell"}


DESCRIBED = """
from stretto.model.param import ParamDefinition, ParamType

def described(self, step):
    properties = {"loud": {"type": "boolean", "description": "How."}, "no": False, "any": True}
    kept = ParamDefinition(type=ParamType.MAP)
    total = ParamDefinition(type=ParamType.LONG, expression="1")
    return Injected(schema={"properties": properties}, params={"kept": kept, "sum": total})

Runtime.params = described
"""


def test_the_list_has_what_is_brought_and_what_is_refused(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + DESCRIBED})
    install(path, "greedy", {"Shell": "greedy:Runtime"}, {"greedy": runtime()})
    found = [(each.type, each.origin, each.usable) for each in listed() if each.origin != "-"]
    assert ("Shout", "shouting 1.0", True) in found
    assert [each for each in found if each[0] == "Shell"] == [
        ("Shell", "built in", True),
        ("Shell", "greedy 1.0", False),
    ]
    [shout] = [each for each in listed() if each.type == "Shout"]
    assert [(each.name, each.type, each.description) for each in shout.params] == [
        ("kept", "a map", ""),
        ("sum", "a whole number", ""),
        ("loud", "true or false", "How."),
        ("any", "anything", ""),
    ]
    assert set(schemas()) == {"Python", "Shell", "Shout"}


def test_a_plugin_without_a_schema(path: Path) -> None:
    install(path, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime()})
    [shout] = [each for each in listed() if each.type == "Shout"]
    assert (shout.usable, shout.params, shout.entry_point) == (True, [], "shout:Runtime")
    assert "Shout" not in schemas()
