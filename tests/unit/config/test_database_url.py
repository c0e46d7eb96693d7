"""Addresses of databases: what is accepted, and that no secret is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stretto.config.database_url import DatabaseUrl, masked
from stretto.config.problems import BadValue, ConfigCode
from stretto.model.problem import Code
from stretto.store.opening import BACKENDS

URL = DatabaseUrl()
GOOD = [
    "sqlite:///stretto.db",
    "sqlite:////var/lib/stretto.db",
    "sqlite:///C:/data/stretto.db",
    "postgresql://h/db",
    "postgresql://u@h:5432/db",
    "postgresql://u:p%2Fw@[::1]:5432/db?sslmode=require",
    "postgresql://u@/db?host=/run/postgresql",
    "mariadb://u:p@h/db",
    "mysql://u:p@h/db",
    "postgresql+asyncpg://u:p@h/db",
    "memory://",
]


@pytest.mark.parametrize("url", GOOD)
def test_an_address(url: str) -> None:
    assert URL.read(url) == url


@pytest.mark.parametrize(
    ("url", "code", "message"),
    [
        ("stretto.db", ConfigCode.BAD_URL, "the address of a database begins with its kind"),
        ("oracle://u:hush@h/db", Code.UNKNOWN_VALUE, "the kind of database is none of memory, sqlite, "),
        ("postgres://u:hush@h/db", Code.UNKNOWN_VALUE, "the kind of database is none of"),
        ("postgresql://u:hush@h:x/db", ConfigCode.BAD_URL, "its host or its port can not be read"),
        ("postgresql://u:hush@[::1/db", ConfigCode.BAD_URL, "its host or its port can not be read"),
        ("postgresql://u:hush@/db", ConfigCode.BAD_URL, "it names no host, or port 0"),
        ("postgresql://u:hush@h:0/db", ConfigCode.BAD_URL, "it names no host, or port 0"),
        ("postgresql://u:hush@h", ConfigCode.BAD_URL, "it names no database"),
        ("postgresql://u:hush@h/", ConfigCode.BAD_URL, "it names no database"),
        ("postgresql://u:12/hush@h/db", ConfigCode.BAD_URL, "there is an `@` or a `#` behind the host"),
        ("postgresql://u:12?hush@h/db", ConfigCode.BAD_URL, "there is an `@` or a `#` behind the host"),
        ("postgresql://u:12#hush@h/db", ConfigCode.BAD_URL, "there is an `@` or a `#` behind the host"),
        ("sqlite://stretto.db", ConfigCode.BAD_URL, "a file has no host"),
        ("sqlite:///", ConfigCode.BAD_URL, "it names no file"),
        ("sqlite://", ConfigCode.BAD_URL, "it names no file"),
        ("sqlite:///a.db?key=hush", ConfigCode.BAD_URL, "it names no file, or something behind a `?`"),
        ("memory://x", ConfigCode.BAD_URL, "a database in memory has no name"),
        ("memory:///x", ConfigCode.BAD_URL, "a database in memory has no name"),
        ("sqlite:///a\nb", ConfigCode.BAD_URL, "the address is too long, or holds characters"),
        ("sqlite:///" + "a" * 2_000, ConfigCode.BAD_URL, "the address is too long, or holds characters"),
    ],
)
def test_no_address(url: str, code: str, message: str) -> None:
    with pytest.raises(BadValue) as bad:
        URL.parse(url)
    assert bad.value.code == code
    assert bad.value.message.startswith(message)
    assert "hush" not in f"{bad.value.message} {bad.value.hint}"


def test_the_way_out() -> None:
    with pytest.raises(BadValue) as bad:
        URL.parse("postgres://u@h/db")
    assert bad.value.hint == "did you mean `postgresql`?"
    with pytest.raises(BadValue) as bad:
        URL.parse("mysql://u:p@h")
    assert (bad.value.hint or "").startswith(
        "write `mysql://USER:PASSWORD@HOST/NAME`; in a password `/` is %2F"
    )


def test_every_kind_of_store_has_its_address() -> None:
    shapes = {scheme: f"{scheme}://u:p@h/db" for scheme in BACKENDS}
    shapes |= {"sqlite": "sqlite:///a.db", "memory": "memory://"}
    assert [URL.parse(each) for each in shapes.values()] == list(shapes.values())


@pytest.mark.parametrize("value", [5, None, ["sqlite:///x"]])
def test_an_address_is_a_text(value: object) -> None:
    with pytest.raises(BadValue, match="is not the address of a database"):
        URL.read(value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:hush@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:a@hush@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql://h/db", "postgresql://h/db"),
        (
            "postgresql://h/db?user=u&password=hush&sslmode=require",
            "postgresql://h/db?user=u&password=***&sslmode=require",
        ),
        ("postgresql://h/db?sslmode=require&a=b c", "postgresql://h/db?sslmode=require&a=b c"),
        ("sqlite:////a/b.db", "sqlite:////a/b.db"),
        ("sqlite:///a#b.db", "sqlite:///a#b.db"),
        ("sqlite:///a.db?key=hush", "sqlite:///a.db?key=***"),
        ("memory://", "memory://"),
    ],
)
def test_masks(url: str, shown: str) -> None:
    assert masked(url) == URL.show(url) == shown


@given(
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), max_size=12),
    st.sampled_from("/?#@:"),
)
def test_no_password_is_ever_shown(text: str, mark: str) -> None:
    password = f"hush{text}{mark}hush"
    try:
        shown = masked(URL.parse(f"postgresql://u:{password}@h/db"))
    except BadValue as bad:
        shown = f"{bad.message} {bad.hint}"
    assert "hush" not in shown
