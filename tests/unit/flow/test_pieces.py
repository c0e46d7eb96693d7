"""Small parts: constants, places, fields of records, the front door."""

import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import stretto
from stretto import flow
from stretto.flow.expressions import constant_text
from stretto.flow.fields import Field, entry_annotation, fields_of
from stretto.flow.places import Place, here, place_of
from stretto.sel import Environment, compile_expression


class Model:
    """As pydantic's, for what matters here."""

    model_fields: ClassVar[dict[str, Any]] = {"name": None}
    name: str


class Renamed(msgspec.Struct, rename={"name": "n"}):
    name: str


@pytest.mark.parametrize(
    "value",
    [
        "",
        "it's",
        'a "b"',
        "back\\slash",
        "\\u0041",
        "line\nfeed\r\ttab",
        "ü€😀",
        "$x ${y}",
        0,
        -7,
        2**63 - 1,
        0.5,
        -1e-7,
        1e300,
        True,
        False,
        None,
    ],
)
def test_constants_are_read_as_they_are(value: Any) -> None:
    found = compile_expression(f"return {constant_text(value)};").evaluate({}, Environment())
    assert (type(found), found) == (type(value), value)


def test_records_tell_their_fields() -> None:
    assert fields_of(Model) == {"name": Field("name", str)}
    assert fields_of(Renamed) == {"name": Field("n", str)}
    assert fields_of(dict[str, int]) is None
    assert fields_of(int | None) is None


def test_entries_tell_what_they_are() -> None:
    assert entry_annotation(dict[str, int], "x") is int
    assert entry_annotation(list[int], "x") is Any
    assert entry_annotation(list[int], 0) is int
    assert entry_annotation(tuple[int, str], -1) is str
    assert entry_annotation(tuple[int, str], 7) is Any
    assert entry_annotation(dict[str, int], 0) is Any


def test_places_are_shown_from_where_one_stands(tmp_path: Path) -> None:
    assert str(Place(str(Path.cwd() / "flows.py"), 3)) == "flows.py:3"
    assert str(Place(str(tmp_path / "flows.py"), 3)) == f"{tmp_path}/flows.py:3"
    assert place_of(print).file == __file__  # it has no lines of its own


def test_a_place_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect.currentframe", lambda: None)
    assert here() == Place("<unknown>", 0)


def test_a_star_imports_every_name() -> None:
    names: dict[str, object] = {}
    exec("from stretto import *", names)  # noqa: S102 - what is tested
    assert set(stretto._HOMES) == set(stretto.__all__) == names.keys() - {"__builtins__"}
    assert names["Engine"] is stretto.Engine


def test_what_options_take_can_be_imported() -> None:
    for name in (
        "SignalTrigger",
        "SignalTriggerEntry",
        "SignalDependencyDefinition",
        "SignalOutputDefinition",
        "Tag",
    ):
        assert getattr(stretto, name) is getattr(flow, name)


def test_the_front_door_has_every_name() -> None:
    for name in stretto._HOMES:
        assert getattr(stretto, name).__class__
    assert set(stretto._HOMES) < set(dir(stretto))
    with pytest.raises(AttributeError, match="module 'stretto' has no attribute 'steps'"):
        _ = stretto.steps


def test_the_front_door_is_light() -> None:
    code = "import stretto, sys; sys.exit('stretto.flow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603
