"""Every file in Maestro's YAML, and every example, still means what it meant before `+` fields were added.

`python -m tests.conformance.test_dsl_files` writes the digests again, after a change that is meant.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
from tests.conformance.definition_files import MAESTRO, ROOT

from stretto.definition import check
from stretto.definition.printing import to_value

pytestmark = pytest.mark.conformance

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
DIGESTS: Final = Path(__file__).parent / "dsl_digests.json"


def files() -> dict[str, Path]:
    names = [path for form in ("*.yaml", "*.yml", "*.json") for path in sorted(ROOT.rglob(form))]
    found = {f"corpus/{path.relative_to(ROOT)}": path for path in names}
    return found | {
        f"examples/{path.relative_to(EXAMPLES)}": path for path in sorted(EXAMPLES.rglob("*.y*ml"))
    }


def digest(path: Path) -> str:
    """Of what the text becomes: definitions, or problems with their places."""
    found = check(path.read_text(encoding="utf-8"), MAESTRO)
    value = [[_said(to_value(each)) for each in found.definitions], [str(each) for each in found.problems]]
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _said(value: Any) -> Any:
    """Without what is false or empty: a field that the model gets later is printed so, and says nothing."""
    if isinstance(value, dict):
        return {key: _said(each) for key, each in value.items() if each not in (None, False, {}, [])}
    return [_said(each) for each in value] if isinstance(value, list) else value


def test_all_files_parse_to_what_they_did() -> None:
    known = json.loads(DIGESTS.read_text(encoding="utf-8"))
    assert {name: digest(path) for name, path in files().items()} == known
    assert len(known) > 10


if __name__ == "__main__":
    digests = {name: digest(path) for name, path in files().items()}
    DIGESTS.write_text(json.dumps(digests, indent=2, sort_keys=True) + "\n", encoding="utf-8")
