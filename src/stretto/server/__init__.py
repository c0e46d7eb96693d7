"""The server: a node, the HTTP API and their sockets in one process. `stretto serve` is a thin caller of it.

    options = ServerOptions(url="sqlite:///work.db", caller=caller, flows=(nightly,))
    code = run(serve(options))

lifecycle                    `serve` and its options: from the first socket to the last hand-over
state                        what the routes share
functions                    steps and handlers in Python that this process knows
roles                        what a process does: the API, the engine, the schedules
interrupts, stop_deadline    how it is asked to stop, and when it has stopped at the latest
file_limit                   how many files it may have open
"""
