"""Steps that name a function, or hold one, run it in a process; what goes wrong there is told."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.processes import lives

from stretto import Engine, RunResult, WorkerLimits
from stretto.definition import parse_all

HERE = "tests.flow_engine.awkward"


KINDS = {str: "STRING", int: "LONG", list: "STRING_ARRAY"}


def flow(name: str, job: dict[str, Any]) -> str:
    params = {key: {"type": KINDS[type(each)], "value": each} for key, each in job.items()}
    params = {"isolation": {"type": "STRING", "value": "process"}, **params}
    backoff = {"type": "FIXED_BACKOFF", "platform_retry_backoff_in_secs": 1}
    policy = {"error_retry_limit": 0, "platform_retry_limit": 1, "backoff": backoff}
    step = {"id": "s", "type": "Python", "retry_policy": policy, "params": params}
    return json.dumps({"workflow": {"id": name, "steps": [{"step": step}]}})


def results(
    jobs: dict[str, dict[str, Any]], import_within: float = 60.0, **options: Any
) -> dict[str, RunResult[Any]]:
    """How each of them ends, as the only step of a workflow."""

    async def work() -> dict[str, RunResult[Any]]:
        limits = WorkerLimits(size=2, memory=512 * 1024 * 1024, import_within=import_within)
        async with Engine("memory", workers={"default": limits}, stop_within=5, **options) as engine:
            made = {}
            for name, job in jobs.items():
                (definition,) = parse_all(flow(name, job))
                made[name] = await engine.submit(definition)
            return {name: await run.wait(90) for name, run in made.items()}

    return asyncio.run(work())


ONCE, TWICE = 1, 2  # only what is the platform's fault is tried again here
WRONG = {
    "missing module": ("nowhere:f", ONCE, "there is no module `nowhere` where the workers run"),
    "missing function": (f"{HERE}:nothing", ONCE, "there is no `nothing` in it"),
    "no function": (f"{HERE}:HERE.x", ONCE, "there is no `HERE` in it"),
    "import that exits": (
        "tests.flow_engine.leaves:f",
        ONCE,
        "can not be imported: SystemExit: 7",
    ),
    "an error": (f"{HERE}:fails", ONCE, "ValueError: no such table"),
    "no JSON": (f"{HERE}:not_json", ONCE, "can not be stored"),
    "100 MB": (f"{HERE}:too_large", ONCE, "is too large, with 104,857,602 bytes"),
    "exit": (f"{HERE}:exits", ONCE, "SystemExit: 3"),
    "hard exit": (f"{HERE}:exits_hard", TWICE, "exit code 3"),
    "killed": (f"{HERE}:killed", TWICE, "SIGKILL"),
    "segmentation fault": (f"{HERE}:crashes", TWICE, "SIGSEGV"),
    "no memory": (f"{HERE}:eats", TWICE, "memory"),
}


def named(function: str, **params: Any) -> dict[str, Any]:
    return {"entrypoint": f"{HERE}:{function}", **params}


def test_what_is_wrong_is_told() -> None:
    found = results({f"w{place}": {"entrypoint": each[0]} for place, each in enumerate(WRONG.values())})
    for (name, (_, tries, text)), result in zip(WRONG.items(), found.values(), strict=True):
        step = result.steps["s"]
        assert (step.status, result.status) == ("FATALLY_FAILED", "FAILED"), name
        assert step.attempt == tries, (name, step.error)
        assert text in str(step.error), name
        assert "Traceback" not in str(step.error)


def test_an_import_that_hangs_is_given_up() -> None:
    found = results({"w": {"entrypoint": "tests.flow_engine.hangs:f"}}, import_within=1.0)
    step = found["w"].steps["s"]
    assert (step.status, step.attempt) == ("FATALLY_FAILED", ONCE)
    assert "was not imported within 1 s" in str(step.error)


def test_the_traceback_is_in_the_log(tmp_path: Path) -> None:
    config = {"runtimes.logs": str(tmp_path)}
    found = results({"w": named("fails")}, config=config)
    assert "awkward.py" in found["w"].steps["s"].artifacts["python"]["traceback"]
    (file,) = tmp_path.rglob("*.pack")
    assert "Traceback" in file.read_text()
    assert "ValueError: no such table" in file.read_text()


def test_a_function_sees_its_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = named("told", n=4, word="hello", more=5, result="")
    found = results({"w": job}, config={"runtimes.logs": str(tmp_path)})
    step = found["w"].steps["s"]
    assert (step.status, step.value) == ("SUCCEEDED", "s 4 hello 1")
    assert step.artifacts["progress"]["text"] == "half"
    assert "noted" in [line.text for line in step.timeline]
    (file,) = tmp_path.rglob("*.pack")
    lines = [line.split(" ", 3) for line in file.read_text().splitlines() if not line.startswith("#")]
    assert sorted((stream, text) for _, stream, _, text in lines) == [
        ("log", "INFO logged hello"),
        ("stdout", "printed hello"),
    ]
    assert "printed hello" in capsys.readouterr().out


def test_only_workers_import_it() -> None:
    before = set(sys.modules)
    assert results({"w": {"entrypoint": "tests.flow_engine.apart:answer", "result": 0}})["w"].value is None
    assert "tests.flow_engine.apart" not in set(sys.modules) - before


def test_arguments_that_do_not_fit() -> None:
    jobs: dict[str, dict[str, Any]] = {
        "lost": named("whole"),
        "kind": named("whole", n="many"),
        "shape": {"entrypoint": "nonsense"},
    }
    found = {name: str(each.steps["s"].error) for name, each in results(jobs).items()}
    assert "needs `n`: the step has no such parameter" in found["lost"]
    assert "an argument of" in found["kind"]
    assert "`nonsense` is not `module:function`" in found["shape"]


def test_packages_that_are_asked_for() -> None:
    asked: dict[str, Any] = {
        "there": ["msgspec>=0.1", "pytest"],
        "one": "pytest",
        "other": ["numpyx; sys_platform == 'nowhere'"],
        "missing": ["numpyx", "msgspec>99"],
        "words": ["?!"],
    }
    script = {"script": "result = 1", "result": 0}
    jobs = {name: {**script, "requirements": each} for name, each in asked.items()}
    jobs["here"] = {**script, "requirements": ["numpyx"], "isolation": "thread"}
    found = {name: each.steps["s"] for name, each in results(jobs).items()}
    assert [name for name, each in found.items() if each.status == "SUCCEEDED"] == ["there", "one", "other"]
    assert "there is no numpyx; msgspec is" in str(found["missing"].error)
    assert "pip install 'numpyx' 'msgspec>99'" in str(found["missing"].error)
    assert "`?!` in `requirements` names no package" in str(found["words"].error)
    assert "there is no numpyx" in str(found["here"].error)


def test_scripts_and_functions_of_steps_have_a_context_in_threads_too() -> None:
    jobs = {
        "script": {"script": "ctx.note('noted'); result = n + 1", "n": 1, "result": 0, "isolation": "thread"},
        "named": named("told", n=1, result="", isolation="thread"),
    }
    found = results(jobs)
    assert found["script"].steps["s"].value == 2
    assert "noted" in [line.text for line in found["script"].steps["s"].timeline]
    assert found["named"].steps["s"].value == "s 1 none 1"


def test_modules_that_may_be_imported() -> None:
    config = {"runtimes.modules": "tests.flow_engine.apart,shop"}
    jobs = {"inside": {"entrypoint": "tests.flow_engine.apart:answer"}, "outside": named("whole", n=1)}
    found = results(jobs, config=config)
    assert found["inside"].succeeded
    error = str(found["outside"].steps["s"].error)
    assert error == f"`{HERE}` may not be imported here; allowed: shop, tests.flow_engine.apart"


def test_much_output_is_no_error(tmp_path: Path) -> None:
    config = {"runtimes.logs": str(tmp_path), "runtimes.log_size": "1MB"}
    found = results({"w": named("prints_much", result=0)}, config=config)
    assert found["w"].steps["s"].value == 1
    assert sum(each.stat().st_size for each in tmp_path.rglob("*") if each.is_file()) < 2_000_000


def test_a_child_that_outlives_its_parent_is_ended() -> None:
    step = results({"w": named("leaves", result=0)})["w"].steps["s"]
    assert step.status == "SUCCEEDED"
    assert any("a process running" in line.text for line in step.timeline)
    assert not lives(step.value)
