"""What we answer to the cases marked `quirk` and to visitor-022, where the reference surprises.

An answer is (type, value), or the kind of an error. docs/explanation/differences.md tells why, kind by kind.
"""

from typing import Any

Answer = tuple[str, Any] | str

OURS: dict[str, Answer] = {
    # Literals are Java's.
    "probe-lang-001": ("LONG", 31),
    "probe-lang-002": ("LONG", 15),
    "probe-lang-003": "parse",
    "probe-lex-005": ("LONG", 8),
    "probe-lex-010": ("LONG", 0),
    # A number is never equal to a string: asking is a mistake, from either side.
    "probe-lang-025": "illegal_argument",
    "probe-lang-026": "illegal_argument",
    "probe-lang-027": "illegal_argument",
    # Anything can be compared with null, from either side.
    "probe-stmt-061": ("BOOLEAN", False),
    "probe-stmt-067": ("BOOLEAN", False),
    "probe-stmt-069": ("BOOLEAN", True),
    "probe-date-051": ("BOOLEAN", False),
    # Nothing is less or greater than null: visitor-015 needs it, so this one stays as it is.
    "probe-lang-048": ("BOOLEAN", False),
    "probe-lang-049": ("BOOLEAN", False),
    # `&&` and `||` stop as soon as the answer is known.
    "probe-lang-066": ("BOOLEAN", True),
    "probe-lang-067": ("BOOLEAN", False),
    # An update of a name needs the name: it can be bound (`names.optional`), and is an error if it is not.
    "probe-lang-112": "unsupported",
    "probe-validate-001": ("REFS", []),
    "probe-validate-002": ("REFS", []),
    "probe-validate-011": ("REFS", ["k", "v"]),
    # Values never alias.
    "visitor-022": ("MAP", {"foo": 123}),
    "probe-lang-116": ("LONG", 1),
    "probe-lang-119": ("LONG", 2),
    "probe-lang-121": ("STRING", "ab"),
    "probe-lang-123": ("LONG_ARRAY", [1, 2]),
    "probe-lang-128": ("MAP", {"a0": 0, "a1": 1, "a2": 2}),
    "probe-lang-129": ("MAP", {"a0": 0, "a1": 1, "a2": 2}),
    "probe-lang-131": ("BOOLEAN", False),
    "probe-lang-132": ("BOOLEAN", True),
    "probe-alias-001": ("LONG", 6),
    "probe-alias-002": ("LONG", 11),
    "probe-alias-003": ("DATETIME", "1970-01-01T00:00:00.000Z"),
    "probe-alias-005": ("LONG", 41),
    "probe-alias-007": ("MAP", {"a": 1}),
    "probe-alias-009": ("LONG", 9),
    "probe-alias-011": ("LONG", 3),
    "probe-alias-012": ("STRING_ARRAY", ["x", "y"]),
    "probe-alias-015": ("MAP", {"k": 1}),
    "probe-alias-016": ("BOOLEAN", True),
    "probe-alias-018": ("LONG", 41),
    # `break` outside a loop is an error wherever it stands.
    "probe-stmt-017": "runtime",
    "probe-stmt-020": "runtime",
    # A map can be read and written by its keys in brackets.
    "probe-stmt-064": ("NULL", None),
    "probe-stmt-065": ("LONG", 1),
    "probe-docs-048": ("NULL", None),
    # Arguments keep their 64 bits; where 32 are needed, more is an error.
    "probe-lib-049": ("STRING", "-3000000000"),
    "probe-lib-051": ("STRING", "-3000000000"),
    "probe-lib-154": ("STRING", "-3000000000"),
    "probe-date-043": "illegal_argument",
    # There is no operand stack that a loop could leave something on.
    "probe-expr-001": ("LONG", 1),
    "probe-expr-003": ("LONG", 3),
    "probe-expr-007": ("LONG", 5),
}
