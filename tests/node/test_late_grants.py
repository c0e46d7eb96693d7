"""Starts under a rate on nodes that can tell each other nothing: a grant is used when it is made."""

from typing import Any

import pytest
from tests.node.tank import ANN, Tank, flow
from tests.node.test_without_hints import Quiet, three

from stretto.actions.tag_permits import set_tag_permit
from stretto.model.permit import TagPermitRequest
from stretto.node.settings import NodeSettings

SECOND = 1_000
RATED = "{id: s, type: Python, rate: RATE}"
TAGGED = "{id: s, type: Python, tags: [api]}"


def noting(tank: Tank) -> list[int]:
    """The moments at which work begins, on any node."""
    starts: list[int] = []
    for fish in tank.fishes:
        runtime: Any = fish.runtime
        say = runtime._say

        def noted(verb: str, ctx: Any, say: Any = say) -> Any:
            if verb == "start":
                starts.append(tank.clock.millis)
            return say(verb, ctx)

        runtime._say = noted
    return starts


def most_in(window: int, starts: list[int]) -> int:
    return max(sum(first <= at < first + window for at in starts) for first in starts)


@pytest.mark.parametrize("window", [SECOND, 60 * SECOND])
@pytest.mark.parametrize("step", [RATED, TAGGED])
def test_no_window_has_more_starts_than_the_rate_says(step: str, window: int) -> None:
    tank = Quiet()
    three(tank)
    rate = {SECOND: "5/second", 60 * SECOND: "5/minute"}[window]
    if step is TAGGED:
        tank.do(set_tag_permit(tank.store, ANN, TagPermitRequest(tag="api", rate=rate), hints=tank))
    starts = noting(tank)
    tank.start(flow(step.replace("RATE", rate)))
    for _ in range(39):
        tank.start_again("flow")
        tank.advance(7)
    tank.advance(12 * window)
    assert len(starts) == 40
    assert most_in(window, starts) == 5
    assert starts[-1] - starts[0] < 8 * window  # and not many fewer, either


def test_who_does_not_wait_for_a_rate_fetches_no_more_than_before() -> None:
    """A node looks for what it was granted when a slot comes that somebody waits for, and else as always."""

    def fetches(text: str) -> int:
        tank = Quiet(settings=NodeSettings())
        three(tank)
        tank.start(flow(text))
        tank.advance(10_000)
        before = [fish.node._owned.fetches for fish in tank.fishes]
        tank.advance(60_000)
        return sum(fish.node._owned.fetches for fish in tank.fishes) - sum(before)

    assert fetches(RATED.replace("RATE", "5/second")) == fetches("{id: s, type: Python}")
