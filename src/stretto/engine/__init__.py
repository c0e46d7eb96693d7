"""Decide what a run does next.

    event --> decide(flow, event, now) --> Decision(changes, effects, before)

Promise: no clock, no dice, no file, socket or database; the same flow and event give the same answer, for
ever. A decision is applied to the flow whole or not at all; what it changed is listed, and what the outside
must do comes back as effects, to be carried out only after the changes are committed.
"""
