"""Writes the files that are made from the code. A test compares them, so they are never out of date.

python -m scripts.generate           write them all
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from scripts.api_reference import api_reference
from scripts.cli_reference import cli_reference
from scripts.schema_sql import SQL_FILES
from scripts.sel_tables import sel_tables
from scripts.settings_reference import settings_reference

from stretto.definition.schema import definition_schema
from stretto.model.actions import INSTANCE_ACTIONS, STEP_ACTIONS
from stretto.model.moves import INSTANCE_MOVES, RUN_MOVES, STEP_MOVES, Moves, S, draw
from stretto.model.status import InstanceStatus, RunStatus, StepFlag, StepStatus
from stretto.model.status_codes import RUN_CODES, STEP_CODES
from stretto.model.vocabulary import CONCEPTS, VOCABULARY, System
from stretto.model.words import Word
from stretto.runtimes.listing import built_in_schemas

ROOT: Final = Path(__file__).parents[1]

STATUSES_INTRO: Final = """\
# Statuses

<!-- Made by scripts/generate.py from stretto.model; change the tables there. -->

A move between two statuses is legal if, and only if, it is drawn here. The table below each drawing says
the same. Drawings, moves, flags and actions are made from the tables of `stretto.model`; no other place in
the code says what may follow what.
"""
CODES_NOTE: Final = """\
The *letter* stands for a status where many are told at once; upper case means that it ended badly, and `-`
that a step is not part of a run.
"""
FLAGS_NOTE: Final = """\
*Complete* means that successors may go on. *Kept in rollups* means that overviews of the runs above name
such a step. *Tried again* means that the next attempt follows by itself.
"""
FLAGS: Final = {
    StepFlag.TERMINAL: "terminal",
    StepFlag.COMPLETE: "complete",
    StepFlag.OVERVIEW: "kept in rollups",
    StepFlag.RETRYABLE: "tried again",
}
SYSTEMS: Final = {System.TASK_ENGINE: "task engine", System.KUBEMIN: "KubeMin", System.CARP: "Carp"}


def statuses() -> str:
    """The reference of statuses: moves as drawings, flags and actions as tables, other systems' words."""
    return "\n".join(
        [
            STATUSES_INTRO,
            "## A run\n\nAn ended run never changes; a restart makes a new one.\n",
            _moves(RUN_MOVES),
            "## An instance\n\nAn instance goes on to live: a restart moves it back to `CREATED`.\n",
            _moves(INSTANCE_MOVES),
            CODES_NOTE,
            _table(["status", "letter", "terminal", "actions"], _instance_rows()),
            "## A step attempt\n",
            _moves(STEP_MOVES),
            FLAGS_NOTE,
            _table(["status", "letter", *FLAGS.values(), "actions"], _step_rows()),
            "## Words of other systems\n\nEvery surface translates by these; Maestro's words are ours.\n",
            _table(["run", "steps", *SYSTEMS.values()], _vocabulary_rows()),
            _table(["concept", *SYSTEMS.values()], _concept_rows()),
        ]
    )


def _moves(moves: Moves[S]) -> str:
    """As a drawing, and as a table: not everything that shows this page can draw."""
    rows = [[f"`{start}`", f"`{end}`", when] for start, row in moves.items() for end, when in row.items()]
    return f"```mermaid\n{draw(moves)}```\n\n{_table(['from', 'to', 'when'], rows)}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _tick(flag: bool) -> str:
    return "✓" if flag else ""


def _words(words: tuple[Word, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _instance_rows() -> list[list[str]]:
    return [
        [
            f"`{status}`",
            f"`{RUN_CODES[RunStatus(status)]}`",
            _tick(status.is_terminal),
            _words(INSTANCE_ACTIONS[status]),
        ]
        for status in InstanceStatus
    ]


def _step_rows() -> list[list[str]]:
    return [
        [
            f"`{status}`",
            f"`{STEP_CODES[status]}`",
            *(_tick(flag in status.flags) for flag in FLAGS),
            _words(STEP_ACTIONS.get(status, ())),
        ]
        for status in StepStatus
    ]


def _vocabulary_rows() -> list[list[str]]:
    return [
        [_words(entry.run), _words(entry.steps), *(", ".join(entry.words.get(s, ())) for s in SYSTEMS)]
        for entry in VOCABULARY
    ]


def _concept_rows() -> list[list[str]]:
    return [[ours, *(theirs.get(system, "") for system in SYSTEMS)] for ours, theirs in CONCEPTS.items()]


def schema() -> str:
    """The JSON Schema of definitions, as `stretto schema` prints it where no packages bring step types."""
    return json.dumps(definition_schema(built_in_schemas()), indent=2, ensure_ascii=False) + "\n"


# Path from the root of the repository -> what makes it.
FILES: Final[Mapping[str, Callable[[], str]]] = {
    "docs/reference/cli.md": cli_reference,
    "docs/reference/http-api.md": api_reference,
    "docs/reference/settings.md": settings_reference,
    "docs/reference/statuses.md": statuses,
    "docs/reference/definition.schema.json": schema,
    "src/stretto/sel/syntax/tables.json": sel_tables,
    **SQL_FILES,
}


def main() -> None:
    for name, make in FILES.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
