"""Functions as steps, by the rows of the union of features: one test for each row."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from tests.flow_engine.flows import CALLS, GATES, broken, finish, held, opens_when_paused, say, seen

from stretto.definition import parse_all
from stretto.flow.builder import WorkflowBuilder
from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest, StrettoError
from stretto.model.status import RunStatus, StepStatus
from stretto.runtimes.python import Fatal, Service, StepContext, Veto, service


@step
async def count(rows: list[int], factor: int = 1) -> dict[str, Any]:
    return {"total": sum(rows) * factor, "rows": rows}


@step
def greet(ctx: StepContext, name: str) -> str:
    return f"{ctx.step_id} {ctx.attempt} {name}"


def test_row_3_a_workflow_by_calls_fails_on_what_is_not_registered() -> None:
    builder = WorkflowBuilder("made", run_strategy="parallel")
    builder.register(count)
    builder.add("first", "count", rows=[1, 2])
    builder.add("second", "cuont", rows=[1], options={"on_failure": "alert"})
    with pytest.raises(InvalidRequest) as wrong:
        builder.build()
    assert "cuont" in str(wrong.value)
    assert "alert" in "\n".join([str(wrong.value), *wrong.value.details])

    good = WorkflowBuilder("made", run_strategy="parallel").register(count)
    good.add("first", "count", rows=[1, 2])

    async def work() -> None:
        async with Engine("memory") as engine:
            result = await (await engine.submit(good.build())).wait(30)
            assert result.outputs["first"] == {"total": 3, "rows": [1, 2]}

    finish(work())


def test_row_41_a_function_is_registered_run_and_its_result_read() -> None:
    @workflow
    def both() -> str:
        count([1, 2, 3], factor=2)
        return greet(name="ann")  # type: ignore[call-arg]

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(both)
            assert await run.result(30) == "greet 1 ann"
            assert (await run.steps())["count"].value == {"total": 12, "rows": [1, 2, 3]}
            assert f"{__name__}:count" in {each.name for each in await engine.functions()}

    finish(work())


def test_row_42_functions_are_found_again_and_a_missing_one_fails_its_step_alone(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    def made(*, changed: bool) -> tuple[Any, Any, Any]:
        @step(name="kept")
        async def kept() -> str:
            return "new" if changed else "old"

        @step(name="removed")
        async def removed() -> str:
            return "never"

        @workflow(id="pair")
        def pair() -> None:
            first = held("gate")
            kept().after(first)  # type: ignore[attr-defined]
            removed().after(first)  # type: ignore[attr-defined]

        return pair, kept, removed

    def rewritten() -> Any:
        @step(name="kept")
        async def kept() -> str:
            return "rewritten"

        return kept

    async def work() -> None:
        async with Engine(url) as engine:
            await engine.submit(made(changed=False)[0])
            await seen("begin gate")
            opens_when_paused(engine)
            before = {each.name: each.source_hash for each in await engine.functions()}
        async with Engine(url, recover="manual", config={"engine.function_within": "0s"}) as engine:
            engine.register(rewritten())
            with caplog.at_level(logging.INFO):
                await engine.stop()
                await engine.start()
            run = await engine.get("pair", 1)
            await run.resume()
            result = await run.wait(30)
            assert result.status is RunStatus.FAILED
            assert result.steps["kept"].status is StepStatus.SUCCEEDED
            assert result.steps["kept"].value == "rewritten"
            assert result.steps["removed"].status is StepStatus.FATALLY_FAILED
            assert "no running process knows the function `removed`. Deploy" in (
                result.steps["removed"].error or ""
            )
            after = {each.name: each.source_hash for each in await engine.functions()}
            assert after["kept"] != before["kept"]
            assert after["removed"] == before["removed"]

    finish(work())
    assert "the function `kept` has changed since it was used here last" in caplog.text
    assert "are not in this program: removed" in caplog.text


class Traced:
    """A filter that says when it is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def around(self, ctx: StepContext, call_next: Any) -> Any:  # noqa: ARG002 - as filters are called
        CALLS.append(self.name)
        try:
            return await call_next()
        finally:
            CALLS.append(self.name)


class Guard:
    """A filter that keeps one step from running."""

    def before(self, ctx: StepContext) -> None:
        if ctx.step_id == "say_2":
            raise Veto("not today")


class Told:
    """A listener."""

    def on_success(self, ctx: StepContext, result: Any) -> None:  # noqa: ARG002 - as listeners are called
        CALLS.append(f"success {result}")

    def on_failure(self, ctx: StepContext, error: BaseException) -> None:  # noqa: ARG002 - see above
        CALLS.append("failure")

    def always(self, ctx: StepContext) -> None:  # noqa: ARG002 - see above
        CALLS.append("always")


def test_row_44_filters_wrap_the_function_and_listeners_follow() -> None:
    @workflow
    def words() -> None:
        say("handler")

    @workflow
    def vetoed() -> None:
        first = say("first")
        say("second").after(first)  # type: ignore[attr-defined]

    async def work() -> None:
        async with Engine("memory", filters=[Traced("f1"), Traced("f2")], listeners=[Told()]) as engine:
            await engine.run(words)
        assert CALLS == ["f1", "f2", "handler", "f2", "f1", "success handler", "always"]
        CALLS.clear()
        async with Engine("memory", filters=[Guard()]) as engine:
            result = await (await engine.submit(vetoed)).wait(30)
            assert result.steps["say_2"].status is StepStatus.FATALLY_FAILED
            assert "not today" in (result.steps["say_2"].error or "")
        assert CALLS == ["first"]

    finish(work())


@step
async def spread(ctx: StepContext, words: list[str]) -> int:
    for word in words:
        ctx.add(say, {"word": word}, id=f"sub_{word}")
    return len(words)


@step
async def spread_held(ctx: StepContext) -> None:
    ctx.add(held, {"name": "gate"}, id="sub_held")
    ctx.add(say, {"word": "later"}, id="sub_later", after="sub_held")
    ctx.add(say, {"word": "aside"}, id="sub_aside")


def test_row_49_sub_steps_are_listed_run_and_survive_a_restart(url: str) -> None:
    @workflow(id="dynamic")
    def dynamic() -> None:
        before = spread_held()  # type: ignore[call-arg]
        say("after all").after(before)  # type: ignore[attr-defined]

    async def work() -> None:
        async with Engine(url) as engine:
            await engine.submit(dynamic)
            await seen("begin gate")
            opens_when_paused(engine)
        assert "later" not in CALLS
        async with Engine(url) as engine:
            run = await engine.get("dynamic", 1)
            result = await run.wait(30)
            assert result.status is RunStatus.SUCCEEDED
            inner = await run.inside("spread_held")
            assert [each.id for each in inner] != []
            steps = await inner[0].steps()
            assert {name: str(each.status) for name, each in steps.items()} == {
                "sub_held": "SUCCEEDED",
                "sub_later": "SUCCEEDED",
                "sub_aside": "SUCCEEDED",
            }

    finish(work())
    assert sorted(CALLS) == ["after all", "aside", "begin gate", "end gate", "later"]
    assert CALLS[-1] == "after all"


@step
async def three_and_a_bad_one(ctx: StepContext) -> None:
    for n in range(3):
        ctx.add(say, {"word": str(n)}, id=f"sub_{n}")
    ctx.add(say, {"wrod": "x"}, id="sub_bad")


def test_row_50_sub_steps_are_added_together_or_not_at_all() -> None:
    @workflow
    def batch() -> None:
        before = three_and_a_bad_one()  # type: ignore[call-arg]
        say("downstream").after(before)  # type: ignore[attr-defined]

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(batch)
            result = await run.wait(30)
            assert result.status is RunStatus.FAILED
            assert "has no argument `wrod`" in (result.steps["three_and_a_bad_one"].error or "")
            assert await run.inside("three_and_a_bad_one") == []

    finish(work())
    assert CALLS == []


@step
async def odd_one(number: int) -> int:
    if number < 2:
        raise Fatal(f"no {number}")
    return number


@step(tolerance=0.2)
async def tolerant(ctx: StepContext) -> None:
    for n in range(10):
        ctx.add(odd_one, {"number": n}, id=f"sub_{n}")


@step(tolerance=0.1)
async def strict(ctx: StepContext) -> None:
    for n in range(10):
        ctx.add(odd_one, {"number": n}, id=f"sub_{n}")


def test_row_51_a_share_of_the_sub_steps_may_fail() -> None:
    @workflow
    def lenient() -> None:
        tolerant()  # type: ignore[call-arg]

    @workflow
    def severe() -> None:
        strict()  # type: ignore[call-arg]

    async def work() -> None:
        async with Engine("memory") as engine:
            good = await (await engine.submit(lenient)).wait(30)
            assert good.status is RunStatus.SUCCEEDED
            bad = await (await engine.submit(severe)).wait(30)
            assert bad.status is RunStatus.FAILED
            for result, name in ((good, "tolerant"), (bad, "strict")):
                counts = str(result.steps[name].artifacts)
                assert "8" in counts
                assert "2" in counts

    finish(work())


@step
async def undo(word: str) -> None:
    CALLS.append(f"undo {word}")


@step(compensate=undo)
async def act(word: str) -> str:
    CALLS.append(word)
    return word


def test_row_52_what_was_done_is_undone_in_reverse() -> None:
    @workflow
    def saga() -> None:
        a = act("a")
        b = act("b").after(a)  # type: ignore[attr-defined]
        broken("c").after(b)  # type: ignore[attr-defined]

    async def work() -> None:
        async with Engine("memory") as engine:
            result = await (await engine.submit(saga)).wait(30)
            assert result.status is RunStatus.FAILED
            assert str(result.compensation) == "COMPENSATED"

    finish(work())
    assert CALLS == ["a", "b", "broken", "undo b", "undo a"]


def note_success(result: str) -> None:
    CALLS.append(f"success {result}")


def raising() -> None:
    CALLS.append("raising")
    raise ValueError("of the handler")


def note_failure(error: BaseException) -> None:
    CALLS.append(f"failure {error}")


def note_timeout() -> None:
    CALLS.append("timeout")


@step(on_success=[raising, note_success])
async def handled() -> str:
    return "well"


@step(on_success=note_success, on_failure=note_failure, on_timeout=note_timeout)
async def unhandled() -> str:
    raise ValueError("badly")


@step(timeout=1, on_success=note_success, on_failure=note_failure, on_timeout=note_timeout)
async def endless() -> None:
    await asyncio.Event().wait()


def test_row_53_handlers_of_a_step_by_its_end() -> None:
    @workflow
    def good() -> str:
        return handled()

    @workflow
    def bad() -> None:
        unhandled()

    @workflow
    def late() -> None:
        endless()

    async def work() -> None:
        async with Engine("memory") as engine:
            assert await engine.run(good) == "well"
            assert CALLS == ["raising", "success well"]
            CALLS.clear()
            await (await engine.submit(bad)).wait(30)
            assert CALLS == ["failure badly"]
            CALLS.clear()
            result = await (await engine.submit(late)).wait(30)
            assert result.steps["endless"].status is StepStatus.TIMED_OUT
            assert CALLS == ["timeout"]

    finish(work())


def test_row_54_handlers_of_a_workflow_by_its_status() -> None:
    found: list[str] = []

    @workflow(
        id="watched",
        on_status={
            name: lambda change: found.append(change.names[0])
            for name in ("paused", "resumed", "stopped", "succeeded", "failed")
        },
    )
    def watched() -> str:
        return held("gate")

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(watched)
            await seen("begin gate")
            await run.pause()
            await run.resume()
            GATES["gate"].set()
            await run.result(30)

    finish(work())
    assert found == ["PAUSED", "RESUMED", "SUCCEEDED"]


@dataclass
class Mailbox:
    address: str


@step
async def post(box: Service[Mailbox], token: Annotated[str, service("token")], ctx: StepContext) -> str:
    return f"{box.address} {token} {ctx.service(Mailbox).address}"


def test_row_55_services_by_type_and_by_name() -> None:
    @workflow
    def mail() -> str:
        return post()  # type: ignore[call-arg]

    async def work() -> None:
        services = {"box": Mailbox("ann@home"), "token": "secret"}
        async with Engine("memory", services=services) as engine:
            assert await engine.run(mail) == "ann@home secret ann@home"

    finish(work())


def test_row_66_a_parameter_is_a_constant_a_parameter_of_the_run_or_an_output() -> None:
    @step(name="three_kinds")
    async def three(constant: str, given: str, parent: str) -> str:
        return f"{constant} {given} {parent}"

    @workflow(id="sources")
    def sources(given: str) -> str:
        return three("constant", given, say("parent"))

    async def work() -> None:
        async with Engine("memory") as engine:
            assert await engine.run(sources, given="global") == "constant global parent"

    finish(work())


def test_row_67_parameters_of_the_run_and_of_one_step() -> None:
    @workflow(id="levels")
    def levels(word: str) -> None:
        say.named("one")(word)
        say.named("two")(word)

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(levels, word="all", step_params={"two": {"word": "only two"}})
            result = await run.wait(30)
            assert result.outputs == {"one": "all", "two": "only two"}

    finish(work())


PLACEHOLDERS = """
properties: {owner: ann}
workflow:
  id: places
  params: {known: {value: here, type: STRING}}
  steps:
    - step:
        id: one
        type: Python
        params:
          function: {value: "tests.flow_engine.flows:say", type: STRING}
          word: {value: "${known}", type: STRING}
          result: {value: "", type: STRING}
    - step:
        id: two
        type: Python
        params:
          function: {value: "tests.flow_engine.flows:say", type: STRING}
          word: {value: "${lost} and ${gone}", type: STRING}
"""


def test_row_68_placeholders_and_all_that_are_missing() -> None:
    async def work() -> None:
        (definition,) = parse_all(PLACEHOLDERS)
        async with Engine("memory") as engine:
            engine.register(say)
            try:
                result = await (await engine.submit(definition)).wait(30)
            except StrettoError as error:
                told = "\n".join([str(error), *error.details])
            else:
                assert result.outputs["one"] == "here"
                told = result.steps["two"].error or ""
            assert "lost" in told
            assert "gone" in told

    finish(work())


MAPPED = """
properties: {owner: ann}
workflow:
  id: mapping
  steps:
    - step:
        id: user
        type: Python
        transition: {successors: {hello: "true", strict: "true"}}
        params:
          function: {value: "find_user", type: STRING}
          result: {value: "null", type: STRING, format: json}
    - step:
        id: hello
        type: Python
        params:
          function: {value: "greet_user", type: STRING}
          result_mapping: {value: {uid: user.data.id}, type: STRING_MAP}
          result: {value: "", type: STRING}
    - step:
        id: strict
        type: Python
        params:
          function: {value: "greet_user", type: STRING}
          required_params: {value: [uid, name], type: STRING_ARRAY}
"""


def test_row_69_required_parameters_and_results_of_steps_before() -> None:
    @step(name="find_user")
    async def find_user() -> dict[str, Any]:
        return {"data": {"id": 7}}

    @step(name="greet_user")
    async def greet_user(uid: int) -> str:
        CALLS.append(f"greet {uid}")
        return f"user {uid}"

    async def work() -> None:
        (definition,) = parse_all(MAPPED)
        async with Engine("memory") as engine:
            engine.register(find_user, greet_user)
            result = await (await engine.submit(definition)).wait(30)
            assert result.outputs["hello"] == "user 7"
            error = result.steps["strict"].error or ""
            assert "required parameters of `greet_user` have no value: `uid`, `name`" in error

    finish(work())
    assert CALLS == ["greet 7"]


def test_row_70_a_result_that_is_too_large_is_refused() -> None:
    @step(name="huge")
    async def huge() -> str:
        return "x" * 11_000_000

    @workflow(id="large")
    def large() -> str:
        return huge()

    async def work() -> None:
        async with Engine("memory") as engine:
            result = await (await engine.submit(large)).wait(30)
            assert result.status is RunStatus.FAILED
            assert "11,000,0" in (result.steps["huge"].error or "")
            assert "write it to a file" in (result.steps["huge"].error or "")
            assert await engine.run(say_one) == "one"

    finish(work())


@workflow
def say_one() -> str:
    return say("one")


@step(cache=3600)
async def costly(number: int) -> int:
    CALLS.append(f"costly {number}")
    return number * number


def test_row_71_a_result_is_kept_for_a_while(url: str) -> None:
    @workflow(id="cached", run_strategy="parallel")
    def cached(number: int) -> int:
        return costly(number)

    async def work() -> None:
        async with Engine(url) as engine:
            assert [await engine.run(cached, number=n) for n in (3, 3, 4)] == [9, 9, 16]
        async with Engine(url) as engine:
            run = await engine.submit(cached, number=3)
            assert await run.result(30) == 9
            lines = [str(line) for line in (await run.steps())["costly"].timeline]
            assert any(line.startswith("Taken from the cache") for line in lines)

    finish(work())
    assert CALLS == ["costly 3", "costly 4"]
