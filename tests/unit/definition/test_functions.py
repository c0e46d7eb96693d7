"""Which functions a definition calls by name."""

from stretto.definition.functions import functions_in
from stretto.definition.parse import Options, load

TEXT = """
workflow:
  id: w
  steps:
    - step: {id: plain, type: Python, params: {function: {type: STRING, value: "flows:plain"}}}
    - step: {id: again, type: python, params: {function: {type: STRING, value: "flows:plain"}}}
    - step: {id: dollar, type: Python, params: {function: {type: STRING, value: "a$$b"}}}
    - step: {id: computed, type: Python, params: {function: {type: STRING, expression: "return 'x';"}}}
    - step: {id: variable, type: Python, params: {function: {type: STRING, value: "${name}"}}}
    - step: {id: script, type: Python, params: {script: {type: STRING, value: "1"}}}
    - step: {id: shell, type: Shell, params: {function: {type: STRING, value: "no"}}}
    - step: {id: nothing, type: Python}
    - subworkflow: {id: sub, params: {subworkflow_id: {type: STRING, value: x}}}
    - foreach:
        id: each
        params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1]}}}}
        steps: [{step: {id: inner, type: Python, params: {function: {type: STRING, value: "flows:inner"}}}}]
"""
TASKS = """
workflows:
  jobs: [{job_id: count, func_key: count_rows}]
  definitions:
    - workflow_id: counting
      tasks:
        - task_id: only
          job_id: count
          callbacks: [{state: success, func_key: told}, {state: failed, func_key: count_rows}]
"""


def test_functions_are_found_in_all_steps_and_only_where_the_definition_names_them() -> None:
    (definition,) = load(TEXT, Options())
    assert functions_in(definition.workflow.steps) == {
        "flows:plain": "plain",
        "a$b": "dollar",
        "flows:inner": "inner",
    }


def test_handlers_are_functions_too() -> None:
    (definition,) = load(TASKS, Options())
    assert functions_in(definition.workflow.steps) == {"count_rows": "only", "told": "only"}
