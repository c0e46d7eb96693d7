"""What a program asks of a run."""

from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, GATES, broken, finish, say, seen, something_else, talk
from tests.waiting import until

from stretto.definition import parse_all
from stretto.flow.engine import Engine, RunFailed
from stretto.flow.engine.run import Run
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.status import RunStatus

WAITING = """
properties: {owner: ann}
workflow:
  id: waiting
  steps:
    - step: {id: approve, type: Wait, params: {note: {value: "", type: STRING}}}
"""


@workflow(run_strategy="parallel")
def partly() -> str:
    a = say("before")
    b = broken("once").after(a)  # type: ignore[attr-defined]
    return say("after").after(b)  # type: ignore[attr-defined,no-any-return]


@workflow
def one_by_one(word: str = "hello") -> str:
    return talk(first=word)


@step
async def fragile(fail: bool) -> str:
    CALLS.append(f"fragile {fail}")
    if fail:
        raise ValueError("as it was told")
    return "well"


@workflow(run_strategy="parallel")
def careful(fail: bool = True) -> str:
    return fragile(fail)


def test_pause_and_resume() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.pause()
            assert await run.status() is RunStatus.PAUSED
            GATES["gate"].set()
            await seen("end gate")

            async def stored() -> bool:
                return (await run.progress()).done == 2

            await until(stored)
            await something_else(engine)
            assert CALLS[-1] == "end gate"
            await run.resume()
            assert await run.result(30) == "three"
            lines = [str(line) for line in (await run.look()).timeline]
            assert any("asked to pause" in line for line in lines)
            assert any("asked to resume" in line for line in lines)

    finish(work())
    assert CALLS == ["one", "begin gate", "end gate", "three"]


def test_a_run_in_its_queue_is_paused_and_resumed() -> None:
    @workflow(id="in_turn", run_strategy="sequential")
    def in_turn() -> str:
        return talk.fn()

    async def work() -> None:
        async with Engine("memory") as engine:
            first = await engine.submit(in_turn)
            await seen("begin gate")
            second = await engine.submit(in_turn)
            await second.pause()
            await second.resume()
            await second.pause()
            GATES["gate"].set()
            assert await first.result(30) == "three"
            await something_else(engine)
            assert not (await second.status()).is_terminal
            await second.resume()
            assert await second.result(30) == "three"

    finish(work())


def test_terminate_cancels_the_work_and_keeps_the_reason() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.terminate("not needed any more")
            result = await run.wait(30)
            assert result.status is RunStatus.STOPPED
            assert "not needed any more" in (result.error or "")
            with pytest.raises(RunFailed, match=r"talk/1 ended STOPPED: .*not needed any more"):
                await run.result()
            other = await engine.submit(talk)
            await seen("begin gate", 2)
            await other.kill("enough")
            assert (await other.wait(30)).status is RunStatus.FAILED

    finish(work())
    assert "end gate" not in CALLS


async def refused(run: Run[str], what: str) -> WrongState:
    before = await run.status()
    with pytest.raises(WrongState) as wrong:
        await getattr(run, what)()
    assert await run.status() is before
    assert wrong.value.hint
    return wrong.value


def test_what_can_not_be_done_now_is_refused() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            assert "can not resume run talk/1: it is IN_PROGRESS" in str(await refused(run, "resume"))
            await run.pause()
            assert "it is PAUSED" in str(await refused(run, "pause"))
            await run.resume()
            GATES["gate"].set()
            await run.result(30)
            for what in ("pause", "resume", "terminate", "kill"):
                error = await refused(run, what)
                assert "it is SUCCEEDED" in str(error)
                assert "restart" in (error.hint or "")

    finish(work())


def test_a_run_that_ends_before_it_can_be_paused() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.terminate()
            with pytest.raises(WrongState, match="can not pause run talk/1"):
                await run.pause()

    finish(work())


def test_restart_runs_again_what_did_not_succeed() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(partly)
            await run.wait(30)
            again = await run.restart()
            assert again.id == "partly/1/2"
            await again.wait(30)
            assert CALLS == ["before", "broken", "broken"]
            whole = await again.restart(from_beginning=True)
            await whole.wait(30)
            assert CALLS[-2:] == ["before", "broken"]

    finish(work())


def test_restart_with_another_parameter() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(careful)
            await run.wait(30)
            again = await run.restart(from_beginning=True, fail=False)
            assert await again.result(30) == "well"
            with pytest.raises(InvalidRequest, match="no parameter `fial`"):
                await again.restart(fial=True)

    finish(work())


def test_restart_from_a_step_with_other_parameters() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(careful)
            await run.wait(30)
            again = await run.restart(from_step="fragile", step_params={"fragile": {"fail": False}})
            assert await again.result(30) == "well"
            third = await again.restart(from_step="fragile", fail=False)
            assert await third.result(30) == "well"
            last = await third.restart(from_beginning=True, step_params={"fragile": {"fail": True}})
            with pytest.raises(RunFailed, match="as it was told"):
                await last.result(30)

    finish(work())


def test_a_restart_from_a_step_changes_no_other_step() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(partly)
            await run.wait(30)
            steps = {"say": {"word": "x"}}
            with pytest.raises(InvalidRequest, match="of that step alone, not of `say`"):
                await run.restart(from_step="broken", step_params=steps)

    finish(work())


def test_a_step_is_skipped() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.skip("held")
            assert await run.result(30) == "three"

    finish(work())


async def waits(run: Run[Any]) -> None:
    async def one_runs() -> bool:
        return any(str(each.status) == "RUNNING" for each in (await run.steps()).values())

    await until(one_runs)


def test_somebody_answers() -> None:
    async def work() -> None:
        (definition,) = parse_all(WAITING)
        async with Engine("memory") as engine:
            run = await engine.submit(definition)
            await waits(run)
            with pytest.raises(InvalidRequest, match="step `approve` has no parameter `nota`"):
                await run.answer("approve", nota="x")
            await run.answer("approve", note="fine", message="looked at it")
            result = await run.wait(30)
            assert result.steps["approve"].outputs == {"note": "fine"}

    finish(work())
