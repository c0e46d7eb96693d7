"""Bad input through the real command: a clear error at its place, exit code 2, bounded time and memory."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.bad_files import BAD, STEP
from tests.acceptance.command import STRETTO, stretto, validate

from stretto.definition import check
from stretto.definition.parse import Options
from stretto.definition.reading.read import Format
from stretto.model.problem import Code

SAMPLE = (
    '{"properties": {"owner": "m\\u00e9", "run_strategy": "parallel"},\n "workflow": {"id": "etl",'
    ' "timeout": 1e2,'
    f' "steps": [{STEP}, "transition": {{"successors": {{}}}}}}}}]}}}}'
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every bad file, checked by one run of the command."""
    return checked(tmp_path_factory.mktemp("bad"))


def checked(folder: Path) -> dict[str, dict[str, Any]]:
    for name, each in BAD.items():
        (folder / name).write_bytes(each.data)
    return {Path(each["file"]).name: each for each in validate([folder / name for name in BAD])}


@pytest.mark.prove
def test_bad_files_take_no_long_time(
    tmp_path: Path, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    with at_most(45):
        assert checked(tmp_path)


@pytest.mark.parametrize("name", BAD)
def test_refused_with_the_right_code_at_the_right_place(
    name: str, results: dict[str, dict[str, Any]]
) -> None:
    problems = results[name]["problems"]
    first = problems[0]
    assert (first["code"], first["line"], first["column"]) == BAD[name][1:], problems
    assert first["message"]
    assert all("line" in problem for problem in problems)


@pytest.mark.parametrize(
    "name", ["deep.json", "laughs.yaml", "cycle-300.json", "task-cycle.yaml", "nul.yaml"]
)
def test_one_by_one_for_people(name: str, tmp_path: Path) -> None:
    bad = BAD[name]
    (tmp_path / name).write_bytes(bad.data)
    ended = stretto("validate", tmp_path / name)
    assert (ended.code, ended.out) == (2, "")
    first, *_, last = ended.err.splitlines()
    assert first.startswith(f"{tmp_path / name}:{bad.line}:{bad.column}: ")
    assert first.endswith(f"[{bad.code}]")
    assert last == f"{tmp_path / name}: 1 problem"


class TestTruncated:
    """A text that ends too early, at every byte."""

    @pytest.mark.parametrize("form", [Format.JSON, None])
    def test_in_process(self, form: Format | None) -> None:
        data = SAMPLE.encode()
        for end in range(len(data)):
            problems = check(data[:end], Options(form=form)).problems
            assert problems, end
            assert all(each.line is not None for each in problems)
            if form is Format.JSON:
                assert [each.code for each in problems] == [Code.SYNTAX]
        assert [each.code for each in check(data).problems] == [Code.WRONG_TYPE]

    def test_through_the_command(self, tmp_path: Path) -> None:
        data = SAMPLE.encode()
        files = []
        for end in range(0, len(data), 7):
            files.append(tmp_path / f"{end}.json")
            files[-1].write_bytes(data[:end])
        for result in validate(files):
            assert [each["code"] for each in result["problems"]] == [Code.SYNTAX]

    def test_yaml_of_every_length(self) -> None:
        data = b"workflow:\n  id: a\n  jobs:\n  - job: {id: 'x', type: \"NoOp\", p: [1, &a {b: c}, *a]}\n"
        for end in range(len(data)):
            check(data[:end])


class TestFiles:
    def test_a_hundred_megabytes(self, tmp_path: Path) -> None:
        big = tmp_path / "big.yaml"
        with big.open("wb") as file:
            file.truncate(100 << 20)
        ended = stretto("validate", big)
        assert (ended.code, "[too-large]" in ended.err) == (2, True)

    def test_more_than_that_through_a_pipe(self) -> None:
        ended = stretto("validate", "-", given=b"a: " + b"x" * (20 << 20))
        assert (ended.code, "[too-large]" in ended.err) == (2, True)

    def test_a_device_without_end(self) -> None:
        ended = stretto("validate", "/dev/zero")
        assert (ended.code, "[too-large]" in ended.err) == (2, True)

    def test_folders_missing_and_closed_files(self, tmp_path: Path) -> None:
        (tmp_path / "closed.json").write_text("{}")
        (tmp_path / "closed.json").chmod(0)
        files = [tmp_path, tmp_path / "missing.json", *([tmp_path / "closed.json"] if os.geteuid() else [])]
        for result in validate(files):
            assert [each["code"] for each in result["problems"]] == [Code.UNREADABLE]

    def test_standard_input_that_is_closed(self) -> None:
        command = f"'{STRETTO}' validate - <&-"
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert "standard input is closed" in done.stderr

    @pytest.mark.parametrize("arguments", ["schema", "validate --json -", "graph --format json -"])
    def test_a_reader_that_goes_away(self, arguments: str) -> None:
        steps = ",".join(f'{{"step": {{"id": "s{n}", "type": "NoOp"}}}}' for n in range(3_000))
        command = f"'{STRETTO}' {arguments} | head -c 1 > /dev/null"
        done = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", command],
            input=f'{{"workflow": {{"id": "a", "steps": [{steps}]}}}}'.encode(),
            capture_output=True,
            check=False,
        )
        assert done.stderr == b""


class TestGraphOfBadInput:
    def test_is_refused_too(self, tmp_path: Path) -> None:
        for name in ("deep-flow.yaml", "duplicate.json", "cycle-2.json", "empty.yaml"):
            (tmp_path / name).write_bytes(BAD[name].data)
            ended = stretto("graph", tmp_path / name)
            assert (ended.code, ended.out) == (2, "")
            assert f"[{BAD[name].code}]" in ended.err


def test_no_text_takes_long_because_of_its_problems() -> None:
    """Hints and reports are made for some problems, not for hundreds of thousands."""
    fields = ",".join(f'"f{n}": {n}' for n in range(150_000))
    start = time.process_time()
    problems = check(f'{{"workflow": {{"id": "a", {fields}}}}}').problems
    assert time.process_time() - start < 20
    assert [problems[0].code, problems[-1].code, len(problems)] == [Code.UNKNOWN_FIELD, Code.TOO_MANY, 1_001]


def test_json_output_is_json_whatever_the_input(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(
        '{"workflow": {"id": "\\u2028\\"<>", "\\u001b[31m": 1}}', encoding="utf-8"
    )
    [result] = validate([tmp_path / "odd.json"])
    assert json.loads(json.dumps(result)) == result
