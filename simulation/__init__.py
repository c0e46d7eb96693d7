"""The simulator: nodes, users and trouble on one database, in virtual time, from a seed.

    seed --> Scenario (definitions, script, inputs, faults) --> World --> violations, counters, story

It runs the very `Node` and `Performer` that ship, over the memory store, without threads and without an event
loop: every ask is a coroutine that the scheduler steps itself, so that a seed fixes each interleaving, delay,
error, crash and pause. After each transaction the invariants are checked over the rows that it touched.
Promise: the same seed is the same run, on every machine and in every process.
"""
