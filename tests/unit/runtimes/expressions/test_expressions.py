"""Long expressions: evaluated here, or in processes that can be killed."""

import asyncio
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.node.bench import Bench
from tests.waiting import wait_until

from stretto.engine import effects as todo
from stretto.engine.elsewhere import Question, answer, question_of
from stretto.engine.events import Evaluated
from stretto.engine.records import AttemptKey, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.errors import Unavailable
from stretto.node.perform.values import InProcess
from stretto.node.settings import NodeSettings
from stretto.params import Alone, Moment, RunFacts, Scope
from stretto.runtimes.expressions.pool import Pool, Worker
from stretto.runtimes.expressions.worker import READY, packed, receive, serve
from stretto.sel import Limits
from stretto.testing.shapes import ITEMS, computed, foreach, number, step, text, workflow

ATTEMPT = AttemptKey(RunKey("w", 1, 1), "a", 1)
FOR_EVER = "int s = 0; for (int i = 0; i < 1; i += 0) { s += i; } return s;"
NO_LIMIT = Limits(visit=10**12, loop=10**12, memory=10**15)


def asked(expression: str, limits: Limits = NO_LIMIT) -> Question:
    scope = Scope(context=Alone(RunFacts(workflow_id="w")), moment=Moment(1, limits=limits))
    return Question(attempt=ATTEMPT, definitions={"q": computed(expression)}, scope=scope)


def result(found: Evaluated) -> Any:
    return found.error or found.missing or found.params["q"].evaluated_result


# ---------------------------------------------------------------------------------------------- in process
def test_in_this_process() -> None:
    assert result(asyncio.run(InProcess().evaluate(asked("1 + 2")))) == 3
    found = asyncio.run(InProcess().evaluate(asked("return params.nextUniqueId();")))
    assert found.missing == ("next_unique_id",)
    assert "divided by zero" in result(asyncio.run(InProcess().evaluate(asked("1 / 0"))))


def test_a_fault_of_ours_is_an_answer_too() -> None:
    broken = replace(asked("1"), scope=None)  # type: ignore[arg-type]
    found = asyncio.run(InProcess().evaluate(broken))
    assert (found.error or "").startswith("internal error: AttributeError: ")


# ----------------------------------------------------------------------------------------------- questions
def test_the_question_of_a_real_run_travels() -> None:
    bench = Bench(NodeSettings(engine=EngineSettings(expression_visits=1_000)))
    long = "int s = p; for (int i = 0; i < 3000; i += 1) { s += 1; } return s + params.getFromStep('a', 'p');"
    steps = (
        foreach("l", ITEMS, step("x", params={"v": computed("i * 2")}), after=("a",)),
        step("a", "b", params={"p": number(1), "t": text("${RUN_TS}")}),
        step(
            "b",
            params={"q": computed(long), "r": computed("return params.getFromForeach('l', 'x', 'v')[1];")},
        ),
    )
    bench.publish(workflow(*steps, params={"p": number(5)}))
    bench.holding = (todo.EvaluateElsewhere,)
    run = bench.start()
    bench.run(run)
    (effect,) = bench.held
    assert isinstance(effect, todo.EvaluateElsewhere)
    question = question_of(bench.flows[run], effect.attempt)
    assert question is not None
    travelled: Question = receive(io.BytesIO(packed(question)))
    found, expected = answer(travelled), answer(question)
    assert found.missing == expected.missing
    assert dict(found.params) == dict(expected.params)
    bench.holding = ()
    bench.carry_out(run, effect)
    bench.settle()
    assert bench.value(run, "b", "q") == 3_006
    assert bench.value(run, "b", "r") == 4


# ---------------------------------------------------------------------------------------------- the worker
def served(*questions: object, rest: bytes = b"") -> list[Any]:
    """What a worker answers, in this process."""
    incoming = io.BytesIO(b"".join(map(packed, questions)) + rest)
    outgoing = io.BytesIO()
    left = threading.Event()
    serve(incoming, outgoing, leave=lambda _code: left.set(), grace=0)
    assert left.wait(5)
    outgoing.seek(0)
    said = []
    while True:
        try:
            said.append(receive(outgoing))
        except EOFError:
            return said


def test_a_worker_answers_until_nobody_asks() -> None:
    ready, *answers = served(asked("1 + 1"), asked("2 + 2"))
    assert ready == READY
    assert [result(each) for each in answers] == [2, 4]
    assert served() == [READY]
    assert served(rest=b"\0\0") == [READY]
    assert served(rest=packed("x")[:-1]) == [READY]
    assert served(rest=b"\0\0\0\0\0\0\0\x01.") == [READY]


def test_defaults_that_nobody_has_looked_at_are_computed_before_they_travel() -> None:
    scope = replace(asked("1").scope)
    question = Question(attempt=ATTEMPT, definitions={"RUN_TS": computed("1")}, scope=scope)
    _ready, found = served(question)
    assert type(found.params) is dict


# ------------------------------------------------------------------------------------------------ the pool
@pytest.fixture
def pool() -> Any:
    made = Pool(workers=2, seconds=20)
    yield made
    made.close()


def ask(pool: Pool, *questions: Question) -> list[Evaluated]:
    async def all_of_them() -> list[Evaluated]:
        return list(await asyncio.gather(*map(pool.evaluate, questions)))

    return asyncio.run(all_of_them())


def pids(pool: Pool) -> set[int]:
    return {worker._process.pid for worker in pool._idle}


def test_processes_are_started_when_they_are_needed_and_kept(pool: Pool) -> None:
    assert not pool._idle
    assert list(map(result, ask(pool, asked("1 + 1")))) == [2]
    first = pids(pool)
    assert len(first) == 1
    assert list(map(result, ask(pool, *(asked(f"{n} + 1") for n in range(8))))) == list(range(1, 9))
    assert first <= pids(pool)
    assert len(pids(pool)) <= 2


def test_an_expression_that_takes_too_long_is_killed_and_the_others_go_on() -> None:
    pool = Pool(workers=1, seconds=2.5)
    try:
        late, good = ask(pool, asked(FOR_EVER), asked("1"))
        assert late.error == "its expressions were not evaluated within the 2.5 s that they may take"
        assert result(good) == 1
    finally:
        pool.close()


def test_a_process_that_was_killed_while_it_was_idle_is_replaced(pool: Pool) -> None:
    ask(pool, asked("1"))
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGKILL)
    until_gone(pid)
    assert list(map(result, ask(pool, asked("2")))) == [2]
    assert pids(pool) != {pid}


class Deadly:
    """What kills the process that it is sent to."""

    def __reduce__(self) -> Any:
        return os._exit, (7,)


def test_a_question_that_kills_its_processes_is_to_blame(pool: Pool) -> None:
    deadly = replace(asked("1"), seen={"x": Deadly()})  # type: ignore[dict-item]
    bad, good = ask(pool, deadly, asked("3"))
    assert bad.error == "2 processes that evaluated its expressions died, the last: exit code 7"
    assert result(good) == 3


def test_a_question_that_can_not_be_sent_is_refused(pool: Pool) -> None:
    (found,) = ask(pool, replace(asked("1"), seen={"x": lambda: None}))  # type: ignore[dict-item]
    assert (found.error or "").startswith("it can not be handed to another process: ")


def test_a_process_that_does_not_start_is_given_up() -> None:
    pool = Pool(workers=1, start_within=0.0)
    try:
        (found,) = ask(pool, asked("1"))
        assert (found.error or "").endswith("died, the last: it was not ready within 0 s")
    finally:
        pool.close()


def test_an_installation_that_is_broken_says_so(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    (found,) = ask(pool, asked("1"))
    assert (found.error or "").endswith("died, the last: exit code 1")
    monkeypatch.setattr(sys, "executable", "nowhere/python")
    with pytest.raises(Unavailable, match="no process can be started to evaluate expressions"):
        ask(pool, asked("1"))


def test_who_waits_when_it_is_closed_gets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(workers=1, seconds=60)
    at_work = threading.Event()
    plain = Worker.ask

    def watched(worker: Worker, body: bytes, seconds: float) -> Any:
        at_work.set()
        return plain(worker, body, seconds)

    monkeypatch.setattr(Worker, "ask", watched)

    async def close_meanwhile() -> list[Any]:
        waiting = [asyncio.create_task(pool.evaluate(asked(FOR_EVER))) for _ in range(2)]
        assert await asyncio.to_thread(at_work.wait, 30)
        await asyncio.to_thread(pool.close)
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(each) for each in asyncio.run(close_meanwhile())] == [Unavailable, Unavailable]
    with pytest.raises(Unavailable):
        ask(pool, asked("1"))
    pool.close()


def test_a_process_that_does_not_end_by_itself_is_killed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stretto.runtimes.expressions.pool.END_WITHIN", 0.2)
    ask(pool, asked("1"))
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGSTOP)
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


PARENT = """
import asyncio, sys
sys.path[:] = {path!r}
from tests.unit.runtimes.expressions.test_expressions import FOR_EVER, asked, pids, worked
from tests.waiting import until
from stretto.runtimes.expressions.pool import Pool

async def main():
    pool = Pool(workers=1, seconds=600)
    await pool.evaluate(asked("1"))
    (pid,) = pids(pool)
    before = worked(pid)
    evaluating = asyncio.create_task(pool.evaluate(asked(FOR_EVER)))
    await until(lambda: worked(pid) > before + 2)
    print(pid, flush=True)
    await evaluating

asyncio.run(main())
"""


def worked(pid: int) -> int:
    """For how many ticks of the clock a process has computed."""
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])


def is_alive(pid: int) -> bool:
    """Whether a process is there, and not only because nobody has asked how it ended."""
    state = Path(f"/proc/{pid}/stat")
    try:
        os.kill(pid, 0)
        return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def until_gone(pid: int) -> None:
    wait_until(lambda: not is_alive(pid))


def test_processes_end_with_their_parent_however_it_ends() -> None:
    command = [sys.executable, "-c", PARENT.format(path=sys.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603 - our own
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    until_gone(pid)
