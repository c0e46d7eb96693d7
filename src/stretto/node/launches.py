"""Who does the work of each attempt: this node, or another one that knows the functions that the work calls.

The owner of a run decides where its work is done. Work that this process can do is done here. For work that
calls functions which this process does not know, the commit that records the launch names a node that
advertises them, and sends that node the launch (`post.Start`); the node answers as any node does that works
for another one. While no running node knows the functions, the attempt waits (`events.FunctionsMissing`).
"""

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.records import NO_PARAMS, AttemptKey, AttemptRecord
from stretto.model.param import Parameter
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.node.asks import Verb
from stretto.node.context import NodeContext
from stretto.node.draft import Draft
from stretto.node.entry import Entry, Item
from stretto.node.group import Group
from stretto.node.jobs import Jobs
from stretto.node.membership import Membership
from stretto.node.owned_groups import OwnedGroups
from stretto.ports import messages as post
from stretto.ports.rows import NodeId
from stretto.ports.runtime import Launch, StepContext, StepResult

Work = todo.StartWork | todo.LookAtWork | todo.TerminateWork
Outside = Callable[[AnyStep], bool]  # whether the work of a step lives outside of our processes
Lacks = Callable[[AnyStep, Mapping[str, Parameter]], tuple[str, ...]]
"""The functions that the work of a step calls by name, if this process does not know all of them."""


def lacks_nothing(_step: AnyStep, _params: Mapping[str, Parameter]) -> tuple[str, ...]:
    """A process that can do the work of every step."""
    return ()


class Launches:
    """Places launches, and recovers them after a take-over or the loss of a node."""

    def __init__(
        self, node: NodeContext, membership: Membership, jobs: Jobs, outside: Outside, lacks: Lacks
    ) -> None:
        self._node = node
        self._membership = membership
        self._jobs = jobs
        self._outside = outside
        self._lacks = lacks
        self.stopping = False  # this node takes no launches from others any more

    # -------------------------------------------------------------------------------- as the owner
    def start(self, group: Group, entry: Entry, draft: Draft, effect: todo.StartWork) -> None:
        """Record who does the work of a launch: with the commit, before anybody begins it."""
        if self._outside(effect.step):
            self._assign(entry, draft, effect.attempt, None)
            draft.then(self._call, group, entry, effect, Verb.START)
            return
        functions = self._lacks(effect.step, effect.params)
        node = self._node_for(effect.attempt, functions)
        self._assign(entry, draft, effect.attempt, node)
        if node is None:
            missing = happened.FunctionsMissing(
                attempt=effect.attempt, launch=effect.launch, functions=functions
            )
            entry.inbox.append(Item(missing))
        elif node == self._node.id:
            draft.then(self._call, group, entry, effect, Verb.START)
        else:
            draft.letters.append(_start_letter(entry, effect, node))

    def _assign(self, entry: Entry, draft: Draft, attempt: AttemptKey, node: NodeId | None) -> None:
        draft.runs_on[attempt] = node
        if node is None:
            entry.runs_on.pop(attempt, None)
        else:
            entry.runs_on[attempt] = node

    def _node_for(self, attempt: AttemptKey, functions: tuple[str, ...]) -> NodeId | None:
        """The node itself if it lacks nothing; else one that advertises all functions, spread by attempt."""
        if not functions:
            return self._node.id
        nodes = self._membership.nodes_with(functions)
        return nodes[crc32(str(attempt).encode()) % len(nodes)] if nodes else None

    def ask_worker(
        self, group: Group, entry: Entry, draft: Draft, effect: todo.LookAtWork | todo.TerminateWork
    ) -> None:
        """Work is looked at, and ended, where it is done."""
        node = entry.runs_on.get(effect.attempt)
        if node is None or node == self._node.id:
            self._call_later(group, entry, draft, effect)
        elif not self._membership.is_gone(node, entry.loaded_at):
            ending = isinstance(effect, todo.TerminateWork)
            body = (post.Cancel if ending else post.Ask)(attempt=effect.attempt, launch=effect.launch)
            ref = f"{effect.attempt}:{effect.launch}"
            draft.letters.append(post.Letter(ref=ref, to_node=node, body=body))
        # Else the node is gone: with the next beat every launch that it had is looked at.

    def _call_later(
        self, group: Group, entry: Entry, draft: Draft, effect: todo.LookAtWork | todo.TerminateWork
    ) -> None:
        verb = Verb.TERMINATE if isinstance(effect, todo.TerminateWork) else Verb.EXECUTE
        draft.then(self._call, group, entry, effect, verb)

    def _call(self, group: Group, entry: Entry, effect: Work, verb: Verb) -> None:
        """The commit is stored: call the runtime, unless the attempt has moved on since."""
        attempt = entry.attempt(effect.attempt)
        context = context_of(entry, effect.attempt, effect.launch)
        if attempt is None or context is None:
            return
        if verb is Verb.EXECUTE and attempt.status is StepStatus.STARTING:
            verb = Verb.START  # nobody knows whether it was started: it is, again, under the same launch
        self._jobs.call(context, group.number, verb, outside=self._outside(context.step))

    def look_for_functions(self, owned: OwnedGroups) -> None:
        """Attempts that wait for functions begin, where a node that knows them runs now."""
        for group in owned.groups.values():
            for entry in group.entries.values():
                for event in self._found(entry):
                    group.put(entry, Item(event))

    def _found(self, entry: Entry) -> list[happened.FunctionsFound]:
        return [
            happened.FunctionsFound(attempt=attempt, launch=launch)
            for attempt, launch in entry.function_waits.items()
            if self._can_begin(entry, attempt)
        ]

    def _can_begin(self, entry: Entry, attempt: AttemptKey) -> bool:
        record, step = entry.attempt(attempt), entry.step_of(attempt)
        if record is None or step is None:
            return False
        functions = self._lacks(step, record.params or NO_PARAMS)
        return self._node_for(attempt, functions) is not None

    # -------------------------------------------------------------------------------- recovery
    def recover(self, group: Group, entry: Entry, draft: Draft) -> None:
        """Look at every launch, after the messages that waited were applied."""
        for attempt, launch in list(entry.launched.items()):
            record = entry.attempt(attempt)
            node = entry.runs_on.get(attempt)
            if record is None or record.launch != launch or attempt in draft.runs_on:
                continue  # `runs_on`: it was decided this very moment, and begins with the commit
            job = self._jobs.get(attempt, launch)
            if node is None:
                self._recover_unassigned(group, entry, draft, record, launch)
            elif job is not None:
                if job.said is not None:  # it may have been lost on the way
                    entry.inbox.append(Item(job.said))
                if job.result is None and record.ending is not None and not job.is_ending:
                    self._call_later(group, entry, draft, todo.TerminateWork(attempt=attempt, launch=launch))
            elif node == self._node.id or self._membership.is_gone(node, entry.loaded_at):
                entry.inbox.append(Item(happened.WorkLost(attempt=attempt, launch=launch)))
            elif record.ending is not None:
                self.ask_worker(group, entry, draft, todo.TerminateWork(attempt=attempt, launch=launch))

    def _recover_unassigned(
        self, group: Group, entry: Entry, draft: Draft, record: AttemptRecord, launch: int
    ) -> None:
        """No node has this launch: its work is outside, or it waits for functions, or its owner died before
        it could store that it waits.
        """
        step = entry.step_of(record.key)
        if step is not None and self._outside(step):
            self._call_later(group, entry, draft, _again(record, launch))
        elif record.function_wait is None:
            entry.inbox.append(Item(happened.WorkLost(attempt=record.key, launch=launch)))
        elif self._can_begin(entry, record.key):
            entry.inbox.append(Item(happened.FunctionsFound(attempt=record.key, launch=launch)))

    def ask_around(self, group: Group, entry: Entry, draft: Draft) -> None:
        """Ask the nodes that do work for this run whether they still do."""
        for attempt, launch in entry.launched.items():
            node = entry.runs_on.get(attempt)
            if node is not None and node != self._node.id:
                self.ask_worker(group, entry, draft, todo.LookAtWork(attempt=attempt, launch=launch))

    # -------------------------------------------------------------------------------- as the worker
    def can_take(self, body: post.Start) -> bool:
        """Whether this node does work that another one sends to it."""
        return not self.stopping and not self._lacks(body.step, body.params)


def context_of(entry: Entry, key: AttemptKey, launch: int) -> StepContext | None:
    """What a runtime is told of a launch; None if the attempt has moved on since."""
    attempt, run, step = entry.attempt(key), entry.run_of(key), entry.step_of(key)
    if attempt is None or run is None or step is None or entry.flow is None or attempt.launch != launch:
        return None
    return StepContext(
        launch=Launch(key, launch),
        step=step,
        predecessors=entry.flow.tree.live[key.run].plan.predecessors_of(step.id),
        params=attempt.params or NO_PARAMS,
        artifacts=attempt.artifacts,
        timeout_at=attempt.timeout_at,
        correlation_id=run.correlation_id,
        owner=run.owner,
        report=_nobody,
    )


def sent_context(body: post.Start) -> StepContext:
    """The same, of a launch that another node has sent."""
    return StepContext(
        launch=Launch(body.attempt, body.launch),
        step=body.step,
        predecessors=body.predecessors,
        params=body.params,
        artifacts=body.artifacts,
        timeout_at=body.timeout_at,
        correlation_id=body.correlation_id,
        owner=body.owner,
        report=_nobody,
    )


def _start_letter(entry: Entry, effect: todo.StartWork, node: NodeId) -> post.Letter:
    context: Any = context_of(entry, effect.attempt, effect.launch)  # it was just decided about: it is there
    body = post.Start(
        attempt=effect.attempt,
        launch=effect.launch,
        group=entry.group,
        step=context.step,
        predecessors=context.predecessors,
        params=context.params,
        artifacts=context.artifacts,
        timeout_at=context.timeout_at,
        correlation_id=context.correlation_id,
        owner=context.owner,
    )
    return post.Letter(ref=f"{effect.attempt}:{effect.launch}", to_node=node, body=body)


def _again(record: AttemptRecord, launch: int) -> todo.LookAtWork | todo.TerminateWork:
    """Work outside is asked for again under the same launch; `_call` knows how far it was."""
    if record.ending is not None:
        return todo.TerminateWork(attempt=record.key, launch=launch)
    return todo.LookAtWork(attempt=record.key, launch=launch)


async def _nobody(_result: StepResult) -> None:
    """Whoever calls the runtime puts in its own way to report."""
