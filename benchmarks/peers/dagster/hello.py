"""One op in a job, in process, with an instance that keeps what happened."""

import os
from pathlib import Path

from dagster import DagsterInstance, job, op


@op
def hello() -> str:
    return "Hello, world!"


@job
def greet() -> None:
    hello()


if __name__ == "__main__":
    os.environ["DAGSTER_HOME"] = str(Path.cwd())
    with DagsterInstance.get() as instance:
        print(greet.execute_in_process(instance=instance).output_for_node("hello"))
