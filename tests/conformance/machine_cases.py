"""The behaviour cases that need the whole machine, and whose the others are."""

from collections.abc import Callable
from typing import Any

from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.rule_cases import AREAS

CASES: dict[str, Case] = cases_of(*AREAS, "instance-action")
Check = Callable[[Any, Then], None]

# These ask who hands permits out, and how their rows live; the cases of permits and actions have them.
OF_PERMITS = ("tag-action-codes", "tag-start-paging", "tag-step-lifecycle")
# These ask something of an instance with several runs, or of a request; the actions have them.
OF_ACTIONS = (
    "stop-not-latest-run",
    "restart-non-terminal",
    "workflow-stop-batches",
    "start-unknown-step-run-params",
    "start-response-codes",
    "trigger-start-requires-active-and-uuid",
)


class Machine:
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
        then = Then(CASES[case_id])
        self.checks[case_id](dict(CASES[case_id]["given"]), then)
        then.assert_all_taken()
