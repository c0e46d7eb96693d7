"""Which signals fit, and which go together."""

import pytest

from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import SignalOperator, SignalParamValue, SignalTrigger, SignalTriggerEntry
from stretto.triggers import join_key_of, joined_by, satisfies
from stretto.triggers.matching import LONGEST_KEY


def want(operator: str, value: str | int) -> SignalParamValue:
    return SignalParamValue(value=value, operator=SignalOperator(operator))


@pytest.mark.parametrize(
    ("given", "operator", "value", "fits"),
    [
        (1, "=", 1, True),
        ("foo", "=", "bar", False),
        (2, ">", 1, True),
        (1, ">", 1, False),
        (1, ">=", 1, True),
        ("bar", ">=", "foo", False),
        ("bar", "<", "foo", True),
        (1, "<=", 1, True),
        (2, "<=", 1, False),
        ("1", "=", 1, False),  # a text is no number
        (5, "<", "9", False),
    ],
)
def test_values_are_compared(given: str | int, operator: str, value: str | int, fits: bool) -> None:
    assert satisfies({"p": given, "other": 9}, {"p": want(operator, value)}) is fits


def test_all_that_is_wanted_must_be_there() -> None:
    wanted = {"a": want("=", 1), "b": want("=", 2)}
    assert satisfies({"a": 1, "b": 2}, wanted)
    assert not satisfies({"a": 1}, wanted)
    assert not satisfies(None, wanted)
    assert satisfies(None, None)
    assert satisfies({"a": 1}, {})


def signal(name: str, **params: str | int) -> SignalInstance:
    return SignalInstance(name=name, seq_id=1, params=params or None)


JOINED = SignalTrigger(
    definitions={
        "table": SignalTriggerEntry(match_params={"kind": want("=", "new")}, join_keys=("day", "zone")),
        "quota": SignalTriggerEntry(join_keys=("date", "region")),
    }
)


def test_keys_go_by_their_place() -> None:
    table = signal("table", kind="new", day=20240101, zone="eu", more="x")
    quota = signal("quota", region="eu", date=20240101)
    key = join_key_of(JOINED, table)
    assert key == join_key_of(JOINED, quota) == '[20240101, "eu"]'
    assert joined_by(JOINED, key)("table", table)
    assert not joined_by(JOINED, key)("quota", signal("quota", date="20240101", region="eu"))


@pytest.mark.parametrize(
    "other",
    [
        signal("nobody", day=1, zone="eu"),
        signal("table", kind="old", day=1, zone="eu"),
        signal("table", kind="new", day=1),
        signal("quota"),
    ],
)
def test_what_does_not_fit_has_no_key(other: SignalInstance) -> None:
    assert join_key_of(JOINED, other) is None


def test_without_keys_all_go_together() -> None:
    trigger = SignalTrigger(definitions={"a": SignalTriggerEntry(), "b": SignalTriggerEntry()})
    assert join_key_of(trigger, signal("a", x=1)) == join_key_of(trigger, signal("b")) == ""


def test_a_long_key_still_tells_values_apart() -> None:
    trigger = SignalTrigger(definitions={"a": SignalTriggerEntry(join_keys=("x",))})
    long = ["é" * 1_000, "é" * 999 + "e"]
    keys = [join_key_of(trigger, signal("a", x=each)) for each in long]
    assert len(set(keys)) == 2
    assert all(key is not None and len(key) <= LONGEST_KEY for key in keys)
