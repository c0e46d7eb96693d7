"""Fields of the model in Maestro's YAML: keys with a `+`, which no parameter's name can have.

+retry: 3                        a job: how often it is tried again after an error of its work
+retry_policy: {...}             the same in full, as in the model
+signal_dependencies: [...]      a job of any kind: what it waits for
+signal_outputs: [...]           and what it announces
+cron: 0 6 * * *                 a workflow: when it starts, in the zone of `+timezone`
+time_triggers: [...]            the same in full; `+signal_triggers: [...]`: by which signals
"""

from typing import Any, Final

from stretto.definition.reading.located import at_key, derive, gather
from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire import Sink
from stretto.model.wire.codec import wrong_type

MARK: Final = "+"
CRON, TIMEZONE, RETRY = "+cron", "+timezone", "+retry"
OF_WORKFLOW: Final = (CRON, TIMEZONE, "+time_triggers", "+signal_triggers")
OF_EVERY_JOB: Final = ("+signal_dependencies", "+signal_outputs")
OF_JOB: Final = (RETRY, "+retry_policy", *OF_EVERY_JOB)

Body = dict[str, Any]


def marked_fields(source: Body, at: Place, known: tuple[str, ...], sink: Sink) -> Body:
    """The fields of the model that an object has with a `+`; what is none of them is a problem. Null means
    that a field is not there.
    """
    given = {key: value for key, value in source.items() if key.startswith(MARK) and value is not None}
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known) or f"one of {', '.join(known)}"
            problem = problem_at((at, key), Code.UNKNOWN_FIELD, f"there is no field `{key}` here", hint)
            sink.append(at_key(problem, source, key))
    made: Body = {}
    for key in known:
        if key in given and key not in {CRON, TIMEZONE, RETRY}:
            made = gather(made, key.removeprefix(MARK), given[key], source, key)
    if RETRY in given and RETRY in known:
        made = _with_retry(made, given[RETRY], source, at, sink)
    if CRON in known:
        made = _with_cron(made, given, source, at, sink)
    return made


def _with_retry(made: Body, retry: Any, source: Body, at: Place, sink: Sink) -> Body:
    if "retry_policy" in made:
        return _twice(made, RETRY, "+retry_policy", source, at, sink)
    if type(retry) is not int and not isinstance(retry, str):
        sink.append(wrong_type((at, RETRY), "a number of retries", retry, "+retry_policy takes an object"))
        return made
    policy = gather({}, "error_retry_limit", retry, source, RETRY)
    return gather(made, "retry_policy", policy, source, RETRY)


def _with_cron(made: Body, given: Body, source: Body, at: Place, sink: Sink) -> Body:
    if CRON not in given:
        if TIMEZONE in given:
            message = f"`{TIMEZONE}` is that of `{CRON}`, which is not here"
            problem = problem_at((at, TIMEZONE), Code.MISSING_FIELD, message, "give a cron, or leave it out")
            sink.append(at_key(problem, source, TIMEZONE))
        return made
    if "time_triggers" in made:
        return _twice(made, CRON, "+time_triggers", source, at, sink)
    trigger: Body = {"type": "CRON", "cron": given[CRON]}
    if TIMEZONE in given:
        trigger["timezone"] = given[TIMEZONE]
    trigger = derive(source, trigger, type=CRON, cron=CRON, timezone=TIMEZONE)
    return gather(made, "time_triggers", [trigger], source, CRON)


def _twice(made: Body, key: str, other: str, source: Body, at: Place, sink: Sink) -> Body:
    problem = problem_at((at, key), Code.CONFLICT, f"`{key}` and `{other}` are the same", "give one of them")
    sink.append(at_key(problem, source, key))
    return made


def hint_for(key: str) -> str | None:
    """How a field of the model is written here, if it can be."""
    marked = f"{MARK}{key}"
    return f"write `{marked}`" if marked in {*OF_WORKFLOW, *OF_JOB} else None
