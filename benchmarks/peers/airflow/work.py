"""Airflow with LocalExecutor on PostgreSQL: DAGs of TaskFlow functions, triggered over its HTTP API."""

from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from time import perf_counter, sleep, time  # noqa: TID251 - Airflow tells moments of the day

from benchmarks.harness.protocol import Answer, serve
from server import DAGS, Api, served, settle

HEAD = """
from airflow.sdk import dag, task

@task
def nothing(number):
    return number

@task
def join(numbers):
    return None

@dag(dag_id="{name}", schedule=None, max_active_runs=1000)
def made():
"""
CHAIN = """
    last = 0
    for place in range({size}):
        last = nothing.override(task_id=f"nothing_{{place}}")(last)
made()
"""
WIDE = """
    join([nothing.override(task_id=f"arm_{{place}}")(place) for place in range({size})])
made()
"""
ITEMS = """
    nothing.expand(number=list(range({size})))
made()
"""
LOOK_EVERY = 0.1


class Work:
    """Runs of DAGs that are written when they are first asked for."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def one(self, body: str, name: str) -> Callable[[int], Answer]:
        def work(size: int) -> Answer:
            dag = self._dag(f"{name}_{size}", body, size)
            begun = perf_counter()
            self._wait(dag, self._trigger(dag))
            return {"seconds": perf_counter() - begun}

        return work

    def many(self, runs: int) -> Answer:
        dag = self._dag("short", CHAIN, 5)
        begun = perf_counter()
        submitted = {}
        for _ in range(runs):
            at = time()
            submitted[self._trigger(dag)] = at
        for run in submitted:
            self._wait(dag, run)
        spent = perf_counter() - begun
        late = [
            seconds(self._api.call("GET", f"/dags/{dag}/dagRuns/{run}")["end_date"]) - at
            for run, at in submitted.items()
        ]
        return {"seconds": spent, "late": late}

    def starts(self, times: int) -> Answer:
        dag = self._dag("first", CHAIN, 1)
        late = []
        for _ in range(times):
            run = self._trigger(dag)
            answered = time()
            self._wait(dag, run)
            path = f"/dags/{dag}/dagRuns/{run}/taskInstances/nothing_0"
            late.append(max(0.0, seconds(self._api.call("GET", path)["start_date"]) - answered))
        return {"late": late}

    def _dag(self, name: str, body: str, size: int) -> str:
        file = DAGS / f"{name}.py"
        if not file.exists():
            file.write_text(HEAD.format(name=name) + body.format(size=size))
        while not self._api.has(f"/dags/{name}"):
            sleep(LOOK_EVERY)
        return name

    def _trigger(self, dag: str) -> str:
        made = self._api.call("POST", f"/dags/{dag}/dagRuns", {"logical_date": None})
        return str(made["dag_run_id"])

    def _wait(self, dag: str, run: str) -> None:
        while (state := self._api.call("GET", f"/dags/{dag}/dagRuns/{run}")["state"]) != "success":
            assert state != "failed", f"{dag} {run} has failed"
            sleep(LOOK_EVERY)


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


if __name__ == "__main__":
    with served(settle()) as (found, ready):
        work = Work(found)
        serve(
            {
                "W1": work.one(CHAIN, "chain"),
                "W2": work.one(WIDE, "wide"),
                "W3": work.many,
                "W4": work.one(ITEMS, "items"),
                "W6": work.starts,
            },
            version=version("apache-airflow"),
            server_ready=ready,
        )
