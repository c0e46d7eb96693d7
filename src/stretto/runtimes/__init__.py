"""Step kinds: how the work of a step is done.

    built_in    all of them, by the type of their steps
    shell       commands of the machine

The engine itself carries out NoOp, Sleep, Wait and everything that holds other steps; what is here does work.
Promise: work that is ended has ended, with all its processes; none outlives this one.
"""
