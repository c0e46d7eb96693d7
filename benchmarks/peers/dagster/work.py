"""Dagster in process, with its instance on SQLite: ops in jobs, `execute_in_process`, dynamic outputs."""

import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from time import perf_counter

import dagster
from benchmarks.harness.protocol import Answer, serve
from dagster import DagsterInstance, DynamicOut, DynamicOutput, In, JobDefinition, job, op

os.environ["DAGSTER_HOME"] = os.environ["BENCH_FOLDER"]


@op
def source() -> int:
    return 0


@op
def nothing(number: int) -> int:
    return number


@op(ins={"arms": In(list[int])})
def join(arms: list[int]) -> int:
    return len(arms)


@op(out=DynamicOut(int), config_schema={"count": int})
def numbers(context: dagster.OpExecutionContext) -> Iterator[DynamicOutput[int]]:
    for number in range(context.op_config["count"]):
        yield DynamicOutput(number, mapping_key=str(number))


@cache
def chain(length: int) -> JobDefinition:
    @job(name=f"chain_{length}", executor_def=dagster.in_process_executor)
    def made() -> None:
        last = source()
        for place in range(length - 1):
            last = nothing.alias(f"nothing_{place}")(last)

    return made


@cache
def wide(width: int) -> JobDefinition:
    @job(name=f"wide_{width}", executor_def=dagster.in_process_executor)
    def made() -> None:
        join([source.alias(f"arm_{place}")() for place in range(width)])

    return made


@job(executor_def=dagster.in_process_executor)
def items() -> None:
    numbers().map(nothing)


@cache
def instance() -> DagsterInstance:
    return DagsterInstance.get()


def timed(made: JobDefinition, times: int = 1, **config: object) -> Answer:
    begun = perf_counter()
    for _ in range(times):
        assert made.execute_in_process(instance=instance(), **config).success
    return {"seconds": perf_counter() - begun}


def loop(count: int) -> Answer:
    return timed(items, run_config={"ops": {"numbers": {"config": {"count": count}}}})


if __name__ == "__main__":
    work = {
        "W1": lambda length: timed(chain(length)),
        "W2": lambda width: timed(wide(width)),
        "W3": lambda runs: timed(chain(5), runs),
        "W4": loop,
    }
    serve(work, version=version("dagster"))
