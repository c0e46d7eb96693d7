"""A signal trigger has one of each of its signals: a run starts, if its condition holds."""

from uuid import NAMESPACE_OID, uuid5

import msgspec

from stretto.actions.parts.admission import admit_all
from stretto.actions.parts.candidate import Target
from stretto.actions.parts.evaluation import (
    Evaluator,
    FreshRun,
    budget_of,
    evaluate_here,
    facts_of,
    signals_of,
    unique_number,
)
from stretto.actions.parts.firing import REFUSALS, Fired, candidate_for, find_target, fired_by
from stretto.actions.parts.trigger_trouble import NOT_DEDUPLICATED, STARTED_NOTHING, note_trouble
from stretto.model.initiator import SignalInitiator
from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.model.response import StartStatus
from stretto.model.run_config import RunPolicy
from stretto.model.wire import to_json
from stretto.params import (
    Moment,
    ParamError,
    ParamLimits,
    Scope,
    evaluate_one,
    references_of,
    workflow_params,
)
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.failures import Stale
from stretto.ports.hints import SILENT, Hints
from stretto.ports.messages import Fire
from stretto.ports.store import Store
from stretto.ports.triggers import NamedSignalTrigger, SignalTriggerRow


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing starts, for this reason. The message is still there: whoever asked consumes it."""

    reason: str


async def fire_trigger(
    store: Store,
    message_id: int,
    fire: Fire,
    *,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
    limits: ParamLimits = DEFAULT_LIMITS,
) -> Fired | Dropped:
    """Start the run of a fire; the message is gone with it (T6). The signals count as used either way.

    A condition or parameters that can not be evaluated drop the fire, and the workflow's timeline says so. It
    is dropped, too, if the condition does not hold or the trigger is not in force any more. Anything else is
    raised, and the message stays.
    """
    row = next(iter(await store.signal_triggers(NamedSignalTrigger(fire.trigger_id))), None)
    if row is None:
        return Dropped(reason=f"workflow [{fire.workflow_id}] has no trigger [{fire.trigger_id}] any more")
    try:
        target = await find_target(store, fire.workflow_id)
        found = await _weigh(store, target, row, fire, limits)
        if found is None:
            return Dropped(reason=f"the condition [{row.trigger.condition}] does not hold")
        initiator, request_id, params = found
        candidate = await candidate_for(store, target, initiator, request_id, params, evaluate)
    except ParamError as error:
        await note_trouble(store, row, f"{STARTED_NOTHING} {error.message}")
        return Dropped(reason=error.message)
    except REFUSALS as error:
        return Dropped(reason=error.message)
    try:
        done = await admit_all(store, fire.workflow_id, [candidate], consumes=(message_id,), hints=hints)
    except Stale:
        run = await store.run_of_request(fire.workflow_id, request_id)
        if run is None:
            raise
        return Fired(run=run, status=StartStatus.DUPLICATED)
    (fired,) = fired_by(done)
    return fired


async def _weigh(
    store: Store, target: Target, row: SignalTriggerRow, fire: Fire, limits: ParamLimits
) -> tuple[SignalInitiator, str, Params] | None:
    """Who starts the run, under which request id and with which parameters; None: the condition is false.

    The parameters of the trigger are those of the initiator, where `params.getFromSignal` reads them. With
    Stretto's semantics they are parameters of the run, too.

    What a trigger evaluates sees its own parameters, and those of the workflow as a start would have them.
    """
    trigger = row.trigger
    own_id = request_id_of(fire)
    now = await store.now()
    initiator = SignalInitiator(trigger_uuid=fire.trigger_id, signal_id_map=dict(fire.seqs))
    properties = target.row.properties
    owner = None if properties.owner is None else properties.owner.name
    signals = await signals_of(store, initiator)

    def context(of: SignalInitiator) -> FreshRun:
        facts = facts_of(target.workflow, of, owner, RunPolicy.START_FRESH_NEW_RUN)
        return FreshRun(facts, signals, unique_number(own_id))

    budget = budget_of(limits)
    given = trigger.params or {}
    of_workflow = workflow_params(target.workflow.params or {})

    def evaluated(name: str, param: ParamDefinition, by: SignalInitiator, seen: Params) -> Parameter:
        scope = Scope(context=context(by), moment=Moment(now, unique_number(own_id), budget=budget))
        found = evaluate_one(name, param, scope, {**of_workflow, **seen})
        assert isinstance(found, Parameter)  # noqa: S101 - all that a trigger can ask for is at hand
        return found

    found: Params = {}
    for name in sorted(given, key=lambda each: not _names_itself(each, given[each])):
        others = {each: param for each, param in given.items() if each != name}
        found[name] = evaluated(f"trigger.{name}", given[name], initiator, {**others, **found})
    params: Params = {name: found[name] for name in given}
    initiator = msgspec.structs.replace(initiator, params=params)

    def result(name: str, kind: ParamType, expression: str) -> object:
        param = ParamDefinition(type=kind, expression=expression)
        return evaluated(name, param, initiator, params).evaluated_result

    if trigger.condition is not None and not result("condition", ParamType.BOOLEAN, trigger.condition):
        return None
    request_id = own_id
    if trigger.dedup_expr is not None:
        try:
            text = result("dedup_expr", ParamType.STRING, trigger.dedup_expr)
            request_id = str(uuid5(NAMESPACE_OID, str(text)))
        except ParamError as error:  # the fire is then known by its signals, as one without it is
            await note_trouble(store, row, f"{NOT_DEDUPLICATED} {error.message}")
    return initiator, request_id, {} if target.workflow.follows_maestro else {**params}


def _names_itself(name: str, param: ParamDefinition) -> bool:
    """Then it means the workflow's parameter of its name, and has to be evaluated before others read it."""
    return any(reference.name == name for reference in references_of(name, param))


def request_id_of(fire: Fire) -> str:
    """The same for the same signals, whoever sees the fire."""
    seqs = to_json(sorted(fire.seqs.items())).decode()
    return str(uuid5(NAMESPACE_OID, f"{fire.trigger_id}\0{seqs}"))
