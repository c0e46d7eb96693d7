"""What a workflow is: ids, statuses and their legal moves, definition and instance records, errors.

    definition records   frozen; what an author wrote, normalised
    runtime records      mutable; what the engine keeps of a run
    wire                 records <-> JSON values, as Maestro's clients expect them

Promise: plain data. No I/O, no clock, no randomness; nothing here decides what a run does next.
"""
