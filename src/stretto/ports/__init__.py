"""What the core asks of the world: prose with signatures, and no behaviour.

    clock      what time it is                       runtime    how the work of a step is done
    observer   who wants to know                     failures   how transactions fail
    hints      notices that may be lost
    store      everything that is kept; it joins:
        workflows  versions, properties, activation          runs       start, restart, dequeue
        commit     what a node decided, many flows at once   groups     nodes, beats, leases
        loading    what an owner reads after a claim         outbox     messages
        permits    tags and who holds them                   signals    announcements, waits, joins
        triggers   what starts workflows by itself           work       attempts for pools
        events     the change log and its sinks              history    runs and attempts, for readers
        breakpoints, templates                               retention  what may be forgotten

Public for authors of runtimes and programs, with the names in their `__all__`: `runtime`, `fence`, `clock`,
`observer`, `logs`, `hints`, `failures`, and `Store` of `store`. The modules that `store` joins, with their
rows, are public for authors of stores and may change in each minor version. Others are internal.

Reads take a selection: a type that says what is wanted, beside the protocol whose method takes it. A new way
to ask is a new selection, and a method is added for a new concept only: each is paid for in prose, SQL,
memory and the suite. Rules that all stores follow are pure functions here. Nothing here imports a store, a
node or an action.

Who implements a store reads these files and makes `stretto.testing.store_suite` pass. A method is one
transaction unless it says that it only reads. What is said in `failures` holds for all of them.
"""
