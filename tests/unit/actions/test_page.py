"""`docs/reference/actions.md` names every action, with what it answers."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "actions.md").read_text(encoding="utf-8")
ACTIONS = ROOT / "src" / "stretto" / "actions"
INNER = {
    *("restarted", "resume_paused", "resume_held", "all_paused", "above_in", "workflow_lines"),
    *("views_in_run", "target_in", "kept_elsewhere"),
}  # parts of other actions, which need them
PARTS = {
    "aggregation",
    "definitions",
    "earlier",
    "enriched",
    "flatten_orders",
    "flattening",
    "flows",
    "iterations",
    "listing",
    "run_steps",
    "waits_below",
}  # modules of such


def answers_in_the_code() -> dict[str, str]:
    """Public async functions of the modules that hold actions, with what they return."""
    modules = [*ACTIONS.glob("*.py"), *(ACTIONS / "reading").glob("*.py")]
    found = {}
    for module in modules:
        if module.stem in PARTS or module.stem.endswith("_view"):
            continue
        prefix = "" if module.parent == ACTIONS else "reading."
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.AsyncFunctionDef) or node.name.startswith("_") or node.name in INNER:
                continue
            assert node.returns is not None
            found[f"{prefix}{module.stem}.{node.name}"] = ast.unparse(node.returns)
    return found


def answers_on_the_page() -> dict[str, str]:
    rows = re.findall(r"^\| `([\w.]+)` \| [^|]+ \| `(.+)` \|$", PAGE, re.MULTILINE)
    return {name: answer.replace("\\|", "|") for name, answer in rows}


def test_the_page_names_every_action() -> None:
    assert answers_on_the_page() == answers_in_the_code()
