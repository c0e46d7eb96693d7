"""For tests, ours and those of users and of authors of plug-ins.

Public; the names are in the `__all__` of each module:

harness         workflows in virtual time, with crashes on demand: start here
working         what the work of steps does: what a function is told, and work that goes on
clock, faults   a clock that is moved by hand, and a store that goes wrong when it is told to
store_suite     what every store must pass
plugin          the fixtures `stretto` and `stretto_crashes` of pytest

Internal, and changed without notice:

shapes, functions, viewing          short words for definitions; what the harness shows of functions and runs
scheduler, hosting, virtual_loop    virtual time, and a node that is driven by it
"""
