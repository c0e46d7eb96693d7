"""What all measurements share: programs that are asked for work, databases, targets, results, tables, plots.

protocol    what a program that is measured says and hears; peers use it in environments of their own
program     the other end: starts a program, asks it, and watches its memory
workloads   W1 to W6: sizes and units
databases   SQLite files, PostgreSQL and Redis with their durable defaults
targets     what is to be reached
results     figures with the commit and the versions that they belong to
"""
