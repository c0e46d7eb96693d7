"""By which name a worker finds a function."""

import functools
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.unit.runtimes.workers import functions
from tests.unit.runtimes.workers.stand import MODULE

from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import function_of
from stretto.runtimes.workers.messages import Target
from stretto.runtimes.workers.targets import target_of


def test_functions_that_have_a_name() -> None:
    assert target_of(function_of(functions.add)) == Target(MODULE, "add")
    assert target_of(function_of(functions.add, "another name")) == Target(MODULE, "add")
    assert target_of(function_of(functions.Tools.double)) == Target(MODULE, "Tools.double")
    assert target_of(function_of(functions.add_wrapped)) == Target(MODULE, "add_wrapped")
    assert target_of(function_of(functions.Order)) == Target(MODULE, "Order")


def test_what_holds_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of(functions.add, isolation="process")
    for held in (function, function_of(functions.add)):
        monkeypatch.setattr(functions, "add", SimpleNamespace(function=held))
        assert target_of(function) == Target(MODULE, "add")
        target_of.cache_clear()
    monkeypatch.setattr(functions, "add", SimpleNamespace(function=function_of(functions.pid)))
    with pytest.raises(Refused, match="is not this one"):
        target_of(function)


def test_functions_without_a_name_that_leads_to_them() -> None:
    def inner() -> None:
        pass

    for odd in (inner, functools.partial(functions.add, b=1), lambda: 1):
        with pytest.raises(Refused, match=r"finds functions by name: .* Move it to the top of a module"):
            target_of(function_of(odd, "odd"))


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A main module with a function."""
    module = ModuleType("__main__")

    def work() -> int:
        return 1

    work.__module__, work.__qualname__ = "__main__", "work"
    module.work = work  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def target_in(main: Any) -> Target:
    return target_of(function_of(main.work, "work"))


def test_a_function_of_the_main_file(main: Any, tmp_path: Path) -> None:
    main.__file__ = str(tmp_path / "flows.py")
    assert target_in(main) == Target("__main__", "work", main=main.__file__)


def test_a_function_of_a_module_that_is_run(main: Any) -> None:
    main.__file__ = "/nowhere/shop/flows.py"
    main.__spec__ = SimpleNamespace(name="shop.flows")
    assert target_in(main) == Target("shop.flows", "work")
    main.__spec__ = SimpleNamespace(name="shop.__main__")
    with pytest.raises(Refused, match=r"starts the program when it is imported\. Move it to another module"):
        target_in(main)


def test_a_function_that_was_typed_in(main: Any) -> None:
    with pytest.raises(Refused, match="it was typed in, and there is no file"):
        target_in(main)
