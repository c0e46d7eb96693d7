"""A run in which a step rests in a given status, while another step keeps the run open."""

from collections.abc import Callable

from tests.engine.driver import FOREVER, Driver, Work, scripted

from stretto.engine.events import ResultState, RunAction
from stretto.model.actions import StepAction
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode

S = StepStatus
SIGNAL = "signal_dependencies: [{name: ready}]"
LATE_SIGNAL = (
    "signal_dependencies: [{name: ready, match_params: {n: {operator: '=', param:"
    " {type: LONG, expression: 'return params.nextUniqueId();'}}}}]"
)
LATE_PARAM = "params: {p: {type: LONG, expression: 'return params.nextUniqueId();'}}"
BAD_PARAM = "params: {p: {type: LONG, expression: 'return 1 / 0;'}}"
LATE_EDGE = "transition: {successors: {after: 'params.nextUniqueId() > 0'}}"
EDGE = "transition: {successors: {after: 'true'}}"
RETRIES = "retry_policy: {error_retry_limit: 1, platform_retry_limit: 1, timeout_retry_limit: 1}"

TEXT = """
workflow:
  id: sample-minimal-wf
  steps:
    - step: {{id: before, type: NoOp, transition: {{successors: {{job1: '{edge}'}}}}}}
    - step: {{id: job1, type: Python, {fields}}}
    - step: {{id: after, type: NoOp}}
    - step: {{id: other, type: Python}}
"""


def sample(*fields: str, edge: str = "true", mode: FailureMode | None = None) -> str:
    given = list(fields)
    if not any(each.startswith("transition") for each in given):
        given.append(EDGE)
    if mode is not None:
        given.append(f"failure_mode: {mode.value}")
    return TEXT.format(edge=edge, fields=", ".join(given))


def driver_of(text: str, *works: Work | str, **more: object) -> Driver:
    script = scripted(job1=list(works) or [FOREVER], other=[FOREVER])
    return Driver(text, runtime=script, **more)  # type: ignore[arg-type]


def _paused() -> Driver:
    return driver_of(sample(), breakpoints=frozenset({"job1"})).start().run(0)


def _fetching(*fields: str) -> Driver:
    driver = driver_of(sample(*fields), "DONE")
    driver.fetching = False
    return driver.start().run(0)


def _ended_by(action: StepAction) -> Driver:
    return driver_of(sample(SIGNAL)).start().run(0).step("job1", action)


def _forced(status: StepStatus) -> Driver:
    """A status in which no step rests, or that no definition leads to."""
    driver = _fetching(LATE_SIGNAL)
    driver.attempt("job1").status = status
    if status.is_terminal:
        driver.attempt("job1").asked_at = None
        driver.attempt("job1").edges = {"after": False}
    driver.flow.derive()
    return driver


def in_status(status: StepStatus, mode: FailureMode | None = None) -> Driver:
    """A run whose step `job1` rests in a status."""
    makers: dict[StepStatus, Callable[[], Driver]] = {
        S.CREATED: lambda: _fetching(LATE_SIGNAL),
        S.INITIALIZED: lambda: _forced(S.INITIALIZED),
        S.PAUSED: _paused,
        S.WAITING_FOR_SIGNALS: lambda: driver_of(sample(SIGNAL, mode=mode)).start().run(0),
        S.EVALUATING_PARAMS: lambda: _fetching(LATE_PARAM),
        S.WAITING_FOR_PERMITS: lambda: driver_of(sample("tags: [full]"), limits={"full": 0}).start().run(0),
        S.STARTING: lambda: driver_of(sample(mode=mode)).start().run(0),
        S.RUNNING: lambda: driver_of(sample(mode=mode), Work("DONE", 10**9)).start().run(0),
        S.FINISHING: lambda: _fetching(LATE_EDGE),
        S.DISABLED: lambda: _forced(S.DISABLED),
        S.UNSATISFIED: lambda: driver_of(sample(edge="1 > 2")).start().run(0),
        S.SKIPPED: lambda: _ended_by(StepAction.SKIP),
        S.SUCCEEDED: lambda: driver_of(sample(), "DONE").start().run(0),
        S.COMPLETED_WITH_ERROR: lambda: (
            driver_of(sample(mode=FailureMode.IGNORE_FAILURE), "FATAL_ERROR").start().run(0)
        ),
        S.USER_FAILED: lambda: driver_of(sample(RETRIES), "USER_ERROR").start().run(0),
        S.PLATFORM_FAILED: lambda: driver_of(sample(RETRIES), "PLATFORM_ERROR").start().run(0),
        S.TIMEOUT_FAILED: lambda: driver_of(sample(RETRIES, "timeout: 5")).start().run(5_000),
        S.FATALLY_FAILED: lambda: driver_of(sample(mode=mode), "FATAL_ERROR").start().run(0),
        S.INTERNALLY_FAILED: lambda: driver_of(sample(BAD_PARAM, mode=mode)).start().run(0),
        S.STOPPED: lambda: _ended_by(StepAction.STOP),
        S.TIMED_OUT: lambda: driver_of(sample("timeout: 5")).start().run(5_000),
    }
    made = makers[status]()
    assert made.attempt("job1").status is status
    return made


RESTING = tuple(status for status in S if status is not S.NOT_CREATED)


def let_end(driver: Driver) -> Driver:
    """Let the other step end, and with it the run."""
    if not driver.flow.is_over:
        driver.fetching = True
        driver.report("other", ResultState.DONE).run()
    return driver


def stop(driver: Driver) -> Driver:
    return driver.act(RunAction.STOP).run()
