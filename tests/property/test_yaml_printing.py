"""YAML is written as PyYAML's own emitter writes it, only faster."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from stretto.definition import yaml_printing
from stretto.definition.yaml_printing import yaml_text

AWKWARD = (
    *("yes", "~", "-", "?", "|", "=", "<<", "on", ".inf", "1e3", "0x1", "2020-01-01", "*a", "&b", "%c", "@d"),
    *("`e", "!t", "{x}", "[y]", "'q'", '"d', "a:b", "a\\b", "", " a", "a ", "a: b", "- x", "#c", "a #b"),
    *("x\ny", "x\n\n y\n", "\ttab", "\n", "a\n", "a\n\n", "é", "a\u2028b", "\x85z", "  lead\nx"),
    "k" * 130,
    "long " * 30,
)
TEXTS = st.text(max_size=12) | st.sampled_from(AWKWARD)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | TEXTS
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_the_text_is_that_of_the_emitter(value: dict[str, Any]) -> None:
    wanted = yaml.dump(
        value, Dumper=yaml_printing._Dumper, sort_keys=False, allow_unicode=True, width=yaml_printing.WIDE
    )
    assert yaml_text(value) == wanted
