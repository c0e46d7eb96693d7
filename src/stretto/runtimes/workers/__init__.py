"""Python functions in processes of their own, which can be ended whatever they do.

    engine --- one socket --- fork server: a small process without threads, which forks workers
       |                           |
       '--- a socket each ------ workers: call functions, one after the other

    calls         what a function is called with, and what becomes of its answer, on the engine's side
    pool          who waits for a worker, who has one, and how a call is ended; `Workers` are all pools
    limits, sink  what the workers of a pool may use; where goes what they print
    process       a worker as the engine sees it; `server` is the fork server
    fork_server   the process that forks, watches over memory, and ends what is left
    worker        the process that calls; `calling`, `loading` and `context` are its parts

Promise: a call that was ended has ended, with every process that it started; when the engine dies, by
whatever means, its workers and their descendants die within two seconds. A worker that dies takes no other
with it.
"""
