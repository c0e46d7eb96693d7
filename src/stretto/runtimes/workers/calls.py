"""A function of a step, called in a worker: what it is called with, and what becomes of its answer."""

import logging
import os
from collections.abc import Mapping
from typing import Any, Final

from stretto.definition.functions import checked_names
from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.model.param import Parameter, ParamType
from stretto.model.step import AnyStep, Step
from stretto.model.timeline import LogLevel
from stretto.model.wire import from_json, loads
from stretto.ports.logs import LogSink
from stretto.ports.runtime import FatalError, Launch, PlatformError, UserError
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.context import KEPT_FROM, LOGGER, StepContext
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.failures import ARTIFACT
from stretto.runtimes.python.own_params import ENTRYPOINT, FUNCTION, SCRIPT, value_of
from stretto.runtimes.python.processes import Elsewhere, FarCall
from stretto.runtimes.python.requirements import requirements_of
from stretto.runtimes.settings import RuntimeSettings
from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import (
    FATAL,
    MOST_CALL,
    USER,
    Beat,
    Call,
    Line,
    Logged,
    Progress,
    Raised,
    Returned,
    Scene,
    Target,
    Told,
)
from stretto.runtimes.workers.pool import DEFAULT, Workers
from stretto.runtimes.workers.targets import target_of
from stretto.runtimes.workers.values import returned, to_wire

log = logging.getLogger(__name__)

LEFT: Final = "`{}` has left {} running in the background: ended"
NO_POSIX: Final = (
    '`{}` asks for isolation="process", which needs Linux, macOS or another POSIX system: '
    'use isolation="thread"'
)
TOO_LARGE: Final = (
    "the arguments of `{}` are too large, with {:,} bytes. {:,} are the most: write them to a file or a "
    "table, and hand over where they are"
)


def worker_processes(
    settings: RuntimeSettings,
    sink: LogSink,
    pools: Mapping[str, WorkerLimits] | None = None,
    services: Mapping[str, str] | None = None,
) -> "WorkerProcesses":
    """As the settings say; pools of a program's own beside that. Nothing is started before the first call."""
    default = WorkerLimits(
        size=settings.workers,
        memory=settings.worker_memory,
        calls=settings.worker_calls,
        seconds=None if settings.worker_lifetime is None else settings.worker_lifetime / 1_000,
        import_within=settings.import_within / 1_000,
    )
    return WorkerProcesses(Workers({DEFAULT: default, **(pools or {})}, sink=sink, services=services))


class WorkerProcesses:
    """Functions in workers; see `runtimes.python.processes`. Whoever makes it closes it, and the workers."""

    def __init__(self, workers: Workers | None = None) -> None:
        self.workers = workers or Workers()

    def has_pool(self, name: str | None) -> bool:
        return name is None or self.workers.of(name).name == name

    def full_pool(self, name: str | None) -> str | None:
        pool = self.workers.of(name)
        return pool.name if pool.is_full else None

    async def call(self, asked: FarCall) -> Any:
        if os.name != "posix":
            raise Refused(NO_POSIX.format(asked.function.name))
        pool = self.workers.of(asked.function.options.pool)
        job = Job(asked.told.launch, _call(asked, self.workers.services), Relay(asked), asked.told.fence)
        answer = await pool.call(job, asked.grace)
        if answer.left:
            asked.note(_left(asked, answer.left))
        if isinstance(answer, Raised):
            raise failure_of_answer(answer)
        if asked.backstage is not None:
            _take_over(asked.backstage, answer)
        return returned(answer.value, asked.function.returns)

    async def close(self) -> None:
        await self.workers.close()


# ------------------------------------------------------------------------------------------------- the call
def _call(asked: FarCall, services: dict[str, str]) -> Call:
    name = asked.function.name
    args = to_wire(asked.values, f"an argument of `{name}`")
    scene = None if asked.context is None else _scene(asked.told.launch, asked.context, name)
    size = len(args) + (0 if scene is None else len(scene.params) + len(scene.upstream))
    if size > MOST_CALL:
        raise Refused(TOO_LARGE.format(name, size, MOST_CALL))
    packages = [] if FUNCTION in asked.told.params else requirements_of(asked.told.params)
    level = min(KEPT_FROM, LOGGER.getEffectiveLevel())
    checked = checked_names(asked.told.step, asked.values)
    return Call(_target(asked), args, scene, level, None, services or None, packages, checked=checked)


def _target(asked: FarCall) -> Target:
    """The engine itself has not imported what a step only names."""
    params = asked.told.params
    if FUNCTION in params:
        return target_of(asked.function)
    if SCRIPT in params:
        return Target(script=str(value_of(params, SCRIPT)))
    module, _, qualname = str(value_of(params, ENTRYPOINT)).partition(":")
    return Target(module, qualname)


def _scene(launch: Launch, context: StepContext, name: str) -> Scene:
    attempt = launch.attempt
    run = attempt.run
    return Scene(
        (run.workflow_id, run.instance_id, run.run_id),
        attempt.step_id,
        attempt.number,
        launch.generation,
        launch.take,
        to_wire(context.params, f"a parameter for `{name}`"),
        to_wire(context.upstream, f"a result for `{name}`"),
    )


# --------------------------------------------------------------------------------------------- what it tells
class Relay:
    """Hands on to the context of a step what its function tells in a worker."""

    def __init__(self, asked: FarCall) -> None:
        self._backstage = asked.backstage
        self._context = asked.context
        self._begun = asked.begun

    def begun(self) -> None:
        self._begun()

    def hear(self, said: Told) -> None:
        backstage, context = self._backstage, self._context
        if backstage is None or context is None:
            return  # it has no context: nothing is told
        if isinstance(said, Beat):
            backstage.beat()
        elif isinstance(said, Progress):
            backstage.beat()
            backstage.telling.progress(said.fraction, said.text)
        elif isinstance(said, Line):
            backstage.telling.line(said.text, LogLevel(said.level))
        else:
            _log(said, context)


def _log(said: Logged, context: StepContext) -> None:
    try:
        context.logger.log(said.level, "%s", said.text)
    except Exception:  # a handler of the program: it does not end the step
        log.exception("a record of a step is lost", extra={"action": "step.log_lost"})


# ----------------------------------------------------------------------------------------------- the answer
def _left(asked: FarCall, count: int) -> str:
    return LEFT.format(asked.function.name, "a process" if count == 1 else f"{count} processes")


def failure_of_answer(answer: Raised) -> Elsewhere:
    """How the step failed."""
    kind: type[UserError | PlatformError | FatalError] = PlatformError
    if answer.kind in {FATAL, USER}:
        kind = FatalError if answer.kind == FATAL else UserError
    artifacts: Artifacts = {}
    if answer.error:
        known = {"error": answer.error, "module": answer.module, "traceback": answer.traceback}
        data = {**answer.details, **known}
        artifacts = {ARTIFACT: DefaultArtifact(data=data)}
    return Elsewhere(kind(message=answer.message, artifacts=artifacts))


def _take_over(backstage: Backstage, answer: Returned) -> None:
    """What the function has asked for."""
    backstage.redirect = answer.redirect
    for each in answer.added:
        step: AnyStep = from_json(Step, each)[0]
        backstage.substeps.add(step, {}, None, ())
    for each in answer.fired:
        values = _with_tuples(loads(each))
        backstage.fired.append(Parameter(type=ParamType.MAP, evaluated_result=values))


def _with_tuples(value: Any) -> Any:
    """As parameters hold them."""
    if isinstance(value, list):
        return tuple(map(_with_tuples, value))
    if isinstance(value, dict):
        return {key: _with_tuples(each) for key, each in value.items()}
    return value
