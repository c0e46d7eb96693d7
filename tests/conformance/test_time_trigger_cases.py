"""The behaviour cases of area `time-trigger` that ask for a fire time, one test for each."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conformance.behaviour import cases_of
from tests.conformance.corpus import corpus

from stretto.triggers import (
    CronError,
    Schedule,
    UnsupportedTriggerError,
    Watch,
    cron_of,
    earliest_fire,
    fuzzy_delay,
    next_fire,
    next_two_apart,
    parse_cron,
    parse_zone,
    plan,
)

pytestmark = pytest.mark.conformance

CASES = cases_of("time-trigger")
FIXTURES = ("maestro-data", "maestro-common", "src", "testFixtures", "resources", "fixtures")

OURS_DIFFER = "asks how many messages a scheduler sends: ours has a row with a due time, and no messages"
DEFERRED = {"time-batching": OURS_DIFFER, "time-delay-cap": OURS_DIFFER}
# These ask what a fire starts; `test_time_fire_cases` has them.
OF_ACTIONS = (
    "time-nothing-due",
    "time-no-future",
    "time-start-errors",
    "time-run-request",
    "time-subscription",
    "trigger-upsert-on-push",
)
# These ask for default parameters; `test_param_eval_cases` has them.
OF_PARAMS = ("time-zone-params-no-trigger", "time-zone-params-manual", "time-zone-params-time-initiator")
EARLIEST = ["time-earliest", "time-earliest-multiple", "time-earliest-none", "time-earliest-fuzzy"]
PLANS = [
    "time-plan-empty",
    "time-plan-max",
    "time-plan-pdt",
    "time-plan-utc",
    "time-plan-multiple-sorted",
    "time-plan-one-shot",
    "time-plan-one-shot-passed",
]
NEXT = ["time-next-cron", "time-next-predefined", "time-next-interval"]


def test_every_case_is_tested_or_deferred() -> None:
    assert sorted([*EARLIEST, *PLANS, *NEXT, *DEFERRED, *OF_ACTIONS, *OF_PARAMS]) == sorted(CASES)


def watch(cron: str, watermark: str, zone: str | None, delay: timedelta = timedelta()) -> Watch:
    return Watch(Schedule(parse_cron(cron), parse_zone(zone), delay), datetime.fromisoformat(watermark))


@pytest.mark.parametrize("case_id", EARLIEST)
def test_earliest(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    triggers = given.get("triggers") or [[given["cron"], given["watermark"]]]
    zone = given.get("timezone")
    if "fuzzy_max_delay" not in given:
        at = then["at"] and datetime.fromisoformat(then["at"])
        assert earliest_fire(watch(cron, mark, zone) for cron, mark in triggers) == at
        return
    assert (given["fuzzy_max_delay"], then["to"]) == ("5 mins", "+5 min (exclusive)")
    most = timedelta(minutes=5)
    delay = fuzzy_delay(given["cron"], "sample-wf", most)
    start = datetime.fromisoformat(then["from"].removesuffix(" (inclusive)"))
    fire = earliest_fire([watch(given["cron"], given["watermark"], zone, delay)])
    assert fire is not None
    assert start <= fire < start + most
    assert fuzzy_delay(given["cron"], "sample-wf", most) == delay


@pytest.mark.parametrize("case_id", PLANS)
def test_plan(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    watches = [watch(*trigger) for trigger in given["triggers"]]
    span, _, cap = given["end"].partition(", max executions ")
    planned = plan(watches, end_of(span, watches[0].watermark), int(cap or 100))
    if "planned_count" in then:
        assert len(planned) == then["planned_count"]
        return
    assert [fire.at for fire in planned] == [datetime.fromisoformat(at) for at in then["planned"]]
    if "next_watermarks" in then:
        last = {fire.number: fire.at for fire in planned}
        assert [last[number] for number in sorted(last)] == [
            datetime.fromisoformat(at) for at in then["next_watermarks"]
        ]


def end_of(text: str, start: datetime) -> datetime:
    """`+3 days` after the first watermark, or a moment."""
    if not text.startswith("+"):
        return datetime.fromisoformat(text)
    amount, unit = text[1:].split()
    return start + int(amount) * {"h": timedelta(hours=1), "day": timedelta(1), "days": timedelta(1)}[unit]


@pytest.mark.parametrize("case_id", NEXT)
def test_next(case_id: str) -> None:
    given, then = CASES[case_id]["given"], CASES[case_id]["then"]
    trigger = json.loads(corpus(*given["data_file"].split("/")).read_text(encoding="utf-8"))

    def cron() -> Any:
        return cron_of(trigger["type"], trigger.get("cron") or trigger.get("expression", ""))

    if "error" in then:
        with pytest.raises(UnsupportedTriggerError, match=trigger["type"]):
            cron()
        return
    fire = next_fire(cron(), datetime.fromisoformat(given["after"]), parse_zone(trigger["timezone"]))
    assert fire is not None
    assert fire.timestamp() == then["epoch_second"]


def time_triggers() -> list[Any]:
    """Every trigger of type CRON or PREDEFINED that a fixture holds, with the file it is in."""

    def walk(value: Any) -> list[dict[str, Any]]:
        if isinstance(value, list):
            return [found for item in value for found in walk(item)]
        if not isinstance(value, dict):
            return []
        if str(value.get("type")).upper() in {"CRON", "PREDEFINED"}:
            return [value]
        return [found for item in value.values() for found in walk(item)]

    return [
        pytest.param(trigger, id=f"{path.stem}-{number}")
        for path in sorted(corpus("maestro-data").rglob("*.json"))
        if path.stem != "sample-invalid-cron-wf-def"
        for number, trigger in enumerate(walk(json.loads(path.read_text(encoding="utf-8"))))
    ]


@pytest.mark.parametrize("trigger", time_triggers())
def test_each_trigger_of_a_valid_fixture_passes_the_check_of_two_minutes(trigger: dict[str, Any]) -> None:
    cron = cron_of(trigger["type"], trigger.get("cron") or trigger["expression"])
    after = datetime(2021, 1, 1, tzinfo=UTC)
    assert next_two_apart(cron, after, parse_zone(trigger.get("timezone")), timedelta(minutes=2))


def test_the_invalid_cron_fixture_is_refused() -> None:
    path = corpus(*FIXTURES, "workflows", "request", "sample-invalid-cron-wf-def.json")
    [trigger] = json.loads(path.read_text(encoding="utf-8"))["workflow"]["time_triggers"]
    with pytest.raises(CronError, match="hour") as caught:
        parse_cron(trigger["cron"])
    assert caught.value.column == 3
