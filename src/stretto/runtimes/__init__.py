"""Step kinds: how the work of a step is done.

    built_in      all of them, by the type of their steps
    plugins       those of installed packages
    shell         commands of the machine; `guards` look after their processes
    python        functions, on the loop and in threads
    workers       functions in processes
    logs          what all of them print, in files

The engine itself carries out NoOp, Sleep, Wait and everything that holds other steps; what is here does work.
Promise: work that is ended has ended, with all its processes; none outlives this one.
"""
