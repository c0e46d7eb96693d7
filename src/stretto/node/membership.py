"""One node among others: its beat, its trust, who has gone silent, and how many groups are its share."""

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.node.asks import Beat, Bury, Join, ReadAdvertised
from stretto.node.context import NodeContext
from stretto.ports.groups import Burial, Heard, NodeRow, NodeState
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId


class Watched(NamedTuple):
    """The beat of another node, and since when it stands still."""

    beats: int
    since: float


class Advertised(NamedTuple):
    """The functions that another node advertises, and the version of them that was read."""

    version: int
    functions: frozenset[str]


NOTHING: Final = Advertised(0, frozenset())


class Membership:
    """Beats, listens to the beats of others, and buries those that have stopped."""

    def __init__(
        self,
        node: NodeContext,
        *,
        joined: Callable[[], None],
        heard: Callable[[], None],
        buried: Callable[[], None],
        burial: Callable[[Burial], None],
        functions_read: Callable[[], None],
        clock_set: Callable[[int], None],
    ) -> None:
        self._node = node
        self._joined = joined
        self._on_heard = heard
        self._on_buried = buried
        self._on_burial = burial
        self._on_functions_read = functions_read
        self._on_clock_set = clock_set
        self.nodes: dict[NodeId, NodeRow] = {}
        self.next_fire_at: int | None = None  # of all time triggers, when the last beat was heard
        self._asked_at = 0.0  # when the beat was sent that told of these
        self._watched: dict[NodeId, Watched] = {}
        self._burying: set[NodeId] = set()
        self._functions: dict[NodeId, Advertised] = {}  # of the other nodes
        self._reading = False

    def join(self, node: NodeId) -> None:
        self._node.id = node
        self.nodes = {}
        self._watched = {}
        self._burying = set()
        self._functions = {}
        self._reading = False
        sent = self._node.steady()
        # Who was not told that it has joined, and asks again, is refused: it takes another id.
        self._node.insist(
            Join(node=node), lambda heard: self._begin(heard, sent), lambda _: self._on_buried()
        )

    def _begin(self, heard: Heard, sent: float) -> None:
        self._take(heard, sent)
        self._node.after(self._node.settings.beat_every, self._beat)
        self._joined()

    # ------------------------------------------------------------------------------------------------ beats
    def _beat(self) -> None:
        sent = self._node.steady()
        ask = Beat(node=self._node.id, sent=sent)
        self._node.ask(ask, lambda heard: self._answer(heard, sent), self._unheard)

    def _answer(self, heard: Heard | None, sent: float) -> None:
        if heard is None:
            self._on_buried()
            return
        self._take(heard, sent)
        self._node.after(self._next_beat(sent), self._beat)
        self._look_around(heard.now)
        self._on_heard()

    def _unheard(self, error: Exception) -> None:
        """While the database does not answer, nobody's silence means anything."""
        self._watched = {}
        self._node.tell(lambda each: each.store_failed(error, 1))
        self._node.after(self._node.settings.beat_every // 4, self._beat)

    def _next_beat(self, sent: float) -> int:
        spent = int((self._node.steady() - sent) * 1_000)
        return max(0, self._node.settings.beat_every - spent)

    def _take(self, heard: Heard, sent: float) -> None:
        node = self._node
        jump = node.time.hear(heard.now, sent)
        if jump:
            self._on_clock_set(jump)
            node.tell(lambda each: each.clock_set(jump))
        node.trust.extend(sent + node.settings.trust / 1_000)
        self.nodes = {row.node: row for row in heard.nodes}
        self.next_fire_at = heard.next_fire_at
        self._asked_at = sent
        self._read_functions()

    # -------------------------------------------------------------------------------------------- functions
    def nodes_with(self, functions: Collection[str]) -> list[NodeId]:
        """Other nodes that take work and advertise all of these functions, by id."""
        wanted = frozenset(functions)
        alive = self.alive
        return sorted(
            node for node, known in self._functions.items() if node in alive and wanted <= known.functions
        )

    def _read_functions(self) -> None:
        """Read what other nodes advertise, where a beat shows that it has changed: never otherwise."""
        changed = {
            node: row.advertised
            for node, row in self.nodes.items()
            if row.state is NodeState.ALIVE
            and node != self._node.id
            and row.advertised != self._functions.get(node, NOTHING).version
        }
        if not changed or self._reading:
            return
        self._reading = True

        def then(found: Mapping[NodeId, frozenset[str]]) -> None:
            self._reading = False
            for node, version in changed.items():
                self._functions[node] = Advertised(version, found.get(node, frozenset()))
            self._functions = {node: known for node, known in self._functions.items() if node in self.nodes}
            self._on_functions_read()

        def otherwise(_error: Exception) -> None:
            self._reading = False  # the next beat tries again

        self._node.ask(ReadAdvertised(nodes=frozenset(changed)), then, otherwise)

    # ------------------------------------------------------------------------------------------------ others
    def is_gone(self, node: NodeId, since: float) -> bool:
        """Whether a node that was there at a moment of the steady clock is there no more. One that nobody
        has told us of may have joined after the last beat that was heard.
        """
        row = self.nodes.get(node)
        return self._asked_at >= since if row is None else row.state is NodeState.DEAD

    @property
    def alive(self) -> frozenset[NodeId]:
        """Those that take groups."""
        return frozenset(node for node, row in self.nodes.items() if row.state is NodeState.ALIVE)

    @property
    def share(self) -> int:
        """How many groups are this node's at most, if all are spread evenly."""
        return -(-GROUPS // max(1, len(self.alive)))

    @property
    def least(self) -> int:
        """How many groups are this node's at least: who has less will find some that are free."""
        return GROUPS // max(1, len(self.alive))

    def _look_around(self, now: int) -> None:
        others = [row for row in self.nodes.values() if row.state is not NodeState.DEAD]
        seen: dict[NodeId, Watched] = {}
        for row in others:
            before = self._watched.get(row.node)
            still = before is not None and before.beats == row.beats
            seen[row.node] = (
                before if still and before is not None else Watched(row.beats, self._node.steady())
            )
            if row.node != self._node.id and row.node not in self._burying:
                self._judge(row, seen[row.node], now)
        self._watched = seen

    def _judge(self, row: NodeRow, watched: Watched, now: int) -> None:
        settings = self._node.settings
        silent = (self._node.steady() - watched.since) * 1_000
        expired = row.expires_at < now and silent >= max(settings.watch, settings.trust)
        if expired or silent >= settings.watch_longer:
            self._burying.add(row.node)
            ask = Bury(node=row.node, beats=row.beats, expired=expired)
            self._node.ask(
                ask,
                lambda burial: self._buried(row.node, burial),
                lambda _error: self._burying.discard(row.node),
            )

    def _buried(self, node: NodeId, burial: Burial | None) -> None:
        self._burying.discard(node)
        if burial is not None:
            self.nodes[node] = msgspec.structs.replace(self.nodes[node], state=NodeState.DEAD)
            self._node.tell(lambda each: each.node_buried(node))
            self._on_burial(burial)
