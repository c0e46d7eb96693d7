"""The notation in which the tables of the rules, and the page about them, are written.

Runs:      `7` is instance 7 run 1, `7.2` its second run, `7p` one that is paused in the queue.
Requests:  `start`; `held`, a start by a step whose run is paused; `broken`, a start that is kept as FAILED;
           `restart:3` of an instance whose only run ended, `restart:3!` if it failed. Instance ids are given
           from 10 on.
Answers:   `10=CREATED`, `10=STOPPED`, `10=FAILED` or `refused`, one for each request.
Others:    `4=STOPPED`, replaced in the queue; `3=FAILED_2`, no longer blocking; `running=stop`.
"""

from typing import NamedTuple

from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.runs import RunKey
from stretto.strategies import (
    Accepted,
    Admission,
    Answer,
    Batch,
    LatestRun,
    Request,
    Restart,
    Start,
    admit,
)

NEXT_INSTANCE_ID = 10


class Given(NamedTuple):
    queue: str = ""
    running: int = 0
    failed: int = 0
    requests: str = ""


class Then(NamedTuple):
    answers: str = ""
    others: str = ""
    admitted: str = ""


Row = tuple[Given, Then]


def strategy(rule: RunStrategyRule, concurrency: int | None = None) -> RunStrategy:
    if concurrency is None:
        return RunStrategy(rule=rule)
    return RunStrategy(rule=rule, workflow_concurrency=concurrency)


def run_key(instance_id: int, run_id: int) -> RunKey:
    return RunKey("etl", instance_id, run_id)


def run(text: str) -> RunKey:
    instance_id, _, run_id = text.partition(".")
    return run_key(int(instance_id), int(run_id or 1))


def runs(text: str) -> list[RunKey]:
    return [run(word) for word in text.split() if not word.endswith("p")]


def paused_runs(text: str) -> list[RunKey]:
    return [run(word.removesuffix("p")) for word in text.split() if word.endswith("p")]


def shown(key: RunKey) -> str:
    return f"{key.instance_id}" if key.run_id == 1 else f"{key.instance_id}.{key.run_id}"


def batch(text: str) -> Batch:
    requests: list[Request] = []
    latest: dict[int, LatestRun] = {}
    for number, word in enumerate(text.split()):
        kind, _, instance = word.partition(":")
        if kind == "restart":
            instance_id = int(instance.rstrip("!"))
            latest[instance_id] = LatestRun(1, ended=True, failed=instance.endswith("!"))
            requests.append(Restart(f"request-{number}", instance_id))
        else:
            failure = {"start": None, "held": None, "broken": "no such param"}[kind]
            requests.append(Start(f"request-{number}", failure, held=kind == "held"))
    return Batch("etl", tuple(requests), NEXT_INSTANCE_ID, latest=latest)


def told(answer: Answer) -> str:
    return f"{shown(answer.run)}={answer.status}" if isinstance(answer, Accepted) else "refused"


def written(admission: Admission) -> Then:
    others = [f"{shown(each.run)}=STOPPED" for each in admission.replaced]
    others += [f"{shown(mark.run)}={mark.raw}" for mark in admission.marks]
    others += ["running=stop"] if admission.stop_running else []
    return Then(
        " ".join(map(told, admission.answers)), " ".join(others), " ".join(map(shown, admission.admitted))
    )


def outcome(chosen: RunStrategy, given: Given) -> Then:
    queue, paused = runs(given.queue), paused_runs(given.queue)
    return written(admit(chosen, queue, given.running, given.failed, batch(given.requests), paused))
