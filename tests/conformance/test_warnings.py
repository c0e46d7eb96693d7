"""Warnings about the samples: only what is really odd in them."""

import msgspec
from tests.conformance.definition_files import INVALID, MAESTRO, NAMES, text_of

from stretto.definition import check
from stretto.model.problem import Code

WARNINGS = msgspec.structs.replace(MAESTRO, warnings=True)
# Conditions that were written to be true or false, and parameters that nothing reads.
ODD = {
    "sample-conditional-wf.json": [Code.CONSTANT_CONDITION] * 3,
    "sample-dag-test-2-wf.json": [Code.CONSTANT_CONDITION] * 2,
    "sample-active-wf-with-output-signals.json": [Code.UNUSED_PARAM],
    "sample-http-wf.yaml": [Code.UNUSED_PARAM],
}


def test_nothing_is_doubted_that_has_its_reason() -> None:
    readable = [name for name in NAMES if name not in INVALID]
    found = {name: check(text_of(name), WARNINGS).warnings for name in readable}
    codes = {name.rpartition("/")[2]: [each.code for each in seen] for name, seen in found.items() if seen}
    assert codes == ODD
    assert all(each.line and each.column and each.hint for seen in found.values() for each in seen)
