"""Names that nothing in a definition gives a value to, and keys that nothing reads."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from stretto.definition.doubts.lookups import doubt_call, doubt_param
from stretto.definition.doubts.texts import Read, attributes_of, reads_of, reads_of_trigger, reads_of_workflow
from stretto.definition.required import required_of
from stretto.definition.rules.visits import WORKFLOW, Scene, Visit, loop_params, template_version
from stretto.definition.step_types import described
from stretto.model.job_template import DEFAULT_VERSION
from stretto.model.problem import Code
from stretto.model.properties import Properties
from stretto.model.step import AnyStep, ForeachStep, TemplateStep, TypedStep, WhileStep
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Definition, Workflow
from stretto.params import STEP_DEFAULTS, TYPE_DEFAULTS
from stretto.params.defaults import WORKFLOW_DEFAULTS
from stretto.params.references import split_reference, unknown_hint
from stretto.params.requests import SEPARATOR

# What belongs one level deeper, and beside `workflow` only becomes metadata.
INSIDE: Final = {
    **dict.fromkeys(Properties.__struct_fields__, "properties"),
    **dict.fromkeys(Workflow.__struct_fields__, "workflow"),
}
DEFAULTS: Final = {*WORKFLOW_DEFAULTS, *STEP_DEFAULTS}.union(*TYPE_DEFAULTS.values())
MOST_GUESSES: Final = 100
CLOSE: Final = 0.8  # a slip of the finger, not a word of its own


def doubt_unknown(scene: Scene, given: Collection[str]) -> None:
    _metadata(scene)
    _job_templates(scene)
    everywhere = {
        *WORKFLOW_DEFAULTS,
        *(scene.workflow.params or {}),
        *given,
        *_from_triggers(scene),
        *required_of(scene.definition.extra),
    }
    steps = {visit.step.id: visit.step for visit in scene.visits}
    guesses = Guesses()
    _report(scene, reads_of_workflow(scene.workflow), everywhere, guesses)
    for index, trigger in enumerate(scene.workflow.signal_triggers or ()):
        reads = reads_of_trigger(trigger, ((WORKFLOW, "signal_triggers"), index))
        _report(scene, reads, everywhere | {*(trigger.params or {})}, guesses)
    for visit in scene.visits:
        _report(scene, attributes_of(visit), everywhere, guesses)
        if not _is_template(visit):
            _names(scene, visit, (everywhere | {*_of_step(scene, visit)}, steps), guesses)


def _job_templates(scene: Scene) -> None:
    """A step whose job template nobody knows, or not in the version that it names, gets nothing from it."""
    for visit in scene.visits:
        step = visit.step
        if not isinstance(step, TypedStep) or not step.sub_type or scene.knows_template(step):
            continue
        version = template_version(step, scene.workflow)
        is_known = step.sub_type.casefold() in scene.templates
        guess = None if is_known else did_you_mean(step.sub_type, sorted(scene.templates))
        hint = guess or "publish it before the step runs, or name it with `--template NAME=TYPE`"
        of = "" if version in {None, DEFAULT_VERSION} and not is_known else f", version `{version}`,"
        message = f"the job template `{step.sub_type}`{of} is not known here"
        key = "sub_type_version" if step.sub_type_version and is_known else "sub_type"
        scene.report((visit.at, key), Code.UNKNOWN_VALUE, message, hint)


def _metadata(scene: Scene) -> None:
    fields = [name for name in Definition.__struct_fields__ if name != "extra"]
    for key in scene.definition.extra:
        if key in INSIDE:
            hint = f"move it into `{INSIDE[key]}`"
        elif (guess := did_you_mean(key, fields, cutoff=CLOSE)) is not None:
            hint = guess
        else:
            continue
        scene.report((None, key), Code.NOT_A_FIELD, f"`{key}` is only metadata here, and says nothing", hint)


class Guesses(dict[str, str | None]):
    """What a name may be meant for. A guess looks at every name, so each is made once, and not for ever."""

    def of(self, name: str, known: Collection[str]) -> str | None:
        if name not in self and len(self) < MOST_GUESSES:
            self[name] = did_you_mean(name, _typed(known), cutoff=CLOSE)
        return self.get(name)


def _names(
    scene: Scene, visit: Visit, names: tuple[Collection[str], Mapping[str, AnyStep]], guesses: Guesses
) -> None:
    """What a step reads of the run and of itself, and of other steps."""
    known, steps = names
    reads = list(reads_of(visit))
    for read in reads:
        name = read.name
        if read.call is not None:
            doubt_call(scene, read, known, steps)
        elif SEPARATOR in name and name not in known:
            _elsewhere(scene, visit, read, steps)
    kind = visit.step.type if isinstance(visit.step, TypedStep) else None
    _report(scene, reads, known, guesses, kind)


def _elsewhere(scene: Scene, visit: Visit, read: Read, steps: Mapping[str, AnyStep]) -> None:
    """`step__param`, where the underscores can be read in one way only."""
    readings = split_reference(read.name, SEPARATOR)
    if _is_of_nobody(scene, visit, read.name, steps):
        wanted = readings[0].step_id
        message = f"`{read.name}` is read, and there is no step or signal `{wanted}`"
        scene.report(read.at, Code.UNKNOWN_PARAM, message, did_you_mean(wanted, steps))
    elif len(readings) == 1:
        doubt_param(scene, read, read.name, readings[0], steps)


def _report(
    scene: Scene, reads: Iterable[Read], known: Collection[str], guesses: Guesses, kind: str | None = None
) -> None:
    """Names that nobody declares. A start may bring them, so they are no errors."""
    for read in reads:
        name = read.name
        if name not in known and SEPARATOR not in name and read.call is None:
            hint = unknown_hint(name, in_text=read.in_text, step_type=kind)
            guess = guesses.of(name, known)
            message = f"`{name}` is read, and nothing here gives it a value"
            scene.report(
                read.at, Code.UNKNOWN_PARAM, message, hint if guess is None else f"{guess} Else {hint}"
            )


def _typed(known: Collection[str]) -> list[str]:
    """The names that somebody typed: the author's own, and the defaults that are written in capitals."""
    return [name for name in known if name not in DEFAULTS or name.isupper()]


def _is_of_nobody(scene: Scene, visit: Visit, name: str, steps: Collection[str]) -> bool:
    """Signals have other characters than names in expressions, so one that may be meant is let be."""
    waits = visit.step.signal_dependencies or scene.workflow.signal_triggers
    return not waits and not any(each.step_id in steps for each in split_reference(name, SEPARATOR))


def _from_triggers(scene: Scene) -> Iterator[str]:
    """Parameters of signal triggers, where they become parameters of the run."""
    if scene.workflow.follows_maestro:
        return
    for trigger in scene.workflow.signal_triggers or ():
        yield from trigger.params or {}


def _is_template(visit: Visit) -> bool:
    """A job template brings parameters that nobody sees here."""
    return isinstance(visit.step, TemplateStep) or bool(getattr(visit.step, "sub_type", None))


def _of_step(scene: Scene, visit: Visit) -> Iterator[str]:
    """What a step has: by its definition, by its type, and from the loops around it."""
    step = visit.step
    yield from STEP_DEFAULTS
    yield from step.params or {}
    for each in (*visit.loops, step):
        yield from TYPE_DEFAULTS.get(str(type(each).__struct_config__.tag), {})
        if isinstance(each, ForeachStep | WhileStep):
            yield from each.params or {}
            param = loop_params(each)
            yield from param.value if param is not None else ()
    if isinstance(step, TypedStep):
        yield from TYPE_DEFAULTS.get(step.type, {})
        if step.type in scene.limits.step_types:
            found = described(scene.limits.step_types, step)
            yield from found.params
            yield from (found.schema or {}).get("properties", {})
