"""The step state machine: one function per status, joined by the table of moves.

begin     a step whose predecessors are all complete gets its first attempt
advance   an attempt goes from status to status until it waits for something outside
report    what the runtime says becomes a status, or another attempt
finish    a step is complete: its edges are decided and its successors begin; a run ends
ask       what users ask of steps and runs
"""
