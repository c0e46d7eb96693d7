"""A name that nobody declares: `validate` and `push` warn of it with its place; a run that fails for it says
what to write and is not tried again.
"""

from pathlib import Path

import pytest
from tests.acceptance.command import Ended
from tests.acceptance.processes import Running
from tests.acceptance.serving import Serving

SHELL = """
workflow:
  id: undeclared
  steps:
    - step:
        id: only
        type: Shell
        retry_policy: {error_retry_limit: 2, platform_retry_limit: 2}
        params: {command: {type: STRING, value: "for f in 1 2; do echo $f; done"}}
"""
IN_A_WHILE = """
workflow:
  id: undeclared
  steps:
    - while:
        id: loop
        condition: f < 3
        params: {loop_params: {type: MAP, value: {i: {type: LONG, value: 0}}}}
        steps: [{step: {id: inner, type: NoOp}}]
"""
IN_A_TRIGGER = """
workflow:
  id: undeclared
  signal_triggers:
    - {definitions: {go: {}}, condition: f > 3}
  steps: [{step: {id: only, type: NoOp}}]
"""
IN_A_TRANSITION = """
workflow:
  id: undeclared
  steps:
    - step: {id: first, type: NoOp, transition: {successors: {second: f > 1}}}
    - step: {id: second, type: NoOp}
"""
WHERE = {
    "shell": (SHELL, "params.command.value", "for a shell variable write `$$f`"),
    "while": (IN_A_WHILE, "condition", "declare `f` as a parameter"),
    "trigger": (IN_A_TRIGGER, "signal_triggers[0].condition", "`f`"),
    "transition": (IN_A_TRANSITION, "transition.successors.second", "declare `f` as a parameter"),
}


def stretto(*arguments: str, folder: Path) -> Ended:
    with Running(*arguments, folder=folder) as running:
        return Ended(*running.ended())


@pytest.mark.parametrize("name", WHERE)
def test_validate_and_push_warn_with_the_place(tmp_path: Path, name: str) -> None:
    text, path, hint = WHERE[name]
    file = tmp_path / "undeclared.yaml"
    file.write_text(text)
    lines = text.splitlines()
    line = next(
        number for number, each in enumerate(lines, 1) if "$f" in each or "f <" in each or "f >" in each
    )
    with Serving(folder=tmp_path) as server:
        for command in (("validate", file.name), ("push", file.name, "--server", server.url)):
            done = stretto(*command, folder=tmp_path)
            assert done.code == 0, done
            said = done.out + done.err
            assert f"undeclared.yaml:{line}:" in said
            assert path in said
            assert "`f` is read, and nothing here gives it a value" in said
            assert hint in said


@pytest.mark.parametrize(("name", "step_id"), [("shell", "only"), ("while", "loop"), ("transition", "first")])
def test_a_run_that_fails_for_it_says_what_to_write_and_is_not_tried_again(
    tmp_path: Path, name: str, step_id: str
) -> None:
    text, _path, hint = WHERE[name]
    (tmp_path / "undeclared.yaml").write_text(text)
    ran = stretto("run", "undeclared.yaml", "--db", "sqlite:///work.db", folder=tmp_path)
    assert ran.code == 1, ran
    assert hint in ran.out + ran.err
    shown = stretto("show", f"undeclared/1:{step_id}", "--db", "sqlite:///work.db", folder=tmp_path)
    assert "attempt 2" not in shown.out
