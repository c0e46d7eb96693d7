"""Parameters of steps against the schema of their type: what is certainly wrong is told, with the way out."""

from collections.abc import Iterator
from typing import Any, ClassVar

import jsonschema_rs
import pytest
from tests.unit.definition.samples import Raw, flow, foreach, found, text_of

from stretto.definition import Limits, check
from stretto.definition.parse import Options
from stretto.definition.schema import definition_schema
from stretto.definition.step_types import Described, StepTypes
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.problem import Code
from stretto.model.step import STEP_TYPES, TypedStep

PARAMS = "workflow.steps[0].step.params"
LOUD = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 2, "description": "What."},
        "times": {"type": "integer", "minimum": 1, "default": 1},
        "how": {"enum": ["loud", "soft"]},
        "parts": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "more": {
            "type": "object",
            "properties": {"inner": {"type": "object", "properties": {"rate": {"type": "number"}}}},
            "required": ["inner"],
            "additionalProperties": False,
        },
        "gone": False,
    },
    "required": ["text"],
}
CLOSED = {"properties": {"text": {"type": "string"}}, "additionalProperties": False}
EMPTY = {"additionalProperties": False}
EITHER = {"properties": {"a": True}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
PAIR = {"oneOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}
NOT_MANY = {"maxProperties": 1}
BROUGHT = {"text": ParamDefinition(type=ParamType.STRING, value="from the type")}


class Types(StepTypes):
    """Some types that are described, beside those of the product."""

    TOLD: ClassVar = {
        "Loud": Described(schema=LOUD),
        "Closed": Described(schema=CLOSED),
        "Empty": Described(schema=EMPTY),
        "Either": Described(schema=EITHER),
        "Pair": Described(schema=PAIR),
        "NotMany": Described(schema=NOT_MANY),
        "Brings": Described(schema=LOUD, params=BROUGHT),
        "Http": Described(schema={"properties": {"http": {"type": "object"}}}),
        "Broken": Described(broken="its package is in pieces"),
        "Silent": Described(),
    }

    def __contains__(self, name: object) -> bool:
        return name in STEP_TYPES or name in self.TOLD

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*STEP_TYPES, *self.TOLD)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def describe(self, step: TypedStep) -> Described:
        return self.TOLD.get(step.type, Described())


OPTIONS = Options(limits=Limits(step_types=Types()))


def of(kind: str, params: Raw | None = None, **more: Any) -> Raw:
    return flow({"step": {"id": "a", "type": kind, **({"params": params} if params else {}), **more}})


def text(value: str) -> Raw:
    return {"type": "STRING", "value": value}


def long(value: int) -> Raw:
    return {"type": "LONG", "value": value}


def inner(**members: Raw) -> Raw:
    return {"type": "MAP", "value": members}


FINE: list[Raw] = [
    of("Loud", {"text": text("ab")}),
    of("Loud", {"text": text("ab"), "mine": long(1)}),
    of("Loud", {"text": {"type": "STRING", "expression": "x"}, "times": {"type": "LONG", "expression": "0"}}),
    of(
        "Loud",
        {"text": text("${x}"), "how": text("$y"), "parts": {"type": "STRING_ARRAY", "value": ["${long}"]}},
    ),
    of("Loud", {"text": text("ab"), "times": {"type": "DOUBLE", "value": "2.0"}}),
    of("Loud", {"text": text("ab"), "more": inner(inner=inner(rate={"type": "DOUBLE", "value": 0.5}))}),
    of("Loud", {"text": text("ab"), "more": {"type": "MAP", "expression": "m"}}),
    of("Loud", {"text": text("ab"), "more": {"type": "STRING_MAP", "value": {"inn${e}r": "x"}}}),
    of("Loud", sub_type="template"),
    of("Loud", {"text": {"type": "STRING", "internal_mode": "REQUIRED"}}),
    of("Brings"),
    of("Silent", {"text": long(1)}),
    of("NoOp", {"text": long(1)}),
    of("Either", {"b": text("x")}),
    of("Either", sub_type="template"),
    of("Loud", {"text": text("ab"), "more": inner()}, sub_type="template"),
    of("Pair", {"b": text("x"), "c": text("x")}),
    of("Http", {"http": {"type": "MAP", "value": {"x": text("y")}}}),
]


@pytest.mark.parametrize("value", FINE)
def test_what_fits(value: Raw) -> None:
    assert found(value, OPTIONS) == []


WRONG: list[tuple[Raw, str, str, str, str | None]] = [
    (
        of("Loud"),
        Code.MISSING_PARAM,
        PARAMS,
        "the parameter `text` of step `a`, of type Loud, is missing",
        "write `text: {type: STRING, value: ...}`; it is a text",
    ),
    (
        of("Loud", {"txt": text("ab")}),
        Code.MISSING_PARAM,
        PARAMS,
        "the parameter `text` of step `a`, of type Loud, is missing",
        "it has `txt`: did you mean `text`?",
    ),
    (
        of("Loud", {"text": long(1)}),
        Code.BAD_PARAM,
        f"{PARAMS}.text",
        "the parameter `text` of step `a`, of type Loud, must be a text, not 1",
        "write it with `type: STRING`",
    ),
    (
        of("Loud", {"text": {"type": "LONG", "expression": "1"}}),
        Code.BAD_PARAM,
        f"{PARAMS}.text",
        "the parameter `text` of step `a`, of type Loud, must be a text, not a whole number",
        "write it with `type: STRING`",
    ),
    (
        of("Loud", {"text": text("x")}),
        Code.BAD_PARAM,
        f"{PARAMS}.text",
        'the parameter `text` of step `a`, of type Loud, must have 2 or more characters, not "x"',
        None,
    ),
    (
        of("Loud", {"text": text("ab"), "times": long(0)}),
        Code.BAD_PARAM,
        f"{PARAMS}.times",
        "the parameter `times` of step `a`, of type Loud, must be 1 or more, not 0",
        None,
    ),
    (
        of("Loud", {"text": text("ab"), "times": text("$x")}),
        Code.BAD_PARAM,
        f"{PARAMS}.times",
        "the parameter `times` of step `a`, of type Loud, must be a whole number, not a text",
        "write it with `type: LONG`",
    ),
    (
        of("Loud", {"text": text("ab"), "how": text("high")}),
        Code.BAD_PARAM,
        f"{PARAMS}.how",
        'the parameter `how` of step `a`, of type Loud, must be one of "loud", "soft", not "high"',
        None,
    ),
    (
        of("Loud", {"text": text("ab"), "gone": text("x")}),
        Code.BAD_PARAM,
        f"{PARAMS}.gone",
        "the parameter `gone` of step `a`, of type Loud, must not be there",
        None,
    ),
    (
        of("Loud", {"text": text("ab"), "parts": {"type": "STRING_ARRAY", "value": ["a", "long"]}}),
        Code.BAD_PARAM,
        f"{PARAMS}.parts.value[1]",
        'the parameter `parts[1]` of step `a`, of type Loud, must have 3 or fewer characters, not "long"',
        None,
    ),
    (
        of("Loud", {"text": text("ab"), "more": inner()}),
        Code.MISSING_PARAM,
        f"{PARAMS}.more",
        "the parameter `more.inner` of step `a`, of type Loud, is missing",
        "write `inner: {type: MAP, value: ...}`; it is a map",
    ),
    (
        of("Loud", {"text": text("ab"), "more": inner(inner=inner(rate=text("x")))}),
        Code.BAD_PARAM,
        f"{PARAMS}.more.value.inner.value.rate",
        'the parameter `more.inner.rate` of step `a`, of type Loud, must be a number, not "x"',
        None,
    ),
    (
        of(
            "Loud",
            {"text": text("ab"), "more": inner(inner={"type": "STRING_MAP", "value": {"rate": "${x}"}})},
        ),
        Code.BAD_PARAM,
        f"{PARAMS}.more.value.inner.value.rate",
        "the parameter `more.inner.rate` of step `a`, of type Loud, must be a number, not a text",
        None,
    ),
    (
        of("Loud", {"text": text("ab"), "more": inner(inner=inner(), iner=text("x"))}),
        Code.UNKNOWN_FIELD,
        f"{PARAMS}.more.value.iner",
        "the parameter `more.iner` of step `a`, of type Loud, is not known",
        "did you mean `inner`?",
    ),
    (
        of("Closed", {"other": text("x")}),
        Code.UNKNOWN_FIELD,
        f"{PARAMS}.other",
        "the parameter `other` of step `a`, of type Closed, is not known",
        "it may be one of text",
    ),
    (
        of("Empty", {"other": text("x")}),
        Code.UNKNOWN_FIELD,
        f"{PARAMS}.other",
        "the parameter `other` of step `a`, of type Empty, is not known",
        None,
    ),
    (
        of("Either"),
        Code.MISSING_PARAM,
        PARAMS,
        "step `a` of type Either needs exactly one of `a` or `b`; it has none of them",
        "write `a: {type: STRING, value: ...}`; it is anything",
    ),
    (
        of("Either", {"a": text("x"), "b": text("x")}),
        Code.CONFLICT,
        PARAMS,
        "step `a` of type Either needs exactly one of `a` or `b`; it has `a` and `b`",
        "leave all but one of them out",
    ),
    (
        of("Pair", {"b": text("x")}),
        Code.MISSING_PARAM,
        PARAMS,
        "step `a` of type Pair needs exactly one of `a` or `b` with `c`; it has `b`",
        "write `a: {type: STRING, value: ...}`; it is anything",
    ),
    (
        of("NotMany", {"a": text("x"), "b": text("x")}),
        Code.BAD_PARAM,
        PARAMS,
        'step `a` of type NotMany must have 1 or fewer members, not {"a":"x","b":"x"}',
        None,
    ),
    (
        of("Brings", {"text": text("x")}),
        Code.BAD_PARAM,
        f"{PARAMS}.text",
        'the parameter `text` of step `a`, of type Brings, must have 2 or more characters, not "x"',
        None,
    ),
    (
        of("Loud", {"text": text("x")}, sub_type="template"),
        Code.BAD_PARAM,
        f"{PARAMS}.text",
        'the parameter `text` of step `a`, of type Loud, must have 2 or more characters, not "x"',
        None,
    ),
    (
        of("Broken"),
        Code.UNKNOWN_VALUE,
        "workflow.steps[0].step.type",
        "step `a` can not be run: its package is in pieces",
        None,
    ),
    (
        of("Lood"),
        Code.UNKNOWN_VALUE,
        "workflow.steps[0].step.type",
        "`Lood` is not a step type",
        "did you mean `Loud`?",
    ),
]


@pytest.mark.parametrize(("value", "code", "path", "message", "hint"), WRONG)
def test_what_does_not_fit(value: Raw, code: str, path: str, message: str, hint: str | None) -> None:
    [problem] = check(text_of(value), OPTIONS).problems
    assert (problem.code, problem.path, problem.message, problem.hint) == (code, path, message, hint)
    assert problem.line is not None


def test_steps_in_loops_and_steps_that_undo() -> None:
    loud = {"id": "b", "type": "Loud"}
    value = flow(
        foreach("f", [{"step": loud}]),
        {"step": {"id": "a", "type": "NoOp", "compensation": {"step": {**loud, "id": "c"}}}},
    )
    assert found(value, OPTIONS) == [
        (Code.MISSING_PARAM, "workflow.steps[0].foreach.steps[0].step.params"),
        (Code.MISSING_PARAM, "workflow.steps[1].step.compensation.step.params"),
    ]


def test_a_param_that_the_type_brings_has_no_place_of_its_own() -> None:
    class Odd(Types):
        TOLD: ClassVar = {
            "Odd": Described(schema=LOUD, params={"text": ParamDefinition(type=ParamType.LONG, value=1)})
        }

    [problem] = check(text_of(of("Odd")), Options(limits=Limits(step_types=Odd()))).problems
    assert (problem.code, problem.path) == (Code.BAD_PARAM, f"{PARAMS}.text")


def test_other_forms_know_the_types_too() -> None:
    jobs = "workflow: {id: w, jobs: [{job: {id: a, type: Loud, text: hello}}]}"
    assert found(jobs, OPTIONS) == []
    [problem] = check(jobs.replace("Loud", "Lood"), OPTIONS).problems
    assert (problem.code, problem.hint) == (Code.UNKNOWN_JOB, "did you mean `Loud`?")


# ---------------------------------------------------------------------------------------- schema for editors
VALIDATOR = jsonschema_rs.Draft202012Validator(
    definition_schema({name: told for name, told in Types.TOLD.items() if told.broken is None})
)


@pytest.mark.parametrize("value", FINE)
def test_the_schema_for_editors_takes_what_fits(value: Raw) -> None:
    assert VALIDATOR.is_valid(value)


@pytest.mark.parametrize(
    "value",
    [
        of("Loud"),
        of("Loud", {"text": long(1)}),
        of("Loud", {"text": text("ab"), "times": text("x")}),
        of("Loud", {"text": text("ab"), "how": long(1)}),
        of("lOUD", {"text": text("ab"), "parts": text("x")}),
        of("Either"),
        of("Either", {"a": text("x"), "b": text("x")}),
    ],
)
def test_the_schema_for_editors_marks_what_is_wrong(value: Raw) -> None:
    assert not VALIDATOR.is_valid(value)


def test_the_schema_for_editors_has_words() -> None:
    step = definition_schema({"Loud": Described(schema=LOUD), "Any": Described(schema={})})["$defs"][
        "TypedStep"
    ]
    params = step["allOf"][0]["then"]["properties"]["params"]["properties"]
    assert params["text"]["description"] == "What."
    assert params["times"]["properties"]["value"] == {"default": 1}
    assert params["how"]["properties"]["value"] == {"examples": ["loud", "soft"]}
    assert params["gone"] == {}
    assert [each["then"] for each in step["allOf"][2:]] == [{"properties": {"params": {"properties": {}}}}]
