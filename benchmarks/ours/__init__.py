"""Stretto as a program that is measured: `python -m benchmarks.ours noop|async|sync URL`."""
