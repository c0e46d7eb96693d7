"""The conformance suite for stores: every sentence of `stretto.ports` that can be tried is tried.

    pytest.register_assert_rewrite("stretto.testing.store_suite")
    from stretto.testing.store_suite import CHECKS, Bench, Check

    @pytest.mark.parametrize("check", CHECKS, ids=str)
    def test_my_store(check: Check, bench: Bench) -> None:
        check.run(bench)

A bench opens handles to one empty database and lets its time pass. Each check runs in an event loop of its
own. Cases with several writers use several handles, so that they race on stores that can.
"""

from stretto.testing.store_suite import (
    approvals,
    breakpoints,
    bulk,
    commits,
    concurrency,
    copies,
    events,
    fences,
    functions,
    groups,
    history,
    loading,
    outbox,
    permits,
    phases,
    queues,
    requests,
    retention,
    run_snapshots,
    signals,
    taken_permits,
    templates,
    together,
    triggers,
    views,
    work,
    workflow_lists,
    workflows,
)
from stretto.testing.store_suite.check import Bench, Check

CHECKS: tuple[Check, ...] = tuple(
    check
    for module in (
        workflows,
        workflow_lists,
        requests,
        together,
        queues,
        groups,
        fences,
        commits,
        phases,
        loading,
        copies,
        outbox,
        work,
        permits,
        taken_permits,
        signals,
        triggers,
        breakpoints,
        approvals,
        bulk,
        templates,
        functions,
        history,
        run_snapshots,
        views,
        events,
        retention,
        concurrency,
    )
    for check in module.SUITE.checks
)

__all__ = ["CHECKS", "Bench", "Check"]
