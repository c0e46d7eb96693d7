"""Behaviour cases about signals and what they trigger, one test for each."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.behaviour import Case, Then, cases_of
from tests.conformance.corpus import corpus
from tests.unit.actions.world import ANN, NOOP, World, flow

from stretto.actions.activate import activate
from stretto.actions.announce import announce
from stretto.actions.deactivate import deactivate
from stretto.actions.fire_trigger import Dropped, fire_trigger, request_id_of
from stretto.actions.match_triggers import match_signal
from stretto.actions.parts.firing import Fired
from stretto.definition.parse import Options, check
from stretto.model.errors import Conflict
from stretto.model.initiator import SignalInitiator
from stretto.model.request import SignalRequest
from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import SignalOperator, SignalParamValue, SignalTrigger, SignalTriggerEntry
from stretto.model.wire import decode, encode, to_json
from stretto.ports.messages import FanOut, Fire
from stretto.ports.run_snapshot import read_newest_run
from stretto.ports.triggers import NamedSignalTrigger
from stretto.triggers import satisfies

pytestmark = pytest.mark.conformance

CASES: dict[str, Case] = cases_of("signal")
CHECKS: dict[str, Callable[[Any, Then], None]] = {}
# Whose the others are.
STEPS = "a step's dependencies and outputs: the tests of the engine and of the node have them"
ELSEWHERE = {
    "signal-param-encoding": "an index of Maestro's database",
    "signal-trigger-checkpoint-race": "a lock of Maestro's database; the suite of stores races for the join",
    "signal-dependency-poll": STEPS,
    "signal-dependency-on-termination": STEPS,
    "signal-output-announce": STEPS,
    "signal-output-static-and-dynamic": STEPS,
    "signal-bypass": STEPS,
    "signal-dependency-validation": "the rules of definitions",
}


def case(*case_ids: str) -> Callable[[Callable[[Any, Then], None]], Callable[[Any, Then], None]]:
    def register(check: Callable[[Any, Then], None]) -> Callable[[Any, Then], None]:
        CHECKS.update(dict.fromkeys(case_ids, check))
        return check

    return register


def test_every_case_has_its_check() -> None:
    assert sorted([*CHECKS, *ELSEWHERE]) == sorted(CASES)


@pytest.mark.parametrize("case_id", [each for each in CASES if each not in ELSEWHERE])
def test_case(case_id: str) -> None:
    then = Then(CASES[case_id])
    CHECKS[case_id]({"id": case_id, **CASES[case_id]["given"]}, then)
    then.assert_all_taken()


def fixture(path: str) -> Any:
    return json.loads(corpus(*path.split("/")).read_text(encoding="utf-8"))


def sample_trigger(path: str) -> Any:
    """It matches and joins on the same parameters, which the rules refuse, Maestro's and ours."""
    trigger = fixture(path)
    for entry in trigger["definitions"].values():
        for key in entry["join_keys"]:
            entry["match_params"].pop(key)
    return trigger


def with_trigger(trigger: Any) -> World:
    """A workflow with one signal trigger."""
    world = World()
    text = to_json(trigger).decode()
    world.publish(flow(NOOP, more=f"  signal_triggers: [{text}]\n"))
    return world


def came(world: World, name: str, **params: str | int) -> SignalInstance:
    return world.do(announce(world.store, ANN, SignalRequest(name=name, params=params)))


def bodies(world: World) -> list[Any]:
    mail = world.do(world.store.fetch("node-1", range(128)))  # type: ignore[arg-type]
    return [(each.id, each.body) for each in mail.messages]


# --------------------------------------------------------------------------------------------------- matching
@case("signal-operators")
def check_operators(given: Any, then: Then) -> None:
    found = [
        satisfies({"p": left}, {"p": SignalParamValue(value=right, operator=SignalOperator(operator))})
        for operator, left, right in given["pairs"]
    ]
    assert found == then.take("results")


@case("signal-match-param")
def check_match_param(given: Any, then: Then) -> None:
    found = []
    for wanted, value in given["cases"]:
        operator, text = wanted.split()
        match = SignalParamValue(
            value=int(text) if text.isdigit() else text, operator=SignalOperator(operator)
        )
        found.append(satisfies({"p": value}, {"p": match}))
    assert found == then.take("results")
    assert then.take("note") == "different value types never match"


@case("signal-match-without-params")
def check_match_without_params(given: Any, then: Then) -> None:
    world = World()
    for _ in range(given["signal_a_seq"]):
        came(world, "signal_a")

    def first(name: str, above: int = 0) -> int | None:
        found = world.do(world.store.first_signal(name, lambda _signal: True, above=above))
        return None if found is None else found.seq_id

    assert first("signal_a") == then.take("signal_a")
    assert first("signal_b") is then.take("signal_b") is None
    assert first("signal_a", 0) == then.take("after_checkpoint_0")
    assert first("signal_a", 1) is then.take("after_checkpoint_1") is None


@case("signal-match-params-index")
def check_match_params(given: Any, then: Then) -> None:
    world = World()
    indexed = dict(given["indexed"]["signal_a"])
    for number in range(indexed.pop("seq_id") - 1):
        came(world, "signal_a", number=number)
    came(world, "signal_a", **indexed)

    def first(above: int, **wanted: tuple[str, int]) -> int | None:
        match = {
            name: SignalParamValue(value=value, operator=SignalOperator(operator))
            for name, (operator, value) in wanted.items()
        }
        found = world.do(
            world.store.first_signal("signal_a", lambda each: satisfies(each.params, match), above=above)
        )
        return None if found is None else found.seq_id

    assert [
        first(0, foo=("=", 123)),
        first(0, foo=(">", 125)),
        first(0, foo=("=", 125), bar=("=", 125)),
        first(11, foo=("<", 125)),
        first(12, foo=("<", 125)),
    ] == then.take("results")


# ------------------------------------------------------------------------------------------------- announcing
@case("signal-seq-ids")
def check_seq_ids(given: Any, then: Then) -> None:
    world = World()
    seqs = []
    for instance_id in given["instance_ids"]:
        try:
            request = SignalRequest(name=given["signal"], request_id=instance_id)
            seqs.append(world.do(announce(world.store, ANN, request)).seq_id)
        except Conflict:
            seqs.append(-1)  # we refuse where Maestro answers with no number
    assert seqs == then.take("seq_ids")


@case("signal-duplicate-announce")
def check_duplicate(_given: Any, then: Then) -> None:
    world = World()
    request = SignalRequest(name="a", request_id="test-request-id")
    world.do(announce(world.store, ANN, request))
    with pytest.raises(Conflict, match="announced before"):
        world.do(announce(world.store, ANN, request))
    assert "Duplicate" in then.take("details.message")
    fan_outs = [body for _id, body in bodies(world) if isinstance(body, FanOut)]
    assert len(fan_outs) - 1 == then.take("pushed_to_queue") == then.take("params_indexed")


# --------------------------------------------------------------------------------------------------- triggers
@case("signal-trigger-not-found")
def check_not_found(given: Any, then: Then) -> None:
    assert given["trigger_row"] is None
    world = World()
    instance = given["instance"]
    assert world.do(match_signal(world.store, came(world, instance["name"], **instance["params"]))) == 0
    assert world.do(world.store.match_trigger("gone", "", lambda _name, _signal: True)) == 0
    assert then.take("code") == -1
    assert then.take("effect") == "the subscription is deleted"  # with its version, at once


@case("signal-trigger-old-instance")
def check_old_instance(given: Any, then: Then) -> None:
    assert given["checkpoints"]["signal_a"] == given["instance"]["seq_id"] == 1
    world = World()
    old = came(world, "signal_a", **given["instance"]["params"])
    world.publish(flow(NOOP, more="  signal_triggers: [{definitions: {signal_a: {}}}]\n"))
    assert world.do(match_signal(world.store, old)) == then.take("code")
    assert then.take("why")


@case("signal-trigger-other-signal-missing", "signal-trigger-fires")
def check_fires(given: Any, then: Then) -> None:
    world = with_trigger(sample_trigger(given["trigger"]))
    instance = given["instance"]
    if given["matching_signal_b"] is not None:
        came(world, "signal_b", foo="bar", posted_by="somebody else")
        came(world, "signal_b", foo="bar", posted_by=instance["params"]["updated_by"])
    code = world.do(match_signal(world.store, came(world, instance["name"], **instance["params"])))
    assert code == then.take("code")
    fired = [dict(body.seqs) for _id, body in bodies(world) if isinstance(body, Fire)]
    if "effect" in then:
        assert then.take("effect") == "checkpoints updated and one execution pushed"
        assert fired == [{"signal_a": 1, "signal_b": 2}]
    else:
        assert fired == []


@case("signal-trigger-row", "signal-subscription-diff")
def check_rows(given: Any, then: Then) -> None:
    trigger = sample_trigger(given["trigger"]) if "trigger" in given else {"definitions": {"a": {}}}
    world = with_trigger(trigger)
    _timers, (before,) = world.do(world.store.triggers_of("flow"))
    if "signals" in then:
        assert sorted(before.trigger.definitions) == then.take("signals")
        assert [before.since[name] for name in sorted(before.since)] == then.take(
            "initial_checkpoints_no_instances"
        )
    came(world, next(iter(before.trigger.definitions)))
    more = [trigger, {"definitions": {"new": {}}}] if "subscribed" in then else [trigger]
    text = ", ".join(to_json(each).decode() for each in more)
    world.publish(flow(NOOP, more=f"  signal_triggers: [{text}]\n"))
    _timers, after = world.do(world.store.triggers_of("flow"))
    (known,) = [each for each in after if each.trigger_id == before.trigger_id]
    assert dict(known.since) == dict(before.since)  # not subscribed again
    if "subscribed" in then:
        assert then.take("subscribed") == ["uuid0"]
        assert [list(each.trigger.definitions) for each in after if each is not known] == [["new"]]
    else:
        assert then.take("second_subscribe") is False


@case("signal-trigger-limits")
def check_limits(given: Any, then: Then) -> None:
    nine = {f"s{number}": SignalTriggerEntry() for number in range(9)}
    lengths = {"a": SignalTriggerEntry(join_keys=("x",)), "b": SignalTriggerEntry(join_keys=("x", "y"))}
    match = {"bar": SignalParamValue(value=1, operator=SignalOperator.EQUALS_TO)}
    both = {"a": SignalTriggerEntry(join_keys=("bar",), match_params=match)}
    said = ("limit is 8", "same number of `join_keys`", "`bar` is both matched and a join key")
    assert len(given["variants"]) == len(then.take("errors")) == 3
    for definitions, text in zip((nine, lengths, both), said, strict=True):
        trigger = to_json(encode(SignalTrigger(definitions=definitions))).decode()
        found = check(flow(NOOP, more=f"  signal_triggers: [{trigger}]\n"), Options())
        assert text in str(found.problems)


# -------------------------------------------------------------------------------------------------- executing
def executed(condition: str | None = None, **more: Any) -> tuple[World, Fired | Dropped]:
    """The trigger of the sample has both its signals, and the fire is dealt with."""
    sample = fixture(
        "maestro-data/maestro-signal/src/test/resources/fixtures/sample-signal-trigger-execution.json"
    )
    trigger = {
        "definitions": {name: {} for name in sample["signal_ids"]},
        "condition": condition or "1 < 2",
        "params": sample["params"],
        **more,
    }
    world = with_trigger(trigger)
    for name, seq in sample["signal_ids"].items():
        for number in range(seq):
            world.do(match_signal(world.store, came(world, name, number=number)))
    ((message_id, body),) = [each for each in bodies(world) if isinstance(each[1], Fire)]
    return world, world.do(fire_trigger(world.store, message_id, body))


def starts(world: World) -> int:
    return int(world.do(read_newest_run(world.store, "flow", 1)) is not None)


@case("signal-exec-condition-true", "signal-exec-condition-false")
def check_condition(given: Any, then: Then) -> None:
    world, answer = executed(given["condition"])
    assert starts(world) == then.take("starts") == int(isinstance(answer, Fired))
    if "signals_consumed" in then:
        assert then.take("signals_consumed") is True
        assert world.do(match_signal(world.store, SignalInstance(name="signal_a", seq_id=1))) == 0


@case("signal-exec-bad-condition-or-params")
def check_bad(given: Any, then: Then) -> None:
    assert given["variants"] == ["condition abc", "param expression abc"]
    expected = then.take("starts")
    for more in ({"condition": "abc"}, {"params": {"foo": {"expression": "abc", "type": "STRING"}}}):
        world, answer = executed(**more)
        assert isinstance(answer, Dropped)
        assert starts(world) == expected
    assert then.take("error") == "swallowed (not retried)"


@case("signal-exec-dedup-expr", "signal-exec-bad-dedup-expr")
def check_dedup(given: Any, then: Then) -> None:
    ids = {executed(dedup_expr=given["dedup_expr"])[0].row().record.uuid for _ in range(2)}
    world, _answer = executed(dedup_expr=given["dedup_expr"])
    initiator = world.row().record.initiator
    assert isinstance(initiator, SignalInitiator)
    own_id = request_id_of(
        Fire(
            trigger_id=initiator.trigger_uuid,
            workflow_id="flow",
            join_key="",
            seqs=initiator.signal_id_map or {},
        )
    )
    assert len(ids) == 1
    if "starts" in then:
        assert then.take("starts") == starts(world)
        assert ids == {own_id}
        assert "falls back" in then.take("request_id")
    else:
        assert ids != {own_id}
        assert then.take("request_id") == 'name-based UUID of "hello"'


@case("signal-exec-start-errors")
def check_start_errors(given: Any, then: Then) -> None:
    """What Maestro deletes a subscription for, drops the fire here: triggers go with their version."""
    effects = dict(zip(given["start_error"], then.take("effect"), strict=True))
    dropped = {error for error, effect in effects.items() if effect == "trigger deleted"}
    assert dropped == {"conflict", "workflow not created", "no active version", "trigger type disabled"}
    world = with_trigger({"definitions": {"go": {}}})
    world.do(match_signal(world.store, came(world, "go")))
    ((message_id, body),) = [each for each in bodies(world) if isinstance(each[1], Fire)]
    (row,) = world.do(world.store.signal_triggers(NamedSignalTrigger(body.trigger_id)))

    async def old(_selection: NamedSignalTrigger) -> Any:
        return [row]

    world.swap("signal_triggers", old)
    world.do(deactivate(world.store, ANN, "flow"))
    assert isinstance(world.do(fire_trigger(world.store, message_id, body)), Dropped)  # no active version
    world.publish(flow(NOOP))
    assert isinstance(world.do(fire_trigger(world.store, message_id, body)), Dropped)  # conflict
    world.do(activate(world.store, ANN, "flow", "1"))
    transact = world.store.transact

    async def broken(*_args: Any) -> Any:
        raise RuntimeError("disk")

    world.swap("transact", broken)
    with pytest.raises(RuntimeError):  # anything else is the node's to try again
        world.do(fire_trigger(world.store, message_id, body))
    world.swap("transact", transact)
    assert isinstance(world.do(fire_trigger(world.store, message_id, body)), Fired)


def test_the_sample_can_be_read() -> None:
    sample = fixture(
        "maestro-data/maestro-common/src/testFixtures/resources/fixtures/signal_triggers/signal_trigger_simple.json"
    )
    _trigger, problems = decode(SignalTrigger, sample)
    assert not problems
