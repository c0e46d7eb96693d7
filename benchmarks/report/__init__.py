"""What the documentation shows of the results: tables and a plot, made from `benchmarks/results`.

python -m benchmarks.report
"""
