"""Texts that must be refused: name of the file -> its bytes, the code, and where the error is (a mark in it).

The mark `«` stands right before the place that must be reported; it is taken out before use.
"""

from typing import Final, NamedTuple

from stretto.model.problem import Code

MARK: Final = "«"
JSON_OPEN: Final = '{"workflow": {"id": "a",\n  '
STEP: Final = '{"step": {"id": "s", "type": "NoOp"'


class Bad(NamedTuple):
    data: bytes
    code: str
    line: int
    column: int


def bad(code: str, text: str) -> Bad:
    before, mark, after = text.partition(MARK)
    assert mark, text
    return Bad((before + after).encode(), code, before.count("\n") + 1, len(before) - before.rfind("\n"))


def chain(length: int, kind: str = "step") -> str:
    steps = [
        f'{{"step": {{"id": "s{n}", "type": "NoOp", "transition": {{"successors": '
        f'{{{MARK if n == 0 else ""}"s{(n + 1) % length}": "true"}}}}}}}}'
        for n in range(length)
    ]
    body = ",\n".join(steps)
    if kind == "while":
        body = f'{{"while": {{"id": "w", "condition": "true", "steps": [{body}]}}}}'
    return f'{{"workflow": {{"id": "a", "steps": [{body}]}}}}'


LAUGHS: Final = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x]"]
    + [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
)
DSL: Final = "workflow:\n  id: a\n  owner: me\n  jobs:\n    - job: {id: one, type: NoOp}\n"
TASKS: Final = (
    "workflows:\n  jobs: [{job_id: j, func_key: f}]\n  definitions:\n    - workflow_id: w\n      tasks:\n"
)
STAGES: Final = (
    "workflow:\n  id: a\n  stages:\n    - id: one\n      steps:\n        - step: {id: s, type: NoOp}\n"
)
BLOCK: Final = "".join(f"{' ' * n}{MARK if n == 128 else ''}a:\n" for n in range(1_000))

BAD: Final[dict[str, Bad]] = {
    # ------------------------------------------------------------------------------ what is no text at all
    "empty.json": bad(Code.SYNTAX, MARK),
    "empty.yaml": bad(Code.EMPTY, MARK),
    "comment.yaml": bad(Code.EMPTY, f"{MARK}# nothing here\n\n# nor here\n"),
    "null.yaml": bad(Code.EMPTY, f"{MARK}---\n~\n"),
    "latin1.json": Bad(b'{"workflow":\n {"id": "\xe9"}}', Code.SYNTAX, 2, 10),
    "utf16.json": Bad('{"workflow": {}}'.encode("utf-16"), Code.SYNTAX, 1, 1),
    "utf16le.yaml": Bad("workflow: {}".encode("utf-16-le"), Code.SYNTAX, 1, 2),
    "nul.json": Bad(b'{"workflow":\n {"id": "a\x00"}}', Code.SYNTAX, 2, 11),
    "nul.yaml": Bad(b"workflow:\n  id: a\x00\n", Code.SYNTAX, 2, 8),
    "nul-escape.json": bad(Code.SYNTAX, f'{JSON_OPEN}"name": {MARK}"x\\u0000"}}}}'),
    "nul-escape.yaml": bad(Code.SYNTAX, f'workflow:\n  id: a\n  name: {MARK}"x\\0"\n'),
    "nul-key.json": bad(Code.SYNTAX, f'{JSON_OPEN}"x\\u0000": {MARK}1}}}}'),
    "surrogate.json": bad(Code.SYNTAX, f'{JSON_OPEN}"name": {MARK}"\\udc00"}}}}'),
    "bell.yaml": bad(Code.SYNTAX, f"workflow:\n  id: {MARK}\x07\n"),
    "bom.json": Bad(b'\xef\xbb\xbf{"workflow"}', Code.SYNTAX, 1, 12),
    # -------------------------------------------------------------------------------------------- syntax
    "comma.json": bad(Code.SYNTAX, f'{JSON_OPEN}"name": "x",{MARK}}}}}'),
    "quotes.json": bad(Code.SYNTAX, f"{{{MARK}'workflow': 1}}"),
    "behind.json": bad(Code.SYNTAX, f'{{"workflow": {{"id": "a"}}}}\n{MARK}x'),
    "duplicate-and-behind.json": bad(Code.SYNTAX, f'{{"a": 1, "a": 2}}\n{MARK}}}'),
    "tabs.yaml": bad(Code.SYNTAX, f"workflow:\n{MARK}\tid: a\n"),
    "colons.yaml": bad(Code.SYNTAX, f"workflow: id{MARK}: a\n"),
    "alias.yaml": bad(Code.SYNTAX, f"workflow: {MARK}*nothing\n"),
    "recursive.yaml": bad(Code.SYNTAX, f"workflow: &w {{a: {MARK}*w}}\n"),
    "python.yaml": bad(Code.SYNTAX, f"workflow: {MARK}!!python/object/apply:os.system ['true']\n"),
    "python-key.yaml": bad(Code.SYNTAX, f"workflow:\n  {MARK}!!python/name:os.system x: 1\n"),
    "tag.yaml": bad(Code.SYNTAX, f"workflow: {MARK}!Ref x\n"),
    "complex-key.yaml": bad(Code.SYNTAX, f"workflow:\n  ? {MARK}[a, b]\n  : 1\n"),
    "merge.yaml": bad(Code.SYNTAX, f"workflow:\n  <<: {MARK}5\n  id: a\n"),
    # -------------------------------------------------------------------------------------------- limits
    "deep.json": bad(Code.TOO_DEEP, "[" * 128 + MARK + "[" * 9_872),
    "deep-closed.json": bad(Code.TOO_DEEP, '{"a":' * 128 + MARK + '{"a":' * 1_000 + "1" + "}" * 1_128),
    "deep-flow.yaml": bad(Code.TOO_DEEP, "x: " + "[" * 127 + MARK + "[" * 9_873),
    "deep-block.yaml": bad(Code.TOO_DEEP, BLOCK),
    "deep-lists.yaml": bad(Code.TOO_DEEP, "- " * 128 + MARK + "- " * 9_872 + "x\n"),
    "laughs.yaml": bad(Code.TOO_MANY_ALIASES, LAUGHS.replace("f: &f [", f"f: &f [{MARK}", 1)),
    "integer.json": bad(Code.OUT_OF_RANGE, f'{JSON_OPEN}"x": {MARK}{"9" * 5_000}}}}}'),
    "integer.yaml": bad(Code.OUT_OF_RANGE, f"workflow:\n  id: {MARK}{'9' * 5_000}\n"),
    "hex.yaml": bad(Code.OUT_OF_RANGE, f"workflow:\n  id: {MARK}0x{'f' * 5_000}\n"),
    "exponent.json": bad(Code.OUT_OF_RANGE, f'{JSON_OPEN}"x": {MARK}1e999999999}}}}'),
    "exponent.yaml": bad(Code.OUT_OF_RANGE, f"workflow:\n  id: {MARK}1e999999999\n"),
    "nan.json": bad(Code.OUT_OF_RANGE, f'{JSON_OPEN}"x": [1, {MARK}NaN]}}}}'),
    "infinity.json": bad(Code.OUT_OF_RANGE, f'{JSON_OPEN}"x": {MARK}-Infinity}}}}'),
    "infinity.yaml": bad(Code.OUT_OF_RANGE, f"workflow:\n  x: {MARK}-.inf\n"),
    "long.json": bad(Code.OUT_OF_RANGE, f'{JSON_OPEN}"instance_step_concurrency": {MARK}{2**63}}}}}'),
    # ------------------------------------------------------------------------------------------ duplicates
    "duplicate.json": bad(Code.DUPLICATE_KEY, f'{JSON_OPEN}"name": "x", {MARK}"name": "y"}}}}'),
    "duplicate-nested.json": bad(
        Code.DUPLICATE_KEY, f'{JSON_OPEN}"params": {{"p": {{"type": "LONG",\n {MARK}"type": "LONG"}}}}}}}}'
    ),
    "duplicate.yaml": bad(Code.DUPLICATE_KEY, f"workflow:\n  id: a\n  {MARK}id: b\n"),
    "duplicate-flow.yaml": bad(Code.DUPLICATE_KEY, f"workflow: {{id: a, x: [{{b: 1, {MARK}b: 2}}]}}\n"),
    "duplicate-numbers.yaml": bad(Code.DUPLICATE_KEY, f"1: a\n{MARK}'1': b\n"),
    # --------------------------------------------------------------------------------------------- cycles
    "cycle-1.json": bad(Code.CYCLE, chain(1)),
    "cycle-2.json": bad(Code.CYCLE, chain(2)),
    "cycle-300.json": bad(Code.CYCLE, chain(300)),
    "cycle-in-loop.json": bad(Code.CYCLE, chain(2, "while")),
    # ----------------------------------------------------------------------------------- the model as YAML
    "type.yaml": bad(Code.WRONG_TYPE, f"workflow:\n  id: {MARK}5\n"),
    "number-key.yaml": bad(Code.UNKNOWN_FIELD, f"workflow:\n  id: a\n  {MARK}1: x\n"),
    "field.yaml": bad(Code.UNKNOWN_FIELD, f"workflow:\n  id: a\n  {MARK}stepz: []\n"),
    "kind.yaml": bad(Code.UNKNOWN_VALUE, f"workflow:\n  id: a\n  steps:\n    - {MARK}stpe: {{id: x}}\n"),
    "second.yaml": bad(Code.BAD_NAME, f"workflow: {{id: a}}\n---\nworkflow: {{id: {MARK}$}}\n"),
    "merged.yaml": bad(
        Code.WRONG_TYPE,
        f"workflow:\n  id: a\n  steps:\n    - step: {{<<: {MARK}{{id: 5, type: NoOp}}}}\n",
    ),
    # --------------------------------------------------------------------------------- the other YAML forms
    "dsl-id.yaml": bad(Code.BAD_NAME, f"{DSL}    - job: {{id: {MARK}2x, type: NoOp}}\n"),
    "dsl-type.yaml": bad(Code.UNKNOWN_JOB, f"{DSL}    - job: {{id: two, type: {MARK}nopo}}\n"),
    "dsl-edge.yaml": bad(
        Code.UNKNOWN_STEP, f"{DSL}    - job: {{id: two, type: NoOp, transition: [one, {MARK}there]}}\n"
    ),
    "dsl-dag.yaml": bad(Code.UNKNOWN_STEP, f"{DSL}  dag:\n    one: []\n    {MARK}there: [one]\n"),
    "dsl-expression.yaml": bad(Code.BAD_EXPRESSION, f"{DSL}  '!p<long>': {MARK}1 +\n"),
    "dsl-param.yaml": bad(Code.UNKNOWN_VALUE, f"{DSL}  {MARK}p<lung>: 1\n"),
    "task-id.yaml": bad(Code.BAD_NAME, f"{TASKS}        - task_id: {MARK}1x\n          job_id: j\n"),
    "task-job.yaml": bad(Code.UNKNOWN_JOB, f"{TASKS}        - task_id: x\n          job_id: {MARK}k\n"),
    "task-edge.yaml": bad(
        Code.UNKNOWN_STEP, f"{TASKS}        - {{task_id: x, job_id: j, dependencies: [{MARK}y]}}\n"
    ),
    "task-cycle.yaml": bad(
        Code.CYCLE, f"{TASKS}        - {{task_id: x, job_id: j, dependencies: [{MARK}x]}}\n"
    ),
    "stage-type.yaml": bad(Code.UNKNOWN_VALUE, f"{STAGES}        - step: {{id: t, type: {MARK}nopo}}\n"),
    "stage-second.yaml": bad(
        Code.BAD_DURATION,
        f"{STAGES}    - id: two\n      steps:\n        - step: {{id: t, type: NoOp, timeout: {MARK}soon}}\n",
    ),
    "stage-id.yaml": bad(Code.DUPLICATE_ID, f"{STAGES}    - id: {MARK}one\n      steps: []\n"),
}
