"""How a run stands, in a line, and how it ended, in a few."""

from stretto.cli import style
from stretto.cli.address import run_text
from stretto.cli.running.progress import Progress, Step
from stretto.cli.running.views import Ending
from stretto.cli.showing.parts import value_text
from stretto.model.status import RunStatus

MOST_ERRORS = 5
WIDEST_RESULT = 1_000  # characters
MOST_LINES = 12  # of one error


def headline(progress: Progress, now: int, width: int) -> str:
    """`etl/3 is running, 12s, 3 of 5 steps done`."""
    status, name = progress.status, run_text(progress.key)
    colour = style.mark(status)[1]
    done = sum(step.status.is_complete for step in progress.steps.values())
    parts = [f"{done} of {len(progress.steps)} steps done"]
    if progress.began is not None:
        parts.insert(0, style.duration((progress.ended or now) - progress.began))
    if progress.queued is not None:
        parts = [progress.queued]
    rest = style.cut(f"{status}, {', '.join(parts)}", width - len(name) - 1)
    return f"{style.paint(name, colour, bold=True)} {rest}"


def ending_lines(ending: Ending) -> list[str]:
    """What a person wants to know at the end, and what to do next."""
    progress = ending.progress
    if progress.status is RunStatus.SUCCEEDED and ending.result is not None:
        value = style.cut(style.one_line(value_text(ending.result)), WIDEST_RESULT)
        return [f"result: {value}", *_errors(ending)]
    if progress.status.is_terminal:
        return _errors(ending)
    name = run_text(progress.key)
    if ending.again is None:
        return [f"{name} was interrupted, and nothing of it is kept."]
    paused = "is paused" if progress.status is RunStatus.PAUSED else f"is {progress.status}"
    return [f"{name} was interrupted and {paused}. Go on with:", f"  {ending.again}"]


def outcome_line(progress: Progress) -> str:
    """`etl/3 SUCCEEDED 6.2s`."""
    sign, colour = style.mark(progress.status)
    took = "" if progress.began is None or progress.ended is None else progress.ended - progress.began
    spent = "" if took == "" else f" {style.duration(int(took))}"
    return style.paint(f"{sign} {run_text(progress.key)} {progress.status}{spent}", colour, bold=True)


def _errors(ending: Ending) -> list[str]:
    """The last words of steps that ended badly."""
    progress = ending.progress
    bad = [
        step
        for step in progress.steps.values()
        if step.status.is_terminal and not step.status.is_complete and _words(step)
    ]
    lines = [line for step in bad[:MOST_ERRORS] for line in _error(step)]
    if len(bad) > MOST_ERRORS:
        lines.append(f"... and {len(bad) - MOST_ERRORS} more")
    if bad and not ending.place.in_memory:
        name = run_text(progress.key)  # that of a loop names the iterations
        more = ending.place.again("show", name if bad[0].is_loop else f"{name}:{bad[0].id}")
        lines.append(style.paint(f"More: {more}", style.CALM))
    return lines


def _words(step: Step) -> str:
    """Why a step ended badly; a loop by its iterations."""
    if step.reason or step.loop is None or not step.loop.failed:
        return step.reason or ""
    of = "" if step.loop.total is None else f" of {step.loop.total}"
    return f"{step.loop.failed}{of} iterations did not end well"


def _error(step: Step) -> list[str]:
    first, *rest = _words(step).splitlines()
    kept = rest if len(rest) <= MOST_LINES else [style.plain("…"), *rest[-MOST_LINES:]]
    return [style.paint(f"{step.id}: {first}", style.BAD), *(f"    {line}" for line in kept)]
