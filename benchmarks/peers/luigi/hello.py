"""One task with the local scheduler."""

import luigi


class Hello(luigi.Task):
    def output(self) -> luigi.LocalTarget:
        return luigi.LocalTarget("hello.txt")

    def run(self) -> None:
        with self.output().open("w") as said:
            said.write("Hello, world!")


if __name__ == "__main__":
    luigi.build([Hello()], local_scheduler=True)
