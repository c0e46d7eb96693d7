"""What somebody who follows wants to hear of."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from stretto.actions.parts.numbers import number_in
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.event import ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.tag import Tag

RUN: Final = re.compile(r"run:(.+)/([0-9]+)/([0-9]+)")
_INSTANCE: Final = re.compile(r"(.+)/([0-9]+)")
WORKFLOW: Final = "workflow:"
EVERYTHING: Final = "all"
ROOTS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
HINT: Final = (
    "run:WORKFLOW/INSTANCE/RUN, workflow:ID, runs, runs?workflow=ID&tag=NAME&correlation_id=ID&root=yes, "
    "home, approvals, cluster or all"
)


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """One of them, in the words in which it was asked for. By itself: everything."""

    text: str

    @property
    def place(self) -> RunKey | str | None:
        """The run or the workflow that every event about it names; None, if it may name any."""
        return None

    def holds(self, event: ChangeEvent) -> bool:  # noqa: ARG002 - of others
        """Whether an event is about it."""
        return True

    def touches(self, event: ChangeEvent) -> bool:
        """Whether an event may change what a screen shows of it."""
        return self.holds(event)


class RunTopic(Topic, frozen=True, kw_only=True):
    """One run, without those below it: they are topics of their own."""

    run: RunKey

    @property
    def place(self) -> RunKey:
        return self.run

    def holds(self, event: ChangeEvent) -> bool:
        return run_of(event) == self.run


class WorkflowTopic(Topic, frozen=True, kw_only=True):
    """A workflow with all its runs."""

    workflow_id: str

    @property
    def place(self) -> str:
        return self.workflow_id

    def holds(self, event: ChangeEvent) -> bool:
        return event.workflow_id == self.workflow_id


class RunsTopic(Topic, frozen=True, kw_only=True):
    """Runs as the list of all runs has them, not their steps: all of them, or those that fit a filter. What
    they are in changes, so nobody can ask for a status.
    """

    workflow_id: str | None = None
    tag: str | None = None
    correlation_id: str | None = None
    root: bool = False

    @property
    def place(self) -> str | None:
        return self.workflow_id

    def holds(self, event: ChangeEvent) -> bool:
        if not isinstance(event, InstanceStatusChanged) or not self._may_have(event):
            return False
        return self.has(event.tags or (), event.depth or 0)

    def touches(self, event: ChangeEvent) -> bool:
        """A step that moves changes the counts of its run, and what the run waits for. Whether the run fits
        the whole filter, `has` says.
        """
        return self.holds(event) or (isinstance(event, StepStatusChanged) and self._may_have(event))

    @property
    def is_known_by_step(self) -> bool:
        """Whether the event of a step tells that its run fits."""
        return self.tag is None and not self.root

    def has(self, tags: Iterable[Tag], depth: int) -> bool:
        """Whether a run with these fits, if it may."""
        return (self.tag is None or self.tag in {tag.name for tag in tags}) and not (self.root and depth)

    def _may_have(self, event: StepStatusChanged | InstanceStatusChanged) -> bool:
        """By what events of runs and of steps have. Iterations are in the list of their loop alone."""
        if self.workflow_id is None and is_inline(event.workflow_id):
            return False
        return self.workflow_id in {None, event.workflow_id} and self.correlation_id in {
            None,
            event.correlation_id,
        }


class HomeTopic(Topic, frozen=True, kw_only=True):
    """What is of interest at a glance: runs, and what becomes of workflows; no steps, and no iterations."""

    def holds(self, event: ChangeEvent) -> bool:
        return not isinstance(event, StepStatusChanged) and not is_inline(event.workflow_id)


class ApprovalsTopic(Topic, frozen=True, kw_only=True):
    """Steps that ask people: when one begins to, and when it need not any more."""

    def holds(self, event: ChangeEvent) -> bool:
        return isinstance(event, StepStatusChanged) and bool(event.asks)


class ClusterTopic(Topic, frozen=True, kw_only=True):
    """Nodes. They are not in the change log."""

    def holds(self, event: ChangeEvent) -> bool:  # noqa: ARG002 - of others
        return False


def run_of(event: ChangeEvent) -> RunKey | None:
    """The run that an event is about, if it is about one."""
    if not isinstance(event, StepStatusChanged | InstanceStatusChanged):
        return None
    return RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)


def places_of(event: ChangeEvent) -> tuple[RunKey | str | None, ...]:
    """The places of the topics that an event may be about."""
    run = run_of(event)
    return (None, event.workflow_id) if run is None else (None, event.workflow_id, run)


def instance_in(workflow: str | None, run: str) -> tuple[str, int] | None:
    """The instance that is named, if no run of it is: `INSTANCE` of a workflow, or `WORKFLOW/INSTANCE`."""
    whole = run if workflow is None else f"{workflow}/{run}"
    found = None if RUN.fullmatch(f"run:{whole}") else _INSTANCE.fullmatch(whole)
    return None if found is None else (found[1], number_in(found[2]) or 0)


def topic_named(workflow: str | None, run: str | None) -> list[str]:
    """The topic of a workflow, or of a run: `INSTANCE/RUN` of a workflow, or `WORKFLOW/INSTANCE/RUN`."""
    if run is None:
        return [] if workflow is None else [f"{WORKFLOW}{workflow}"]
    return [f"run:{run}" if workflow is None else f"run:{workflow}/{run}"]


def topics_in(texts: Collection[str]) -> Sequence[Topic]:
    """Topics from their texts; nothing is everything."""
    return [_topic(text) for text in dict.fromkeys(texts)] or [Topic(text=EVERYTHING)]


def _topic(text: str) -> Topic:
    found = RUN.fullmatch(text)
    if found is not None:
        run = RunKey(found[1], number_in(found[2]) or 0, number_in(found[3]) or 0)
        return RunTopic(text=text, run=run)
    if text.startswith(WORKFLOW) and text != WORKFLOW:
        return WorkflowTopic(text=text, workflow_id=text.removeprefix(WORKFLOW))
    name, _mark, query = text.partition("?")
    match name:
        case "runs":
            return _runs(text, query)
        case "home" if name == text:
            return HomeTopic(text=text)
        case "approvals" if name == text:
            return ApprovalsTopic(text=text)
        case "cluster" if name == text:
            return ClusterTopic(text=text)
        case "all" if name == text:
            return Topic(text=text)
        case _:
            raise InvalidRequest(f"Invalid topic [{text[:80]}]", hint=HINT)


def _runs(text: str, query: str) -> RunsTopic:
    try:
        given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        raise InvalidRequest(f"Invalid topic [{text[:80]}]", hint=HINT) from None
    wanted = RunsTopic(
        text=text,
        workflow_id=given.pop("workflow", None),
        tag=given.pop("tag", None),
        correlation_id=given.pop("correlation_id", None),
        root=_root(text, given.pop("root", "no")),
    )
    if given:
        raise InvalidRequest(f"Invalid topic [{text[:80]}]: runs can not be told by {min(given)}", hint=HINT)
    return wanted


def _root(text: str, given: str) -> bool:
    is_root = ROOTS.get(given.casefold())
    if is_root is None:
        raise InvalidRequest(f"Invalid topic [{text[:80]}]: root is yes or no, not [{given[:80]}]", hint=HINT)
    return is_root
