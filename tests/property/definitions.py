"""Hypothesis strategies for whole definitions with every construct, all of them valid.

definitions()       Definition records
raw_definitions()   the same as JSON values, in the forms that authors write (short ones too)
"""

from typing import Any

from hypothesis import strategies as st

from stretto.definition.forms.normalise import normalise
from stretto.model.wire import decode
from stretto.model.workflow import Definition

Raw = dict[str, Any]

LONGS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9.\-]{0,8}", fullmatch=True).filter(
    lambda name: not name.lower().startswith("maestro")
)
LABELS = st.from_regex(r"[a-zA-Z0-9.,:@&='(){}$+/\\ -]{0,8}[a-z]", fullmatch=True)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
    lambda number: abs(number.adjusted()) <= 400 and len(str(number)) <= 400
)
EXPRESSIONS = st.sampled_from(["1 + 1", "x > 3;", "params.get('a')", "a == 'b' && !c", "return 'x';"])
VALIDATORS = st.sampled_from(["param != null", "@NotNull"])
CONDITIONS = st.one_of(st.sampled_from(["true", "false", "x > 1", "n == 'a'"]), st.booleans())
TIMEOUTS = st.one_of(st.integers(0, 10_000), st.sampled_from(["1h", "2 days 3min", "${t}", "90"]))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), DECIMALS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)


def optional(draw: Any, raw: Raw, **fields: st.SearchStrategy[Any]) -> Raw:
    """The object with some of these fields; sometimes null, which means that the field is not there."""
    for name, strategy in fields.items():
        if draw(st.booleans()):
            raw[name] = draw(st.one_of(strategy, strategy, strategy, st.none()))
    return raw


def any_case(words: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from([spelling for word in words for spelling in (word, word.lower(), word.title())])


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "STRING": TEXTS,
    "LONG": LONGS,
    "DOUBLE": DECIMALS,
    "BOOLEAN": st.booleans(),
    "STRING_MAP": st.dictionaries(TEXTS, TEXTS, max_size=3),
    "STRING_ARRAY": st.lists(TEXTS, max_size=3),
    "LONG_ARRAY": st.lists(LONGS, max_size=3),
    "DOUBLE_ARRAY": st.lists(DECIMALS, max_size=3),
    "BOOLEAN_ARRAY": st.lists(st.booleans(), max_size=3),
}


@st.composite
def params(draw: Any, depth: int = 1, kinds: tuple[str, ...] = (*VALUES, "MAP")) -> Raw:
    """One parameter, literal or expression."""
    kind = draw(st.sampled_from(kinds if depth else [each for each in kinds if each != "MAP"]))
    raw: Raw = {"type": draw(any_case([kind]))}
    if kind == "MAP":
        raw["value"] = draw(st.dictionaries(NAMES, params(depth=depth - 1), max_size=3))
    elif draw(st.booleans()):
        raw["value"] = draw(VALUES[kind])
    else:
        raw["expression"] = draw(EXPRESSIONS)
    modes = any_case(["MUTABLE", "MUTABLE_ON_START", "MUTABLE_ON_START_RESTART", "IMMUTABLE", "CONSTANT"])
    fields: dict[str, st.SearchStrategy[Any]] = {"mode": modes, "validator": VALIDATORS, "tags": tags()}
    return optional(draw, raw, **fields, internal_mode=st.sampled_from(["OPTIONAL", "odd"]), note=JSON)


def params_of(*kinds: str) -> st.SearchStrategy[Raw]:
    return st.dictionaries(NAMES, params(kinds=kinds or (*VALUES, "MAP")), max_size=3)


def tags() -> st.SearchStrategy[list[Any]]:
    namespaces = any_case(["SYSTEM", "USER_DEFINED", "PLATFORM"])
    objects = st.fixed_dictionaries(
        {"name": LABELS}, optional={"namespace": namespaces, "permit": st.integers(0, 9), "note": TEXTS}
    )
    short = st.fixed_dictionaries({"name": LABELS}, optional={"permit_count": st.integers(0, 9)})
    return st.lists(
        st.one_of(LABELS, objects, short),
        max_size=3,
        unique_by=lambda tag: tag if isinstance(tag, str) else tag["name"],
    )


NUMBERS = st.one_of(st.integers(0, 99), st.sampled_from(["3", "${n}"]))
SECONDS = st.one_of(st.integers(1, 86_400), st.sampled_from(["5 min", "${n}"]))


@st.composite
def retry_policies(draw: Any) -> Raw:
    raw = optional(
        draw, {}, error_retry_limit=NUMBERS, platform_retry_limit=NUMBERS, timeout_retry_limit=NUMBERS
    )
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["FIXED_BACKOFF", "exponential_backoff"]))
        raw["backoff"] = optional(draw, {"type": kind}, error_retry_backoff_in_secs=SECONDS)
        if kind == "exponential_backoff":
            optional(draw, raw["backoff"], error_retry_exponent=NUMBERS, timeout_retry_limit_in_secs=SECONDS)
    return raw


def signals() -> dict[str, st.SearchStrategy[Any]]:
    """What a step waits for and announces."""
    match = st.fixed_dictionaries({"param": params(0, ("STRING", "LONG")), "operator": st.just("=")})
    wait = st.fixed_dictionaries(
        {"name": LABELS}, optional={"match_params": st.dictionaries(NAMES, match, max_size=2)}
    )
    announce = st.fixed_dictionaries(
        {"name": LABELS},
        optional={"params": params_of("STRING", "LONG"), "payload": st.dictionaries(TEXTS, JSON, max_size=2)},
    )
    return {
        "signal_dependencies": st.lists(wait, min_size=1, max_size=2),
        "signal_outputs": st.lists(announce, max_size=2),
    }


class _Ids:
    """Ids that are used once over all levels; loop parameters, too."""

    def __init__(self) -> None:
        self._count = 0

    def next(self, word: str) -> str:
        self._count += 1
        return f"{word}.{self._count}"


def _wrapped(draw: Any, ids: _Ids, depth: int) -> Raw:
    kinds = ["step", "subworkflow", "template", *(["foreach", "while"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    body: Raw = {"id": ids.next(kind)}
    optional(draw, body, name=TEXTS, description=TEXTS, timeout=TIMEOUTS, tags=tags(), params=params_of())
    optional(draw, body, failure_mode=any_case(["FAIL_IMMEDIATELY", "IGNORE_FAILURE"]), **signals())
    if kind == "step":
        body["type"] = draw(any_case(["NoOp", "Sleep", "Titus", "Join", "Wait"]))
        optional(draw, body, sub_type=TEXTS, retry_policy=retry_policies())
    elif kind == "subworkflow":
        body[draw(st.sampled_from(["workflow_id", "subworkflow_id"]))] = draw(NAMES)
        optional(draw, body, version=st.integers(1, 9), sync=st.booleans(), explicit_params=st.booleans())
    elif kind in {"foreach", "while"}:
        _fill_loop(draw, kind, body, ids, depth)
    return {draw(any_case([kind])): body}


def _fill_loop(draw: Any, kind: str, body: Raw, ids: _Ids, depth: int) -> None:
    arrays = [name for name in VALUES if name.endswith("_ARRAY")]
    kinds = tuple(arrays) if kind == "foreach" else ("STRING", "LONG", "DOUBLE", "BOOLEAN")
    body["loop_params"] = {ids.next("loop"): draw(params(0, kinds))}
    body["steps"] = _level(draw, ids, depth - 1, least=1)
    if kind == "foreach":
        optional(draw, body, concurrency=st.integers(1, 500), strict_ordering=st.booleans())
    else:
        body["condition"] = draw(st.one_of(CONDITIONS, st.just({"expression": "x < 3", "type": "BOOLEAN"})))
        optional(draw, body, max_iterations=st.integers(1, 1_000))


def _level(draw: Any, ids: _Ids, depth: int, least: int = 0) -> list[Raw]:
    """Steps of one level; edges lead to later steps only, so there is no cycle."""
    steps = [_wrapped(draw, ids, depth) for _ in range(draw(st.integers(least, 4)))]
    bodies = [body for step in steps for body in step.values()]
    for index, body in enumerate(bodies[:-1]):
        later = [other["id"] for other in bodies[index + 1 :]]
        targets = draw(st.lists(st.sampled_from(later), unique=True, max_size=3))
        if targets or draw(st.booleans()):
            body["transition"] = {"successors": {target: draw(CONDITIONS) for target in targets}}
    return steps


ZONES = st.sampled_from(["UTC", "US/Pacific", "Asia/Tokyo"])
DELAYS = st.one_of(st.integers(0, 1_000), st.just("30 s"))


@st.composite
def time_triggers(draw: Any) -> Raw:
    raw: Raw = draw(
        st.one_of(
            st.fixed_dictionaries(
                {"type": any_case(["CRON"]), "cron": st.sampled_from(["0 3 * * *", "*/5 * * * *"])}
            ),
            st.fixed_dictionaries(
                {"type": any_case(["PREDEFINED"]), "expression": st.sampled_from(["@daily", "Hourly"])}
            ),
        )
    )
    return optional(draw, raw, timezone=ZONES, fuzzy_max_delay=DELAYS)


def signal_triggers() -> st.SearchStrategy[Raw]:
    value = st.fixed_dictionaries(
        {"value": st.one_of(TEXTS, LONGS), "operator": st.sampled_from(["=", ">", "<="])}
    )
    entry = st.fixed_dictionaries({}, optional={"match_params": st.dictionaries(NAMES, value, max_size=2)})
    return st.fixed_dictionaries(
        {"definitions": st.dictionaries(LABELS, entry, min_size=1, max_size=3)},
        optional={"params": params_of(), "condition": EXPRESSIONS, "dedup_expr": EXPRESSIONS},
    )


@st.composite
def properties(draw: Any) -> Raw:
    owner = st.one_of(TEXTS, st.fixed_dictionaries({"name": TEXTS}, optional={"team": JSON}))
    strategy = st.one_of(
        any_case(["SEQUENTIAL", "FIRST_ONLY", "PARALLEL"]),
        st.integers(1, 1_000),
        st.fixed_dictionaries(
            {"rule": any_case(["PARALLEL"])}, optional={"workflow_concurrency": st.integers(1, 9)}
        ),
    )
    alerting = st.fixed_dictionaries(
        {},
        optional={
            "emails": st.lists(TEXTS, max_size=2),
            "slack": st.fixed_dictionaries({}, optional={"users": st.lists(TEXTS, max_size=2)}),
            "tct": st.fixed_dictionaries({"duration_minutes": st.integers(0, 99)}, optional={"tz": ZONES}),
            "type_configs": st.dictionaries(
                st.sampled_from(["STEP_FAILURE", "LONG_RUNNING"]),
                st.fixed_dictionaries({}, optional={"disabled": st.booleans(), "duration_minutes": NUMBERS}),
            ),
        },
    )
    raw = optional(draw, {}, owner=owner, run_strategy=strategy, step_concurrency=st.integers(1, 1_000))
    return optional(draw, raw, description=TEXTS, alerting=alerting, time_trigger_disabled=st.booleans())


@st.composite
def raw_definitions(draw: Any) -> Raw:
    """A definition as JSON, with nulls and short forms here and there."""
    workflow: Raw = {"id": draw(NAMES), "steps": _level(draw, _Ids(), 2)}
    optional(draw, workflow, name=TEXTS, description=TEXTS, tags=tags(), timeout=TIMEOUTS, params=params_of())
    optional(draw, workflow, time_triggers=st.lists(time_triggers(), max_size=2))
    optional(draw, workflow, signal_triggers=st.lists(signal_triggers(), max_size=2))
    optional(
        draw, workflow, criticality=any_case(["HIGH", "LOW"]), instance_step_concurrency=st.integers(1, 999)
    )
    raw: Raw = {"workflow": workflow}
    git = st.fixed_dictionaries(
        {}, optional={"sha": TEXTS, "timestamp": LONGS, "uncommitted_changes": st.booleans()}
    )
    optional(draw, raw, properties=properties(), is_active=st.booleans(), git_info=git)
    return optional(draw, raw, note=JSON, other=st.dictionaries(TEXTS, JSON, max_size=2))


def definitions() -> st.SearchStrategy[Definition]:
    """Valid definitions as records."""
    return raw_definitions().map(_record)


def _record(raw: Raw) -> Definition:
    [normal] = normalise(raw, {}, [])
    record, problems = decode(Definition, normal)
    assert not problems, problems
    return record
