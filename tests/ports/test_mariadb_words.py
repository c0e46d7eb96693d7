"""What the MariaDB store says and understands, without a server."""

import ssl
from pathlib import Path
from typing import Any

import pytest
from asyncmy.errors import IntegrityError, InterfaceError, InternalError, OperationalError

from stretto.model.errors import Conflict, InvalidRequest, PreconditionFailed, StrettoError, Unavailable
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.store.mariadb import errors
from stretto.store.mariadb.address import address_of
from stretto.store.mariadb.bulk import MOST_ROWS, MOST_VALUES, delete, insert, lock, sizes
from stretto.store.mariadb.connecting import Server, check_version, collation_of, server_of, session_of
from stretto.store.mariadb.dialect import MariadbDialect
from stretto.store.mariadb.indexes import guided
from stretto.store.mariadb.spelling import Spelling, cut
from stretto.store.mariadb.weight import VALUE, length_of, most_of, too_large
from stretto.store.settings import DatabaseSettings, Synchronous
from stretto.store.sql.database import Taken
from stretto.store.sql.statement import INT, Bulk, Statement, Way, ints, texts

DIALECT = MariadbDialect("utf8mb4_nopad_bin")
MARIADB, MYSQL = Server(True, (10, 11, 6)), Server(False, (8, 0, 36))
FIELDS = (*texts("name"), *ints("seq"), *texts("doc"))


# -------------------------------------------------------------------------------------------------- addresses
def test_an_address_says_all_there_is_to_know() -> None:
    address = address_of(
        "mariadb+asyncmy://me:p%40ss%2F@db.example:3307/my%20name?connections=3&lock_within=2000"
    )
    assert address[:6] == ("me", b"p@ss/", "db.example", 3307, "my name", None)
    assert address.place == "mariadb://db.example:3307/my name"
    assert (address.settings.connections, address.settings.lock_within) == (3, 2_000)
    assert address.tls is None


def test_an_address_may_say_little() -> None:
    address = address_of("mysql:///name", DatabaseSettings(connections=2))
    assert address[:6] == (None, b"", "localhost", 3306, "name", None)
    assert address.place == "mysql://localhost/name"
    assert address.settings.connections == 2


def test_a_socket_is_named_behind_the_question_mark() -> None:
    address = address_of("mariadb://me@localhost/name?unix_socket=/run/my.sock&synchronous=relaxed")
    assert address.unix_socket == "/run/my.sock"
    assert address.place == "mariadb:///run/my.sock/name"
    assert address.settings.synchronous is Synchronous.RELAXED


@pytest.mark.parametrize(
    ("url", "message", "hint"),
    [
        ("mariadb://host:port/name", "can not be read", "write mariadb://"),
        ("mariadb://host/name?connections", "can not be read", "write mariadb://"),
        ("mariadb://host", "names no database", "write mariadb://"),
        ("mariadb://host/name?conections=3", "[conections] means nothing", "did you mean `connections`?"),
        ("mariadb://host/name?zzz=3", "[zzz] means nothing", "known are synchronous, "),
        ("mariadb://host/name?connections=0", "connections is '0'", "a number above 0"),
        ("mariadb://host/name?connections=x", "connections is 'x'", "a number above 0"),
        ("mariadb://host/name?synchronous=maybe", "synchronous is 'maybe'", "durable or relaxed"),
        ("mariadb://host/name?ssl=maybe", "ssl is 'maybe'", "true, verify or false"),
        ("mariadb://host/name?ssl_ca=/nowhere", "can not be read", "look at the files"),
        ("mariadb://host/name?ssl=true&ssl_cert=/nowhere", "can not be read", "look at the files"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(url: str, message: str, hint: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        address_of(url)
    assert message in str(refusal.value)
    assert hint in (refusal.value.hint or "")


def test_encryption_is_asked_for_in_the_address() -> None:
    def tls(query: str) -> ssl.SSLContext | None:
        return address_of(f"mariadb://host/name?{query}").tls

    believing, doubting = tls("ssl=true"), tls("ssl=verify")
    assert believing is not None
    assert believing.verify_mode is ssl.CERT_NONE
    assert doubting is not None
    assert (doubting.verify_mode, doubting.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert tls("ssl=false") is None


def test_a_certificate_of_ones_own_is_asked_for(tmp_path: Path) -> None:
    roots = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not roots:
        pytest.skip("this machine trusts nobody")
    file = tmp_path / "ca.pem"
    file.write_text(ssl.DER_cert_to_PEM_cert(roots[0]))
    context = address_of(f"mariadb://host/name?ssl_ca={file}").tls
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert len(context.get_ca_certs()) == 1


# -------------------------------------------------------------------------------------------------- servers
@pytest.mark.parametrize(
    ("text", "server", "name"),
    [
        ("5.5.5-10.11.19-MariaDB-0+deb12u1", Server(True, (10, 11, 19)), "MariaDB 10.11.19"),
        ("11.4.2-MariaDB-log", Server(True, (11, 4, 2)), "MariaDB 11.4.2"),
        ("8.0.36-0ubuntu0.22.04.1", Server(False, (8, 0, 36)), "MySQL 8.0.36"),
        ("something else", Server(False, (0,)), "MySQL 0"),
    ],
)
def test_a_server_says_what_it_is(text: str, server: Server, name: str) -> None:
    assert server_of(text) == server
    assert str(server) == name


@pytest.mark.parametrize("text", ["5.5.5-10.5.9-MariaDB", "10.5.9-MariaDB", "5.7.44-log", "8.0.11-TiDB-v7"])
def test_a_server_that_is_too_old_is_refused(text: str) -> None:
    with pytest.raises(PreconditionFailed, match=r"MariaDB 10\.6 or MySQL 8\.0\.19, or newer, is needed"):
        check_version(server_of(text), "here")


@pytest.mark.parametrize("text", ["5.5.5-10.6.0-MariaDB", "12.0.1-MariaDB", "8.0.19", "9.1.0"])
def test_a_server_that_is_new_enough_is_not(text: str) -> None:
    check_version(server_of(text), "here")


def test_what_is_set_on_a_connection() -> None:
    settings = DatabaseSettings(lock_within=500, idle_in_transaction=4_900, statement_within=1_500)
    ours, theirs = session_of(MARIADB, settings), session_of(MYSQL, settings)
    for text in (ours, theirs):
        assert "innodb_lock_wait_timeout = 1," in text  # whole seconds, and not none
        assert "TRANSACTION ISOLATION LEVEL READ COMMITTED" in text
        assert "STRICT_ALL_TABLES" in text
    assert "idle_transaction_timeout = 4," in ours
    assert "max_statement_time = 1.5," in ours
    assert "COLLATE utf8mb4_nopad_bin" in ours
    assert "idle_transaction" not in theirs
    assert "wait_timeout = 4, max_execution_time = 1500" in theirs
    assert f"COLLATE {collation_of(MYSQL)}" in theirs


# --------------------------------------------------------------------------------------------------- words
def test_a_cut_is_spelled_out() -> None:
    assert DIALECT.beyond(["a"], ["x"], "<=") == "a <= :x"
    assert DIALECT.beyond(["a", "b", "c"], ["x", "y", "z"], ">=") == (
        "a >= :x AND (a > :x OR a = :x AND b > :y OR a = :x AND b = :y AND c >= :z)"
    )


def test_the_other_words() -> None:
    assert DIALECT.among("id", "ids", INT) == "id IN (:ids...)"
    assert DIALECT.listed("keys", FIELDS[:2]) == (
        "JSON_TABLE(:keys, '$[*]' COLUMNS (name VARCHAR(321) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin "
        "PATH '$[0]', seq BIGINT PATH '$[1]'))"
    )
    assert "ON DUPLICATE KEY UPDATE name = IF(LAST_INSERT_ID(1), t.name, t.name)" in DIALECT.missing(
        "t", FIELDS
    )


AMONG = Statement(lambda d: f"SELECT 1 FROM t WHERE {d.among('id', 'ids', INT)} AND x = :x LIMIT :most")  # noqa: S608
LISTED = Statement(lambda d: f"SELECT 1 FROM {d.listed('keys', FIELDS[:2])} named")  # noqa: S608


def test_lists_have_few_sizes() -> None:
    spelling = Spelling(DIALECT)
    text, bound = spelling.of(AMONG, {"ids": [1, 2, 3], "x": "é", "most": 5, "more": 1})
    assert text == "SELECT 1 FROM t WHERE id IN (%s, %s, %s, %s) AND x = %s LIMIT %s"
    assert bound == [1, 2, 3, 3, "é", 5]
    assert spelling.of(AMONG, {"ids": [1, 2, 3, 4], "x": None, "most": 5})[0] is text
    text, bound = spelling.of(AMONG, {"ids": [], "x": 1, "most": 5})
    assert text == "SELECT 1 FROM t WHERE id IN (%s) AND x = %s LIMIT %s"
    assert bound == [None, 1, 5]


def test_tuples_are_bound_as_json() -> None:
    _text, bound = Spelling(DIALECT).of(LISTED, {"keys": [('a"\\', 1), ("é", 2)]})
    assert bound == ['[["a\\"\\\\",1],["é",2]]']


def test_what_no_text_can_hold_is_refused() -> None:
    with pytest.raises(Poison):
        Spelling(DIALECT).of(LISTED, {"keys": [("\ud800", 1)]})


def test_names_are_found_and_nothing_else() -> None:
    spelled = cut("SELECT '50%' FROM t WHERE a = :a AND b IN (:b_1...) AND c = :a")
    assert spelled.names == ("a", "b_1", "a")
    assert spelled.text([2]) == "SELECT '50%%' FROM t WHERE a = %s AND b IN (%s, %s) AND c = %s"


def test_only_a_select_is_guided() -> None:
    assert guided("SELECT x FROM work WHERE pool = :pool") == (
        "SELECT x FROM work FORCE INDEX (work_pool) WHERE pool = :pool"
    )
    assert guided("SELECT x FROM a JOIN b ON 1 LEFT JOIN c ON 1") == (
        "SELECT x FROM a STRAIGHT_JOIN b ON 1 LEFT JOIN c ON 1"
    )
    assert guided("DELETE FROM work WHERE pool = :pool") == "DELETE FROM work WHERE pool = :pool"


# --------------------------------------------------------------------------------------------------- bulks
def bulk(way: Way, **more: Any) -> Bulk:
    return Bulk(way=way, table="t", key=2, fields=FIELDS, common=ints("at"), **more)


def test_rows_are_inserted() -> None:
    head = "INSERT INTO t (name, seq, doc, at) VALUES (%s, %s, %s, %s), (%s, %s, %s, %s)"
    assert insert(bulk(Way.INSERT), 2, {"x": "0"}) == head
    assert insert(bulk(Way.MISSING), 2, {}) == f"{head} ON DUPLICATE KEY UPDATE name = t.name"
    put = bulk(Way.PUT, changes=frozenset({"doc", "at"}), keeps=frozenset({"doc"}), raises=frozenset({"at"}))
    assert insert(put, 2, {}) == (
        f"{head} ON DUPLICATE KEY UPDATE doc = COALESCE(VALUES(doc), t.doc), at = GREATEST(t.at, VALUES(at))"
    )
    adding = bulk(Way.PUT, changes=frozenset({"at"}), adds=frozenset({"at"}))
    assert insert(adding, 2, {}).endswith("UPDATE at = t.at + VALUES(at)")


def test_rows_that_are_there_are_inserted_on_top_of_themselves() -> None:
    assert insert(bulk(Way.UPDATE), 1, {"doc": "''", "kind": "''", "tries": "0"}) == (
        "INSERT INTO t (name, seq, doc, at, kind, tries) VALUES (%s, %s, %s, %s, '', 0) "
        "ON DUPLICATE KEY UPDATE doc = VALUES(doc), at = VALUES(at)"
    )
    locking = lock(bulk(Way.UPDATE)).of(DIALECT)
    assert locking.startswith("SELECT named.name, named.seq FROM JSON_TABLE(:keys,")
    assert locking.endswith("named STRAIGHT_JOIN t ON t.name = named.name AND t.seq = named.seq FOR UPDATE")


def test_rows_are_deleted() -> None:
    deleting = delete(Bulk(way=Way.DELETE, table="t", key=1, fields=FIELDS[:1])).of(DIALECT)
    assert deleting.startswith("DELETE t FROM JSON_TABLE(:keys,")
    assert deleting.endswith("named STRAIGHT_JOIN t ON t.name = named.name")


def test_rows_go_in_powers_of_two() -> None:
    assert list(sizes(MOST_ROWS + 7, 3)) == [MOST_ROWS, 4, 2, 1]
    assert list(sizes(2, MOST_VALUES)) == [1, 1]
    assert list(sizes(0, 3)) == []


def test_what_is_sent_is_weighed() -> None:
    assert length_of(["é", 1, None, "\ud800"]) == 4 * VALUE + 2 + 1
    rows = [("n", 1, "x" * 1_000), ("n", 2, None)]
    assert length_of(value for row in rows for value in row) < most_of(bulk(Way.PUT), rows) < 8_000
    error = too_large(["x" * 2_000], 1_000)
    assert "2,020 bytes" in str(error)
    assert "max_allowed_packet" in (error.hint or "")


# -------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("error", "kind", "said", "hint"),
    [
        (Taken("x"), Conflict, "is there already", None),
        (IntegrityError(1062, "Duplicate entry"), Conflict, "is there already", None),
        (OperationalError(1366, "Incorrect string value"), Poison, "refuses a value", None),
        (OperationalError(1406, "Data too long"), Poison, "refuses a value", None),
        (OperationalError(1264, "Out of range"), Poison, "refuses a value", None),
        (OperationalError(1153, "packet bigger"), Poison, "refuses a value", None),
        (OperationalError(3140, "Invalid JSON"), Poison, "refuses a value", None),
        (OperationalError(1021, "Disk full"), Unavailable, "Disk full", "make room"),
        (OperationalError(1114, "The table is full"), Unavailable, "full", "make room"),
        (OperationalError(1290, "--read-only"), Unavailable, "--read-only", "name the primary"),
        (OperationalError(1792, "READ ONLY transaction"), Unavailable, "READ ONLY", "name the primary"),
        (OperationalError(1040, "Too many connections"), Unavailable, "Too many", "max_connections"),
        (OperationalError(1969, "max_statement_time"), Unavailable, "max_", "statement_within"),
        (OperationalError(1064, "syntax"), Unavailable, "syntax", None),
        (OperationalError(2013, "Lost"), Unavailable, "Lost", "whether the server runs"),
        (InternalError("Packet sequence"), Unavailable, "Packet sequence", "whether the server runs"),
        (TimeoutError(), Unavailable, "did not answer in time", "whether the server runs"),
        (ConnectionError(), Unavailable, "ConnectionError", "whether the server runs"),
    ],
)
def test_errors_are_translated(
    error: Exception, kind: type[StrettoError], said: str, hint: str | None
) -> None:
    found = errors.translated(error, "HERE")
    assert type(found) is kind
    assert said in str(found)
    assert found.hint is None if hint is None else hint in (found.hint or "")


@pytest.mark.parametrize(
    ("error", "repeated", "lost", "undone"),
    [
        (OperationalError(1213, "Deadlock"), True, False, True),
        (OperationalError(1205, "Lock wait timeout"), True, False, True),
        (OperationalError(1020, "changed since last read"), True, False, True),
        (OperationalError(1615, "needs to be re-prepared"), True, False, False),
        (OperationalError(2006, "gone away"), True, True, True),
        (InterfaceError(0, "Not connected"), True, True, True),
        (OperationalError(2013, "Lost"), True, True, False),
        (OperationalError(1927, "killed"), True, True, False),
        (OperationalError(1053, "Server shutdown"), True, True, False),
        (InternalError("Packet sequence"), False, True, False),
        (TimeoutError(), False, True, False),
        (OperationalError(1406, "Data too long"), False, False, False),
    ],
)
def test_what_is_done_about_an_error(error: Exception, repeated: bool, lost: bool, undone: bool) -> None:
    assert (errors.is_repeated(error), errors.is_lost(error), errors.is_undone(error)) == (
        repeated,
        lost,
        undone,
    )


def test_a_commit_without_an_answer() -> None:
    assert isinstance(errors.unknown(OperationalError(2013, "Lost"), "HERE"), OutcomeUnknown)


def test_a_certificate_that_is_not_believed_is_named() -> None:
    error = OperationalError(2003, "Can't connect")
    error.__cause__ = ssl.SSLError("self-signed")
    assert "ssl_ca" in (errors.refused(error, "HERE").hint or "")


def test_an_address_has_no_password_in_its_place() -> None:
    assert "secret" not in address_of("mariadb://me:secret@host/name").place
