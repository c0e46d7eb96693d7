"""The graph of one level of steps: order, reachability, cycles, and the part of it that a run covers."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Self

from stretto.model.step import AnyStep, Transition


class Graph:
    """Steps and the edges between them; conditions play no part here. Edges to unknown steps are left out.

    All answers keep the order in which the steps were defined, so that the same definition always gives
    the same drawing, the same order and the same cycle.
    """

    __slots__ = ("predecessors", "successors")

    def __init__(self, edges: Mapping[str, Iterable[str]]) -> None:
        self.successors: dict[str, tuple[str, ...]] = {
            node: tuple(target for target in dict.fromkeys(targets) if target in edges)
            for node, targets in edges.items()
        }
        incoming: dict[str, list[str]] = {node: [] for node in edges}
        for node, targets in self.successors.items():
            for target in targets:
                incoming[target].append(node)
        self.predecessors: dict[str, tuple[str, ...]] = {node: tuple(came) for node, came in incoming.items()}

    @classmethod
    def of(cls, steps: Iterable[AnyStep]) -> Self:
        return cls({step.id: step.transition.successors for step in steps})

    @property
    def sources(self) -> list[str]:
        """Steps that nothing comes before."""
        return [node for node, before in self.predecessors.items() if not before]

    @property
    def sinks(self) -> list[str]:
        """Steps that nothing comes after."""
        return [node for node, after in self.successors.items() if not after]

    def topological_order(self) -> list[str]:
        """Every step after all its predecessors. Steps on or behind a cycle are left out."""
        waiting = {node: len(before) for node, before in self.predecessors.items()}
        order = self.sources
        for node in order:  # the list grows while it is walked
            for target in self.successors[node]:
                waiting[target] -= 1
                if not waiting[target]:
                    order.append(target)
        return order

    def reachable(self, start: Iterable[str]) -> set[str]:
        """The given steps and everything behind them."""
        return _closure(self.successors, start)

    def ancestors(self, end: Iterable[str]) -> set[str]:
        """The given steps and everything before them."""
        return _closure(self.predecessors, end)

    def cycles(self, most: int = 10) -> list[list[str]]:
        """Cycles that share no step, each written from its first step back to it: [a, b, a]."""
        left = set(self.successors) - set(self.topological_order())
        found: list[list[str]] = []
        while left and len(found) < most:
            self._trim(left)
            if not left:
                break
            cycle = self._walk(next(node for node in self.successors if node in left), left)
            found.append(cycle)
            left -= set(cycle)
        return found

    def _trim(self, left: set[str]) -> None:
        """Drop steps that are only before or only behind a cycle."""
        for edges, back in (
            (self.successors, self.predecessors),
            (self.predecessors, self.successors),
        ):
            alive = {node: sum(other in left for other in edges[node]) for node in left}
            dead = [node for node, count in alive.items() if not count]
            while dead:
                node = dead.pop()
                left.discard(node)
                for other in back[node]:
                    if other in left:
                        alive[other] -= 1
                        if not alive[other]:
                            dead.append(other)

    def _walk(self, start: str, left: set[str]) -> list[str]:
        """Go from step to step until one comes twice: what lies between is a cycle."""
        seen: dict[str, int] = {}
        path: list[str] = []
        node = start
        while node not in seen:
            seen[node] = len(path)
            path.append(node)
            node = next(target for target in self.successors[node] if target in left)
        return [*path[seen[node] :], node]

    def part(self, start: Collection[str] | None = None, end: Collection[str] | None = None) -> list[str]:
        """The steps of a run that begins at `start` and goes no further than `end`; None: no bound."""
        chosen = set(self.successors) if start is None else self.reachable(start)
        if end is not None:
            chosen &= self.ancestors(end)
        return [node for node in self.successors if node in chosen]


def _closure(edges: Mapping[str, Sequence[str]], start: Iterable[str]) -> set[str]:
    seen = {node for node in start if node in edges}
    todo = list(seen)
    while todo:
        for node in edges[todo.pop()]:
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def runtime_dag(
    steps: Sequence[AnyStep], start: Collection[str] | None = None, end: Collection[str] | None = None
) -> dict[str, Transition]:
    """The induced sub-graph of a run with its conditions: step id -> edges, predecessors computed anew."""
    graph = Graph.of(steps)
    chosen = graph.part(start, end)
    inside = set(chosen)
    conditions = {step.id: step.transition.successors for step in steps}
    return {
        node: Transition(
            predecessors=tuple(each for each in graph.predecessors[node] if each in inside),
            successors={target: text for target, text in conditions[node].items() if target in inside},
        )
        for node in chosen
    }
