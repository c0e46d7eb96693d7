"""Behaviour cases of the engine's rules: who tests which, and which need more than a rule."""

from collections.abc import Callable
from typing import Any

from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.corpus import corpus

from stretto.model.wire import decode, loads

AREAS = (
    "status-rollup",
    "retry",
    "timeout",
    "foreach",
    "while",
    "subworkflow",
    "restart-request",
    "job-template",
    "tag-permit",
    "breakpoint",
    "step-skip",
    "step-runtime",
)
CASES: dict[str, Case] = cases_of(*AREAS)
OTHER_RUNTIMES = ("k8s-", "http-")  # these cases belong to the runtimes of those kinds of steps

STEP = "asks how a step goes through its statuses"
LOOP = "asks how a loop launches, follows or ends its iterations"
CHILD = "asks how a subworkflow step starts or ends its child"
RUN = "asks how a run begins or is ended"
STORE = "asks what is stored, and how often"

NEEDS_MACHINE = {
    "retry-user-error-exhaustion": STEP,
    "retry-platform-error-exhaustion": STEP,
    "cancel-by-flow-timeout": RUN,
    "cancel-by-flow-running": RUN,
    "timeout-action-on-step": STEP,
    "foreach-restart-instance-row": LOOP,
    "while-fresh-start": LOOP,
    "while-restart-from-incomplete": LOOP,
    "while-terminate-before-start": LOOP,
    "depth-limit": CHILD,
    "sync-null-means-sync": CHILD,
    "subworkflow-duplicate-start-reuses": CHILD,
    "subworkflow-sync-flag": CHILD,
    "subworkflow-terminate-waits": CHILD,
    "restart-running-instance-new-attempt": STEP,
    "job-template-cache": STORE,
    "tag-acquire": STORE,
    "tag-action-codes": STORE,
    "tag-start-paging": STORE,
    "tag-step-lifecycle": STORE,
    "breakpoint-pause-match": STEP,
    "breakpoint-delete-resume-flag": STORE,
    "breakpoint-foreach-delete": STORE,
    "breakpoint-delete-batches": STORE,
    "sleep-polling": STEP,
    "runtime-result-persist": STORE,
    "runtime-start-done": STEP,
    "runtime-execute-done": STEP,
    "runtime-terminate": STEP,
    "kill-ignore-failure-mode": STEP,
    "gate-waits-for-complete": RUN,
    "leaf-limit-stops-workflow": RUN,
    "workflow-marked-started": RUN,
}

Check = Callable[[Any, Then], None]


class Rules:
    """The checks of one test module, by the id of their case."""

    def __init__(self) -> None:
        self.checks: dict[str, Check] = {}

    def case(self, *case_ids: str) -> Callable[[Check], Check]:
        """Marks the function that understands these cases."""

        def register(check: Check) -> Check:
            self.checks |= dict.fromkeys(case_ids, check)
            return check

        return register

    def run(self, case_id: str) -> None:
        """Check a case: all of its `then`, and nothing beside it."""
        case = CASES[case_id]
        then = Then(case)
        self.checks[case_id](case["given"], then)
        then.assert_all_taken()


def like(prefix: str) -> list[str]:
    return [case_id for case_id in CASES if case_id.startswith(prefix)]


def fixture(path: str, kind: Any) -> Any:
    """A record of the corpus; the path is as the cases write it."""
    value = loads(corpus(*path.split("/")).read_text(encoding="utf-8"))
    record, problems = decode(kind, value)
    assert not problems
    return record
