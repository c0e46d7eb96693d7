"""Where functions and services are found."""

from typing import Any

import pytest

from stretto.model.errors import Conflict, InvalidRequest, NotFound
from stretto.runtimes.python import Registry, Services, function_of
from stretto.runtimes.python.errors import Refused


def extract() -> int:
    return 1


def other() -> int:
    return 2


class Decorated:
    """As a decorator would leave a function."""

    def __init__(self, call: Any) -> None:
        self.function = function_of(call)

    def __call__(self) -> None:
        raise AssertionError


def test_functions_are_found_by_name() -> None:
    registry = Registry(extract, Decorated(other))
    name = f"{__name__}:extract"
    assert registry.find(name).call is extract
    assert registry.get("nothing") is None
    assert [each.call for each in registry] == [extract, other]
    assert len(registry) == 2
    with pytest.raises(Refused, match="there is no function `nothing` in this program") as caught:
        registry.find("nothing")
    assert "did you mean" not in str(caught.value)
    with pytest.raises(Refused, match="did you mean"):
        registry.find(f"{__name__}:extrakt")


def test_two_functions_of_one_name() -> None:
    registry = Registry(function_of(extract, "f"))
    registry.register(function_of(extract, "f", required="a"))  # the same, loaded again
    assert registry.find("f").options.required == ("a",)
    with pytest.raises(Conflict, match="`f` is the name of two functions"):
        registry.register(function_of(other, "f"))


class Base:
    pass


class Left(Base):
    pass


class Right(Base):
    pass


def test_services_are_found_by_type_and_name() -> None:
    left, right = Left(), Right()
    services = Services([left])
    assert services.get(Left) is left
    assert services.get(Base) is left
    services.add(right, name="main")
    assert services.get("main") is right
    assert services.get(Right) is right
    with pytest.raises(InvalidRequest, match="2 services are a `Base`: ask for one by its name"):
        services.get(Base)
    with pytest.raises(NotFound, match="no service of type `int`; registered: Left, Right"):
        services.get(int)
    with pytest.raises(NotFound, match="did you mean `main`"):
        services.get("mian")
    with pytest.raises(InvalidRequest, match="there is a service `main` already"):
        services.add(left, name="main")


def test_services_with_names_and_none() -> None:
    base = Base()
    exact = Services({"base": base, "left": Left()})
    assert exact.get(Base) is base  # of its very type
    with pytest.raises(NotFound, match="registered: none"):
        Services().get("x")
    with pytest.raises(NotFound, match="`int`; registered: none"):
        Services().get(int)


def test_a_generic_type_is_found_by_its_class() -> None:
    cache: dict[str, int] = {}
    services = Services()
    services.add(cache)
    assert services.get(dict[str, int]) is cache
