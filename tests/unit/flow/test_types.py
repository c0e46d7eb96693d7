"""What a type checker makes of workflows: mypy reads `typed_flows.py.txt`, which says what it must find."""

import re
from pathlib import Path

from mypy import api

SOURCE = Path(__file__).with_name("typed_flows.py.txt")
ROOT = Path(__file__).parents[3]
ANSWER = re.compile(r".*typed_flows\.py:(\d+): (?:note: Revealed type is \"(.*)\"|error: .*)")
LONG = re.compile(r"builtins\.|stretto\.flow\.workflow\.|typing\.")


def test_types_are_those_of_the_functions(tmp_path: Path) -> None:
    text = SOURCE.read_text()
    wanted = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(text.splitlines(), 1)
        if "reveal_type(" in line or line.endswith("# error")
    }
    file = tmp_path / "typed_flows.py"
    file.write_text(text)
    output, problems, _ = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(file)])
    assert not problems
    answers = [match for line in output.splitlines() if (match := ANSWER.fullmatch(line))]
    found = {int(number): LONG.sub("", kind) if kind else "error" for number, kind in map(groups, answers)}
    assert found == wanted, output


def groups(match: re.Match[str]) -> tuple[str, str | None]:
    return match[1], match[2]
