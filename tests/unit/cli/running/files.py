"""Definitions that the tests of `stretto run` run, and the command itself inside this process."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from stretto.cli.main import cli

PAIR = """
workflow:
  id: pair
  owner: ann
  table: sales
  days<array<long>>: [1, 2]
  jobs:
    - job: {id: first, type: Shell, rows: 0, command: 'echo rows=7 >> "$$STRETTO_OUTPUT"', transition: [each]}
    - foreach:
        id: each
        params: {'!day<array<long>>': days}
        transition: [last]
        jobs: [{job: {id: in, type: NoOp}}]
    - job: {id: last, type: Shell, command: 'echo $table ${first__rows}'}
"""

FAILING = """
workflow:
  id: failing
  params: {mode: {type: STRING, value: a, mode: CONSTANT}}
  steps:
    - step:
        id: bad
        type: Shell
        params: {command: {type: STRING, value: "echo one >&2; echo two >&2; exit 3"}}
        retry_policy: {error_retry_limit: 0}
        transition: {successors: {after: "true"}}
    - step: {id: after, type: NoOp}
"""


def stretto(*arguments: str | Path, given: bytes | None = None) -> Result:
    """The command; an exception that is no exit is an error of the test."""
    result = CliRunner().invoke(cli, list(map(str, arguments)), input=given, prog_name="stretto")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def as_json(result: Result) -> Any:
    return json.loads(result.stdout)


def said(result: Result) -> list[str]:
    """The lines of a log, without the time before each."""
    return [line[9:] if line[2:3] == line[5:6] == ":" else line for line in result.stdout.splitlines()]
