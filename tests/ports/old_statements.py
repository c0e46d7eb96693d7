"""What the code says to a database of some schema, kept so that later schemas can be held against it.

python -m tests.ports.old_statements        before a migration is added: keeps what is said today
"""

from pathlib import Path

from tests.ports.test_sql_plans import PARTS

from stretto.store.sql.statement import Statement
from stretto.store.sql.version import HEAD
from stretto.store.sqlite import dialect

FOLDER = Path(__file__).parent / "statements"


def today() -> list[str]:
    """Each statement in SQLite's words; pages of a list differ in nothing that matters here."""
    texts = [
        part.of(dialect.DIALECT) if isinstance(part, Statement) else dialect.spell(part, 2)
        for part in PARTS.values()
    ]
    return sorted({text for text in texts if ":cut_" not in text})


def kept(number: str) -> list[str]:
    """What code of an older schema said."""
    return (FOLDER / f"{number}.sql").read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{HEAD}.sql").write_text("".join(f"{text}\n" for text in today()), encoding="utf-8")
