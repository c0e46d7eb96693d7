"""Variables in the texts of a file."""

import pytest

from stretto.config.interpolation import filled_in, has_variables
from stretto.config.problems import BadValue, ConfigCode

VARIABLES = {"HOST": "db", "EMPTY": "", "PORT_1": "5432"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${HOST}", "db"),
        ("${HOST:other}", "db"),
        ("${OTHER:other}", "other"),
        ("${OTHER:}", ""),
        ("${EMPTY:other}", ""),
        ("a ${HOST}:${PORT_1} b", "a db:5432 b"),
        ("${URL:postgresql://u:p@h/db}", "postgresql://u:p@h/db"),
        ("$${HOST}", "${HOST}"),
        ("$$${HOST}", "$${HOST}"),
        ("$HOST $", "$HOST $"),
    ],
)
def test_filled_in(text: str, result: str) -> None:
    assert filled_in(text, VARIABLES) == result


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"),
    [
        ("x ${GONE}", ConfigCode.MISSING_VARIABLE, "`GONE` is not set", "set it, or write `${GONE:default}`"),
        ("${HOST", ConfigCode.BAD_VARIABLE, "`${HOST` has no `}`", "`$${` stands for `${` itself"),
        ("${HOST:hush", ConfigCode.BAD_VARIABLE, "`${HOST` has no `}`", "`$${` stands for `${` itself"),
        (
            "${}",
            ConfigCode.BAD_VARIABLE,
            "`` is not the name of a variable",
            "write `${VAR}` or `${VAR:default}`",
        ),
        ("${1A}", ConfigCode.BAD_VARIABLE, "`1A` is not the name", "write `${VAR}` or `${VAR:default}`"),
        (
            "${a b\n}",
            ConfigCode.BAD_VARIABLE,
            "`a b\\x0a` is not the name",
            "write `${VAR}` or `${VAR:default}`",
        ),
        ("${HOST:-hush}", ConfigCode.BAD_VARIABLE, "`${HOST:-...}` is how a shell", "write `${HOST:...}`"),
    ],
)
def test_refused(text: str, code: str, message: str, hint: str) -> None:
    with pytest.raises(BadValue) as bad:
        filled_in(text, VARIABLES)
    assert bad.value.code == code
    assert message in bad.value.message
    assert (bad.value.hint or "").startswith(hint)
    assert "hush" not in f"{bad.value.message} {bad.value.hint}"


def test_what_has_variables() -> None:
    assert has_variables("a ${B")
    assert not has_variables("a $B {}")
