"""Signals, triggers, alerts and owners."""

from typing import Any

from tests.unit.definition.samples import Raw, flow, found, step

from stretto.definition import MAESTRO_LIMITS, Limits
from stretto.definition.parse import Options
from stretto.model.problem import Code

STEP = "workflow.steps[0].step"
MAESTRO = Options(limits=MAESTRO_LIMITS)


def text(value: str) -> Raw:
    return {"value": value, "type": "STRING"}


class TestSignals:
    def dependency(self, **match: Raw) -> Raw:
        return flow(step("a", signal_dependencies=[{"name": "s", "match_params": match}]))

    def match(self, operator: str = "=", kind: str = "LONG") -> Raw:
        return {"param": {"value": 1 if kind == "LONG" else True, "type": kind}, "operator": operator}

    def test_one_range_only(self) -> None:
        assert found(self.dependency(a=self.match(">"), b=self.match())) == []
        path = f"{STEP}.signal_dependencies[0].match_params"
        assert found(self.dependency(a=self.match(">"), b=self.match("<="))) == [(Code.BAD_SIGNAL, path)]

    def test_texts_and_whole_numbers_only(self) -> None:
        path = f"{STEP}.signal_dependencies[0].match_params.a.param"
        assert found(self.dependency(a=self.match(kind="BOOLEAN"))) == [(Code.BAD_SIGNAL, path)]
        output = {"name": "s", "params": {"p": {"value": True, "type": "BOOLEAN"}, "q": text("x")}}
        assert found(flow(step("a", signal_outputs=[output]))) == [
            (Code.BAD_SIGNAL, f"{STEP}.signal_outputs[0].params.p")
        ]

    def test_a_payload_holds_parameters_of_any_type_and_plain_values(self) -> None:
        payload = {
            "list": {"type": "LONG_ARRAY", "value": [1]},
            "computed": {"type": "DOUBLE", "expression": "1.0 / 3"},
            "plain": {"type": "a word"},
            "number": 7,
        }
        assert found(flow(step("a", signal_outputs=[{"name": "s", "payload": payload}]))) == []
        wrong = {"typo": {"type": "LNG", "value": 1}, "text": {"type": "LONG", "value": "x"}}
        broken = {"syntax": {"type": "LONG", "expression": "return (;"}}
        base = f"{STEP}.signal_outputs[0].payload"
        raw = flow(step("a", signal_outputs=[{"name": "s", "payload": {**wrong, **broken}}]))
        assert [path for _code, path in found(raw)] == [
            f"{base}.typo.type",
            f"{base}.text.value",
            f"{base}.syntax.expression",
        ]

    def test_an_empty_list(self) -> None:
        assert found(flow(step("a", signal_dependencies=[]))) == [(Code.EMPTY, f"{STEP}.signal_dependencies")]


class TestSignalTriggers:
    def problems(self, **definitions: Raw) -> list[tuple[str, str]]:
        return found(flow(signal_triggers=[{"definitions": definitions}]))

    PATH = "workflow.signal_triggers[0].definitions"

    def test_counts(self) -> None:
        assert self.problems() == [(Code.EMPTY, self.PATH)]
        assert self.problems(**{f"s{n}": {} for n in range(8)}) == []
        assert self.problems(**{f"s{n}": {} for n in range(9)}) == [(Code.TOO_MANY, self.PATH)]

    def test_join_keys(self) -> None:
        assert self.problems(a={"join_keys": ["x"]}, b={"join_keys": ["y"]}) == []
        assert self.problems(a={"join_keys": ["x"]}, b={}) == [(Code.BAD_SIGNAL, self.PATH)]
        assert self.problems(a={"join_keys": ["x", "x"]}) == [(Code.BAD_SIGNAL, f"{self.PATH}.a.join_keys")]
        matched = {"match_params": {"x": {"value": 1, "operator": "="}}, "join_keys": ["x", "y"]}
        assert self.problems(a=matched) == [(Code.BAD_SIGNAL, f"{self.PATH}.a.join_keys")]


class TestTimeTriggers:
    def problems(self, options: Options = MAESTRO, **trigger: Any) -> list[tuple[str, str]]:
        value = flow(step("a"), time_triggers=[{"type": "CRON", **trigger}])
        return [
            (code, path.removeprefix("workflow.time_triggers[0]")) for code, path in found(value, options)
        ]

    def test_good_ones(self) -> None:
        assert self.problems(cron="*/2 * * * *", timezone="US/Pacific", fuzzy_max_delay="30 s") == []
        assert self.problems(type="predefined", expression="Daily", fuzzy_max_delay=0) == []
        assert self.problems(cron="0 0 * * *", fuzzy_max_delay="${d}") == []

    def test_bad_ones(self) -> None:
        assert self.problems(cron="0 30 * * *") == [(Code.BAD_CRON, ".cron")]
        assert self.problems(cron="") == [(Code.BAD_CRON, ".cron")]
        assert self.problems(cron="0 0 * * *", timezone="Mars/Base") == [(Code.BAD_TIMEZONE, ".timezone")]

    def test_a_wrong_cron_and_a_wrong_time_zone_are_reported_together(self) -> None:
        assert self.problems(cron="99 0 * * *", timezone="Mars/Base") == [
            (Code.BAD_CRON, ".cron"),
            (Code.BAD_TIMEZONE, ".timezone"),
        ]
        assert self.problems(type="INTERVAL", interval="1h") == [(Code.BAD_CRON, "")]
        assert self.problems(cron="0 0 * * *", fuzzy_max_delay="soon") == [
            (Code.BAD_DURATION, ".fuzzy_max_delay")
        ]
        assert self.problems(cron="0 0 * * *", fuzzy_max_delay=-1) == [
            (Code.OUT_OF_RANGE, ".fuzzy_max_delay")
        ]

    def test_catch_up(self) -> None:
        daily: dict[str, Any] = {"cron": "0 0 * * *"}
        assert self.problems(**daily, catch_up="Latest") == []
        assert self.problems(**daily, catch_up="all", catch_up_limit=1_000) == []
        assert self.problems(**daily, catch_up_limit=1) == []
        limit = ".catch_up_limit"
        assert self.problems(**daily, catch_up_limit=0) == [(Code.OUT_OF_RANGE, limit)]
        assert self.problems(**daily, catch_up_limit=1_001) == [(Code.OUT_OF_RANGE, limit)]
        assert self.problems(**daily, catch_up="none", catch_up_limit=5) == [(Code.CONFLICT, limit)]
        assert self.problems(**daily, catch_up="sometimes") == [(Code.UNKNOWN_VALUE, ".catch_up")]

    def test_too_often(self) -> None:
        assert self.problems(cron="* * * * *") == [(Code.TOO_FREQUENT, ".cron")]
        assert self.problems(Options(), cron="* * * * *") == []
        rare = Options(limits=Limits(fire_gap_millis=3_600_001))
        assert self.problems(rare, type="PREDEFINED", expression="@hourly") == [
            (Code.TOO_FREQUENT, ".expression")
        ]


class TestAlerts:
    def problems(self, **tct: Any) -> list[tuple[str, str]]:
        return found(flow(properties={"alerting": {"tct": tct}}))

    def test_exactly_one_way(self) -> None:
        assert self.problems(completed_by_hour=3, tz="UTC") == self.problems(duration_minutes=0) == []
        assert self.problems() == [(Code.CONFLICT, "properties.alerting.tct")]
        assert self.problems(completed_by_hour=3, completed_by_ts=4) == [
            (Code.CONFLICT, "properties.alerting.tct")
        ]

    def test_time_zone(self) -> None:
        assert self.problems(duration_minutes=1, tz="Nowhere") == [
            (Code.BAD_TIMEZONE, "properties.alerting.tct.tz")
        ]

    def test_nothing_to_check(self) -> None:
        assert found(flow(properties={})) == found(flow(properties={"alerting": {}})) == []


class TestOwner:
    FIRST = Options(first_version=True)

    def test_the_first_version_names_one(self) -> None:
        assert found(flow(properties={"owner": "me"}), self.FIRST) == []
        assert found(flow(properties={}), self.FIRST) == [(Code.MISSING_OWNER, "properties")]
        assert found(flow(properties={"owner": ""}), self.FIRST) == [(Code.MISSING_OWNER, "properties")]
        assert found(flow(), self.FIRST) == [(Code.MISSING_OWNER, "workflow")]
