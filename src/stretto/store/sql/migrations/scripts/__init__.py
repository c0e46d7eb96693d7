"""What migrations run, as text for each database: `<number>.<database>.sql`."""

from importlib.resources import files


def statements_of(number: str, database: str) -> list[str]:
    """The statements of a script; each ends with `;` at the end of a line."""
    text = files(__name__).joinpath(f"{number}.{database}.sql").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [statement.strip() for statement in "\n".join([*lines, ""]).split(";\n") if statement.strip()]
