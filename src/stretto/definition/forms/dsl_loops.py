"""What a loop in Maestro's YAML DSL goes over: `loop_params` and `ranges`."""

from typing import Any, Final

from stretto.definition.forms.dsl_params import ParamReader, expression_text
from stretto.definition.reading.located import derive
from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

BOUNDS: Final = ("from", "to", "increment")


def loop_params_of(body: dict[str, Any], loops: Any, at: Place, sink: Sink) -> dict[str, Any]:
    """The loop's parameters; `loops` is what the body has under `loop_params` or `params`."""
    reader = ParamReader(sink)
    if loops is not None:
        place = (at, "loop_params" if "loop_params" in body else "params")
        if isinstance(loops, dict):
            reader.add(loops, place)
        else:
            sink.append(wrong_type(place, "an object", loops))
    ranges = body.get("ranges")
    if ranges is not None:
        _add_ranges(reader, ranges, (at, "ranges"), sink)
    return derive(body, reader.params) if not reader.params else reader.params


def _add_ranges(reader: ParamReader, ranges: Any, at: Place, sink: Sink) -> None:
    if not isinstance(ranges, dict):
        sink.append(wrong_type(at, "an object from a loop parameter to its range", ranges))
        return
    for name, bounds in ranges.items():
        if name in reader.params:
            message = f"the loop parameter `{name}` is given twice"
            sink.append(problem_at((at, name), Code.DUPLICATE_KEY, message, "also in `loop_params`"))
        elif not isinstance(bounds, dict) or bounds.get("to") is None:
            message = f"the range of `{name}` needs `to`"
            sink.append(problem_at((at, name), Code.MISSING_FIELD, message, "{from: 0, to: 3, increment: 1}"))
        else:
            reader.put(name, _range(bounds, (at, name), sink), ranges, name)


def _range(bounds: dict[str, Any], at: Place, sink: Sink) -> dict[str, Any]:
    """`{from: 0, to: 3}` -> all whole numbers from the first on, without the last."""
    given: dict[str, int | str] = {"from": 0, "increment": 1}
    for key, value in bounds.items():
        if key not in BOUNDS:
            hint = did_you_mean(key, BOUNDS)
            sink.append(problem_at((at, key), Code.UNKNOWN_FIELD, f"unknown field `{key}`", hint))
        elif type(value) is not int and not isinstance(value, str):
            if value is not None:
                sink.append(wrong_type((at, key), "a whole number, or an expression for one", value))
        else:
            given[key] = value
    text = ", ".join(expression_text(given.get(key, 0)) for key in BOUNDS)
    return {"expression": f"Util.intsBetween({text});", "type": "LONG_ARRAY"}
