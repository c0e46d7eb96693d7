"""For tests, ours and users'.

harness              workflows in virtual time, with crashes on demand: start here
shapes, working      short words for definitions, and for what the work of steps does
clock, faults        a clock that is moved by hand, and a store that goes wrong when it is told to
store_suite          what every store must pass
scheduler, hosting   virtual time, and a node that is driven by it; flows: runs in memory, compared
"""
