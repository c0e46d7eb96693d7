"""What a function is called with: parameters, what other steps returned, what is required."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from tests.unit.runtimes.python.stand import RUN, Stand, Told, playing, said, text, told, value, with_params

from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.model.param import Parameter, ParamType
from stretto.model.status import StepStatus
from stretto.ports.history import AttemptList, NewestInInstance
from stretto.ports.rows import AttemptRow
from stretto.ports.run_snapshot import NewestAttempts
from stretto.runtimes.python import StepContext, function_of
from stretto.store.memory import Database, MemoryStore
from stretto.testing.clock import VirtualClock

P = ParamType


@dataclass
class Order:
    id: int
    customer: str


def param(kind: ParamType, result: Any, **meta: Any) -> Parameter:
    return Parameter(type=kind, value=result, evaluated_result=result, meta=meta)


def test_parameters_are_read_as_the_step_declares_them() -> None:
    async def body() -> None:
        def take(day: date, order: Order, both: list[Order], share: float, flags: dict[str, str]) -> str:
            return f"{day} {order.id} {both[0].customer} {share} {flags['a']}"

        made = function_of(take, "take")
        step = Told(
            {
                "function": text("take"),
                "day": text("2026-11-15"),
                "order": param(P.STRING, '{"id": 1, "customer": "x"}', format="json"),
                "both": param(P.STRING_ARRAY, ('{"id": 1, "customer": "y"}',), format="json"),
                "share": param(P.LONG, 3),
                "flags": param(P.STRING_MAP, {"a": "b"}),
                "result": param(P.STRING, ""),
            }
        )
        assert value(await Stand(made).end(step)) == "2026-11-15 1 y 3.0 b"

    playing(body)


def test_parameters_that_do_not_fit() -> None:
    async def body() -> None:
        def take(day: date) -> str:
            return str(day)

        made = function_of(take, "take")
        stand = Stand(made)
        step = Told({"function": text("take"), "day": text("soon")})
        kind, message = said(await stand.end(step))
        assert kind == "FatalError"
        assert str(message).startswith("an argument of `take`: `day` can not be read as `date`")
        assert said(await stand.end(Told({"function": text("take")}))) == (
            "FatalError",
            "`take` needs `day`: the step has no such parameter",
        )

    playing(body)


def test_all_that_is_there() -> None:
    async def body() -> None:
        def take(a: int, **rest: Any) -> dict[str, Any]:
            return {"a": a, **rest}

        made = function_of(take, "take")
        step = Told({"function": text("take"), "a": param(P.LONG, 1), "b": text("x"), "result": text("{}")})
        with_params(
            step, result=param(P.STRING, "null", format="json"), result_mapping=param(P.STRING_MAP, {})
        )
        assert value(await Stand(made).end(step)) == '{"a":1,"b":"x"}'

    playing(body)


def test_required_parameters_are_named_before_the_function_runs() -> None:
    async def body() -> None:
        def take(a: int = 1, b: int = 2, c: int = 3) -> int:
            raise AssertionError(a, b, c)

        made = function_of(take, "take", required=["a", "b"])
        step = Told({"function": text("take"), "b": param(P.LONG, 1)})
        with_params(step, required_params=param(P.STRING_ARRAY, ("c", "a", "b")))
        assert said(await Stand(made).end(step)) == (
            "FatalError",
            "required parameters of `take` have no value: `c`, `a`",
        )

    playing(body)


# --------------------------------------------------------------------------------------------------- upstream
def store_with(*rows: tuple[str, Sequence[tuple[str, Parameter]], Artifacts], run: Any = RUN) -> MemoryStore:
    """A store in which steps of a run have ended."""
    database = Database(VirtualClock())
    for number, (step_id, params, artifacts) in enumerate(rows):
        key = AttemptKey(run, step_id, 1)
        record = AttemptRecord(
            key=key,
            sequence=number,
            status=StepStatus.SUCCEEDED,
            params=dict(params) or None,
            artifacts=artifacts,
        )
        database.attempts.put(key, AttemptRow(record=record))
    return MemoryStore(database)


def order() -> Order:
    return Order(5, "x")


def rows() -> list[int]:
    return [1]


def quiet() -> None:
    """Returns nothing."""


FUNCTIONS = [function_of(each, each.__name__) for each in (order, rows, quiet)]
ORDER = '{"id": 5, "customer": "x"}'


def test_what_the_steps_before_have_returned() -> None:
    async def body() -> None:
        store = store_with(
            ("typed", [("function", text("order")), ("result", param(P.STRING, ORDER))], {}),
            ("listed", [("function", text("rows")), ("result", param(P.LONG_ARRAY, (1, 2)))], {}),
            ("in_loop", [("function", text("rows")), ("result", param(P.STRING, "[3]"))], {}),
            ("foreign", [("function", text("gone")), ("result", param(P.STRING, "as it is"))], {}),
            ("mapped", [("result", param(P.MAP, {"a": 1}))], {}),
            ("beside", [("function", text("order"))], {"python": DefaultArtifact(data={"result": [7]})}),
            ("silent", [("function", text("quiet")), ("result", param(P.STRING, "odd"))], {}),
            ("gate", [], {}),
        )
        seen: list[dict[str, Any]] = []

        def look(ctx: StepContext) -> None:
            seen.append(dict(ctx.upstream))

        made = function_of(look, "look")
        stand = Stand(made, *FUNCTIONS, store=store)
        names = ("typed", "listed", "in_loop", "foreign", "mapped", "beside", "silent", "gate", "never")
        await stand.run(made, before=names)
        expected = {
            "typed": Order(5, "x"),
            "listed": [1, 2],
            "in_loop": [3],
            "foreign": "as it is",
            "mapped": {"a": 1},
            "beside": [7],
            "silent": "odd",
            "gate": None,
        }
        await stand.run(made, before=("typed", "never"))
        await stand.run(made)
        assert seen == [expected, {"typed": Order(5, "x")}, {}]

    playing(body)


def test_a_step_of_an_earlier_run_counts_if_this_one_goes_on_from_it() -> None:
    async def body() -> None:
        kept = store_with(("typed", [("function", text("order")), ("result", param(P.STRING, ORDER))], {}))
        (row,) = await kept.attempts(NewestAttempts((RUN,)))

        class Later(MemoryStore):
            async def attempts(self, selection: AttemptList) -> list[AttemptRow]:
                is_it = selection == NewestInInstance(RUN.workflow_id, RUN.instance_id, "typed")
                return [row] if is_it else []

        store = Later(Database(VirtualClock()))
        seen: list[dict[str, Any]] = []

        def look(ctx: StepContext) -> None:
            seen.append(dict(ctx.upstream))

        made = function_of(look, "look")
        await Stand(made, *FUNCTIONS, store=store).run(made, before=("typed",))
        assert seen == [{"typed": Order(5, "x")}]

    playing(body)


def test_a_field_of_another_step_becomes_a_parameter() -> None:
    async def body() -> None:
        store = store_with(
            ("data", [("function", text("order")), ("result", param(P.STRING, ORDER))], {}),
            ("deep", [], {"python": DefaultArtifact(data={"result": {"a": {"b": 7}, "data": "own"}})}),
        )

        def take(uid: int, name: str, whole: Order, b: Any, **rest: Any) -> str:
            return f"{uid} {name} {whole.id} {b} {rest}"

        made = function_of(take, "take", required="uid")
        mapping = {
            "uid": "data.id",
            "name": "customer",
            "whole": "data",
            "b": "deep.a.b",
            "more": "a.b",
        }
        step = with_params(
            told(FUNCTIONS[2], before=("deep",)),
            function=text("take"),
            result=param(P.STRING, ""),
            result_mapping=param(P.STRING_MAP, mapping),
        )
        assert value(await Stand(made, *FUNCTIONS, store=store).end(step)) == "5 x 5 7 {'more': 7}"

    playing(body)


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        ({"uid": "data.nothing"}, "finds nothing at `data.nothing` for `uid`; steps before this one: data"),
        ({"uid": "x", "more": "y.z"}, "at `x` for `uid`, `y.z` for `more`"),
        ({"uid": "data.customer"}, "`uid` of `take`, from result_mapping: Expected `int`"),
        ({"uid": "data.id.real-part"}, "finds nothing"),
    ],
)
def test_a_field_that_is_not_there(mapping: dict[str, str], why: str) -> None:
    async def body() -> None:
        store = store_with(("data", [("function", text("order")), ("result", param(P.STRING, ORDER))], {}))

        def take(uid: int) -> None:
            raise AssertionError(uid)

        made = function_of(take, "take")
        step = Told({"function": text("take"), "result_mapping": param(P.STRING_MAP, mapping)})
        kind, message = said(await Stand(made, *FUNCTIONS, store=store).end(step))
        assert kind == "FatalError"
        assert why in str(message)

    playing(body)


def test_without_a_store_nothing_is_known_of_other_steps() -> None:
    async def body() -> None:
        def take(uid: int) -> None:
            raise AssertionError(uid)

        made = function_of(take, "take")
        step = Told({"function": text("take"), "result_mapping": param(P.STRING_MAP, {"uid": "data.id"})})
        assert "steps before this one: none" in str(said(await Stand(made).end(step))[1])

    playing(body)
