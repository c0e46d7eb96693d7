"""Measurements, each beside a plain way to do the same: `python -m benchmarks [SECTION...]`."""
