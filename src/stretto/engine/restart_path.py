"""Restarts of nested runs: up to the ancestor that can be restarted, and down again to the place meant.

The path begins with what the user named and ends with the node that is restarted now. Climbing adds the
parent of the last node; descending takes the last node away. Along the path each level restarts the one step
that leads down; off the path the downstream policy holds.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from stretto.engine.inline_ids import Loop, is_inline, nearest_workflow
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.initiator import Ancestor
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, StepStatus

DEFAULT_POLICY: Final = RunPolicy.RESTART_FROM_INCOMPLETE


class Restart(NamedTuple):
    """How an instance is restarted; without a config it is off the path, or below its end."""

    policy: RunPolicy
    config: RestartConfig | None


def current_node(config: RestartConfig) -> RestartNode:
    """The node that is restarted now."""
    if not config.restart_path:
        raise InvalidRequest("Cannot get restart info in empty restart configuration")
    return config.restart_path[-1]


def next_node(config: RestartConfig | None) -> RestartNode | None:
    """The node below the current one; None at the end of the path."""
    return config.restart_path[-2] if config is not None and len(config.restart_path) > 1 else None


def identity(config: RestartConfig) -> str:
    """The instance that is restarted now: `[workflow][instance]`."""
    node = current_node(config)
    return f"[{node.workflow_id}][{node.instance_id}]"


def climb(config: RestartConfig, parent: Ancestor) -> Restart:
    """The restart seen from the parent: it restarts the step that owns the child."""
    current_node(config)  # an empty path leads nowhere
    node = RestartNode(workflow_id=parent.workflow_id, instance_id=parent.instance_id, step_id=parent.step_id)
    path = (*config.restart_path, node)
    return Restart(RunPolicy.RESTART_FROM_SPECIFIC, replace(config, restart_path=path))


def descend(
    config: RestartConfig, step_id: str, workflow_id: str, instance_id: int, loop: Loop | None = None
) -> Restart:
    """How a step restarts its child, an instance of a subworkflow or an iteration of a `loop`."""
    aside = Restart(config.downstream_policy or DEFAULT_POLICY, None)
    if current_node(config).step_id != step_id or len(config.restart_path) == 1:
        return aside
    below = replace(config, restart_path=config.restart_path[:-1])
    check_identity(below, workflow_id, instance_id, loop)
    if current_node(below).instance_id != instance_id:
        return aside  # another iteration of the same loop
    return Restart(policy_of(below), below)


def policy_of(config: RestartConfig) -> RunPolicy:
    """The policy of the node that is restarted now: at the end of the path it is what the user asked for."""
    at_end = len(config.restart_path) == 1
    return (config.restart_policy or DEFAULT_POLICY) if at_end else RunPolicy.RESTART_FROM_SPECIFIC


def check_identity(
    config: RestartConfig, workflow_id: str, instance_id: int, loop: Loop | None = None
) -> None:
    """Refuse to restart anything but what the path names. Of a loop any iteration will do."""
    node = current_node(config)
    if loop is not None:
        if node.workflow_id != workflow_id:
            raise InvalidRequest(
                f"Cannot restart a {loop.name} iteration [{workflow_id}] as it does not match"
                f" run request [{node.workflow_id}]"
            )
    elif (node.workflow_id, node.instance_id) != (workflow_id, instance_id):
        raise InvalidRequest(
            f"Cannot restart a workflow instance [{workflow_id}][{instance_id}] as it does not match"
            f" run request {identity(config)}"
        )


def iteration_on_path(config: RestartConfig | None, inline_id: str) -> int | None:
    """The iteration of a loop that the path leads through, if it leads through this loop."""
    node = next_node(config)
    return node.instance_id if node is not None and node.workflow_id == inline_id else None


def from_inline_root(
    config: RestartConfig, ancestors: Sequence[Ancestor], instance: InstanceStatus, step: StepStatus
) -> RestartConfig:
    """The restart of a nested step as a restart of the whole workflow around its loops.

    `ancestors` are those of the instance that the step is in; it is restarted itself if it is no iteration.
    """
    node = current_node(config)
    where = f"Invalid restart from-inline-root request: {identity(config)}"
    if len(config.restart_path) != 1:
        raise InvalidRequest(f"{where}: restart-path size is not 1")
    if not instance.is_terminal:
        raise WrongState(f"{where}: instance is in non-terminal state [{instance}]")
    if not step.is_terminal:
        raise WrongState(f"{where}: step [{node.step_id}] is in non-terminal state [{step}]")
    root = RestartNode(workflow_id=node.workflow_id, instance_id=node.instance_id)
    if is_inline(node.workflow_id):
        outer = nearest_workflow(ancestors)
        root = RestartNode(workflow_id=outer.workflow_id, instance_id=outer.instance_id)
    return replace(config, restart_path=(root,))
