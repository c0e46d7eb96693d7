"""A run that nobody holds is gone. Python's collector does not see records, so they may be in no cycle."""

import gc
import weakref

from tests.engine.driver import Driver, scripted
from tests.engine.shapes import foreach, noop, numbers, workflow

DEFINITIONS = (
    """
workflow:
  id: flow
  params: {day: {value: 5, type: LONG}}
  steps:
    - step:
        id: a
        type: Python
        params: {x: {expression: "return day + 1;", type: LONG}}
        transition: {successors: {b: "x > 1"}}
    - step: {id: b, type: Python, params: {y: {value: "${step_id}", type: STRING}}}
""",
    workflow(foreach("loop", {"i": numbers(1, 2, 3)}, noop("in"))),
)


class Witness:
    """Goes when its driver does."""


def test_a_run_is_let_go() -> None:
    for definition in DEFINITIONS:
        driver = Driver(definition, runtime=scripted()).finish()
        assert all(list(each.params or ("x",)) for each in driver.flow.attempts if each is not None)
        witness = Witness()
        driver.flow.fetched["witness"] = witness
        gone = weakref.ref(witness)
        del driver, witness
        gc.collect()
        assert gone() is None
