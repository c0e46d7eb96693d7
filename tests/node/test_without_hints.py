"""Nodes that can not tell each other anything but through the database, as on SQLite and MariaDB."""

from collections.abc import Collection

from tests.node.tank import Fish, Tank

from stretto.engine.records import RunKey
from stretto.ports.places import GROUPS


class Quiet(Tank):
    """Hints reach nobody."""

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """Not heard."""

    def owned(self) -> int:
        """Groups that a living node has."""
        return sum(len(fish.node.groups) for fish in self.fishes if fish.alive)


def three(tank: Quiet) -> list[Fish]:
    found = [tank.fish() for _ in range(3)]
    tank.advance(60_000)
    assert sorted(len(fish.node.groups) for fish in found) == [42, 43, 43]
    return found


def test_all_heirs_take_their_share_within_the_bound() -> None:
    tank = Quiet()
    first, *heirs = three(tank)
    tank.crash(first)
    tank.advance(15_000)
    assert tank.owned() == GROUPS
    assert [len(fish.node.groups) for fish in heirs] == [64, 64]


def test_what_is_given_up_for_a_new_node_is_taken_within_two_beats() -> None:
    tank = Quiet()
    tank.fish()
    tank.settle()
    tank.fish()
    free_since = 0
    for _ in range(200):
        tank.advance(200)
        free_since = 0 if tank.owned() == GROUPS else free_since + 200
        assert free_since <= 2 * tank.settings.beat_every
    assert [len(fish.node.groups) for fish in tank.fishes] == [64, 64]


def test_what_a_leaving_node_hands_over_is_taken_soon() -> None:
    tank = Quiet()
    first, *_ = three(tank)
    first.node.stop()
    tank.advance(2 * tank.settings.beat_every)
    assert tank.owned() == GROUPS


def test_nobody_looks_for_groups_that_are_not_there() -> None:
    """Three can not share evenly: the one with less than the others does not ask again and again."""
    tank = Quiet()
    found = three(tank)
    asked = [0]

    def count(ask: object) -> bool:
        asked[0] += type(ask).__name__ == "Claim"
        return False

    for fish in found:
        fish.held = count
    tank.advance(60_000)
    assert asked[0] <= 3 * 60_000 // tank.settings.claim_every
