"""Writes the tables and the plot of the documentation again: python -m benchmarks.report."""

from benchmarks.report.page import write

if __name__ == "__main__":
    write()
