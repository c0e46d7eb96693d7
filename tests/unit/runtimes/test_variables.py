"""A step may call `stretto` itself: what it is told of itself is no setting."""

from stretto.config import Surroundings, load
from stretto.runtimes.variables import TOLD


def test_settings_pass_over_what_a_step_is_told() -> None:
    assert load(Surroundings(environ=dict.fromkeys(TOLD, "x"))).file is None
