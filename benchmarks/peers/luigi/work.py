"""Luigi with its local scheduler: a task is done when its marker file is there; nothing else is kept."""

import logging
import os
from collections.abc import Iterator
from importlib.metadata import version
from itertools import count
from pathlib import Path
from time import perf_counter

import luigi
from benchmarks.harness.protocol import Answer, serve

FOLDER = Path(os.environ["BENCH_FOLDER"])
ROUNDS = count(1)


class Marked(luigi.Task):
    """A task that does nothing but mark that it was done."""

    series = luigi.IntParameter()

    def output(self) -> luigi.LocalTarget:
        return luigi.LocalTarget(str(FOLDER / str(self.series) / self.task_id))

    def run(self) -> None:
        with self.output().open("w") as mark:
            mark.write("done")


class Link(Marked):
    """A step of a chain."""

    chain = luigi.IntParameter()
    number = luigi.IntParameter()

    def requires(self) -> Iterator[luigi.Task]:
        if self.number:
            yield Link(series=self.series, chain=self.chain, number=self.number - 1)


class Arm(Marked):
    number = luigi.IntParameter()


class Join(Marked):
    """After all arms."""

    width = luigi.IntParameter()

    def requires(self) -> Iterator[luigi.Task]:
        for number in range(self.width):
            yield Arm(series=self.series, number=number)


def built(tasks: list[luigi.Task]) -> Answer:
    begun = perf_counter()
    assert luigi.build(tasks, local_scheduler=True, log_level="ERROR")
    return {"seconds": perf_counter() - begun}


def chains(length: int) -> Answer:
    return built([Link(series=next(ROUNDS), chain=0, number=length - 1)])


def fan_out(width: int) -> Answer:
    return built([Join(series=next(ROUNDS), width=width)])


def runs(number: int) -> Answer:
    series = next(ROUNDS)
    return built([Link(series=series, chain=chain, number=4) for chain in range(number)])


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    work = {"W1": chains, "W2": fan_out, "W3": runs, "W4": fan_out}
    serve(work, version=version("luigi"))
