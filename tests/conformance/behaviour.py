"""Behaviour cases: how a test reads them, and the promise that nothing of `then` is left unchecked."""

import re
from copy import deepcopy
from functools import cache
from typing import Any

import yaml
from tests.conformance.corpus import corpus

from stretto.params import Fault, ParamError

Case = dict[str, Any]

# What Maestro says, and the fault it is for us. The wording is ours, the names in it are not.
FAULTS: tuple[tuple[str, Fault], ...] = (
    (r"Cannot modify param with mode", Fault.NOT_CHANGEABLE),
    (r"to be less strict", Fault.WEAKER_MODE),
    (r"Cannot modify (system mode|source)", Fault.SYSTEM_FIELD),
    (r"type mismatch|is expected to", Fault.WRONG_TYPE),
    (r"is not a literal", Fault.NOT_A_LITERAL),
    (r"is a required parameter", Fault.REQUIRED),
    (r"Invalid output parameter", Fault.UNDECLARED_OUTPUT),
    (r"is not found", Fault.UNKNOWN_REFERENCE),
    (r"is not evaluated yet", Fault.NOT_EVALUATED),
    (r"cyclic reference chain", Fault.CYCLE),
    (r"number format error", Fault.NOT_A_NUMBER),
    (r"cannot be parsed", Fault.AMBIGUOUS_REFERENCE),
    (r"total size", Fault.TOO_LARGE),
)
TEMPLATE = re.compile(r"Cannot interpolate \[.*?\] as ")  # Maestro repeats the whole literal


# The loader of libyaml reads the same values in a tenth of the time, where PyYAML was built with it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _every_case() -> list[Case]:
    text = corpus("behaviour-cases.yaml").read_text(encoding="utf-8")
    cases: list[Case] = yaml.load(text, LOADER)  # noqa: S506 - a safe loader, as its name says
    return cases


def cases_of(*areas: str) -> dict[str, Case]:
    """The cases of some areas by id. They belong to the caller, who may change them."""
    return {case["id"]: deepcopy(case) for case in _every_case() if case["area"] in areas}


class Then:
    """The expectations of a case. Each must be taken, or the case has not been tested."""

    def __init__(self, case: Case) -> None:
        self._left = deepcopy(case["then"])  # a check may take it apart, and another one run it again

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str) -> Any:
        return self._left.pop(key)

    def rest(self) -> dict[str, Any]:
        """Everything that is left, under whatever name."""
        rest: dict[str, Any] = self._left
        self._left = {}
        assert rest
        return rest

    def assert_all_taken(self) -> None:
        assert not self._left, f"nobody checked {sorted(self._left)}"


def check_error(error: ParamError, expected: str, renamed: dict[str, str] | None = None) -> None:
    """The same fault as in Maestro's message, and every name that stands in brackets there."""
    [fault] = [fault for pattern, fault in FAULTS if re.search(pattern, expected)]
    assert error.fault is fault, error
    said = " ".join((error.message, *error.details))
    names = re.findall(r"\[([^\[\]]+)\]", TEMPLATE.sub("", expected)) + re.findall(r'"(\w+)"', expected)
    assert names
    for name in names:
        assert (renamed or {}).get(name, name) in said, (name, said)
