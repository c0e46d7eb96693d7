"""Interpolation, conversion, evaluation order and default dates against what is obviously right."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.params.make import World, done, expression, in_run, number, results, text

from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.model.wire import encode, from_json, to_json
from stretto.params import (
    Evaluated,
    MissingKeys,
    RunFacts,
    evaluate,
    evaluate_one,
    restarted_params,
    workflow_params,
)
from stretto.params.defaults import NATIVE_DEFAULTS
from stretto.params.functions import Functions
from stretto.sel import Environment, Missing, SelError, evaluate_maestro
from stretto.sel.dates.zones import zone_ids

relaxed = settings(deadline=None)  # the first expression also reads the grammar

# ------------------------------------------------------------------------------------------ interpolation
PLAIN = st.text(st.characters(exclude_characters="$", exclude_categories=["Cs"]), max_size=5)
KNOWN: dict[str, Parameter] = {
    "a": done("STRING", "A$b"),
    "n": done("LONG", -3),
    "f": done("BOOLEAN", True),
    "l": done("LONG_ARRAY", (1, 2)),
    "x.y-z/1": done("DOUBLE", Decimal("1.50")),
}
SHOWN = {"a": "A$b", "n": "-3", "f": "true", "l": "[1,2]", "x.y-z/1": "1.5"}
PIECES = st.one_of(
    PLAIN.map(lambda piece: (piece, piece)),
    st.sampled_from(sorted(SHOWN)).map(lambda name: ("${%s}" % name, SHOWN[name])),  # noqa: UP031
    st.sampled_from(["a", "n"]).map(lambda name: (f"${name} ", f"{SHOWN[name]} ")),
    st.sampled_from(["$${a}", "$$n "]).map(lambda piece: (piece, piece[1:])),
    st.just(("$$ ", "$ ")),
    st.just(("$1 ", "$1 ")),
)


@relaxed
@given(st.lists(PIECES, max_size=8))
def test_a_text_is_its_pieces_with_values_for_names(pieces: list[tuple[str, str]]) -> None:
    written = " ".join(source for source, _ in pieces)
    found = evaluate_one("p", text(written), in_run(), KNOWN)
    assert isinstance(found, Parameter)
    assert found.evaluated_result == " ".join(shown for _, shown in pieces)


# -------------------------------------------------------------------------------------------- conversion
LONGS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Decimal(repr(value)))
RESULTS = st.one_of(
    st.tuples(st.just("LONG"), LONGS),
    st.tuples(st.just("STRING"), TEXTS),
    st.tuples(st.just("BOOLEAN"), st.booleans()),
    st.tuples(st.just("DOUBLE"), DOUBLES),
    st.tuples(st.just("LONG_ARRAY"), st.lists(LONGS).map(tuple)),
    st.tuples(st.just("STRING_ARRAY"), st.lists(TEXTS).map(tuple)),
    st.tuples(st.just("BOOLEAN_ARRAY"), st.lists(st.booleans()).map(tuple)),
    st.tuples(st.just("DOUBLE_ARRAY"), st.lists(DOUBLES).map(tuple)),
    st.tuples(st.just("STRING_MAP"), st.dictionaries(TEXTS, TEXTS)),
    st.tuples(st.just("MAP"), st.dictionaries(TEXTS, LONGS | TEXTS | st.booleans())),
)


@relaxed
@given(RESULTS)
def test_a_result_passes_through_an_expression_unchanged(typed: tuple[str, Any]) -> None:
    kind, value = typed
    found = evaluate_one("copy", expression(kind, "given"), in_run(), {"given": done(kind, value)})
    assert isinstance(found, Parameter)
    assert found.evaluated_result == value
    assert not found.meta


@relaxed
@given(RESULTS)
def test_a_result_survives_storage_and_a_restart(typed: tuple[str, Any]) -> None:
    kind, value = typed
    param = done(kind, value, expression="made()") if kind == "MAP" else done(kind, value)
    loaded, problems = from_json(Parameter, to_json(encode(param)))
    assert not problems
    assert results(restarted_params({"p": loaded})) == {"p": value}


@relaxed
@given(LONGS)
def test_numbers_survive_as_texts(value: int) -> None:
    params = {"n": number(value), "s": expression("STRING", "n"), "back": expression("LONG", "s")}
    assert results(params)["back"] == value


# ---------------------------------------------------------------------------------------------- any order
@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, list[int]], list[int]]:
    """Numbers that are sums of smaller numbers' values, and an order to write them in."""
    size = draw(st.integers(1, 12))
    edges = {i: draw(st.lists(st.integers(0, i - 1), max_size=3)) if i else [] for i in range(size)}
    return edges, draw(st.permutations(range(size)))


@relaxed
@given(graphs(), st.sets(st.integers(0, 11)))
def test_the_order_of_writing_does_not_matter(
    graph: tuple[dict[int, list[int]], list[int]], far: set[int]
) -> None:
    edges, order = graph
    params: Params = {
        f"p{i}": expression("LONG", " + ".join(["1", *(f"p{j}" for j in edges[i])])) for i in order
    }
    wanted: dict[str, int] = {}
    for i in sorted(edges):
        wanted[f"p{i}"] = 1 + sum(wanted[f"p{j}"] for j in edges[i])
    assert results(params) == wanted

    # Some of them ask for a signal that must be fetched: all keys come at once, and nothing else fails.
    for i in far & edges.keys():
        params[f"p{i}"] = expression("LONG", f"params.getFromSignal('s', '{i}')")
    run = RunFacts(workflow_id="wf", initiator="SIGNAL")
    world = World(run=run, signals={("s", str(i)): Missing(i) for i in far})
    found = evaluate(params, in_run(world))
    if far & edges.keys():
        assert isinstance(found, MissingKeys)
        assert set(found.keys) == far & edges.keys()
    else:
        assert isinstance(found, Evaluated)


# ------------------------------------------------------------------------------------------- default dates
ZONES = sorted(zone_ids())[:: max(1, len(zone_ids()) // 120)]
STAMPS = st.integers(0, 2**32).map(lambda seconds: seconds * 1_000) | st.integers(-(2**40), 2**43)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(ZONES), STAMPS)
def test_native_defaults_equal_their_expressions(zone: str, stamp: int) -> None:
    run = RunFacts(workflow_id="wf", owner="ann", initiator_timezone=zone)
    said: dict[str, Any] = {}
    environment = Environment(now_millis=stamp, host=Functions(World(run=run)))
    found = evaluate(workflow_params({}, {"RUN_TS": number(stamp)}), in_run(World(run=run)))
    assert isinstance(found, Evaluated)
    for row in NATIVE_DEFAULTS:
        try:
            said[row.name] = evaluate_maestro(row.expression, said, environment)
        except SelError:  # where clocks skip the beginning of the hour, ours is the first moment after it
            assert row.name == "DERIVED_RUN_TS"
            said[row.name] = found[row.name].evaluated_result
            assert 0 <= stamp - said[row.name] < 3_600_000
        assert found[row.name].evaluated_result == said[row.name], row.name


def rules_of(zone: str) -> ZoneInfo:
    """From the same edition of the database; the machine may have another."""
    with files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as rules:
        return ZoneInfo.from_file(rules, key=zone)


@relaxed
@given(st.sampled_from(ZONES), st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1)))  # noqa: DTZ001
def test_local_dates_are_those_of_the_calendar(zone: str, moment: datetime) -> None:
    utc = moment.replace(tzinfo=UTC)
    stamp = round(utc.timestamp() * 1_000)
    assume(stamp >= 0)
    run = RunFacts(workflow_id="wf", initiator_timezone=zone)
    params = workflow_params({}, {"RUN_TS": ParamDefinition(type=ParamType.LONG, value=stamp)})
    found = results(params, in_run(World(run=run)))
    local = datetime.fromtimestamp(stamp / 1_000, UTC).astimezone(rules_of(zone))
    assert found["TARGET_RUN_DATE"] == f"{local:%Y%m%d}"
    assert found["TARGET_RUN_HOUR"] == f"{local:%H}"
    day = timedelta(days=1)
    assert found["RUN_DATE_MINUS_7"] == f"{datetime.fromtimestamp(stamp / 1_000, UTC) - 7 * day:%Y%m%d}"
