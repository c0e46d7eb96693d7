"""What `stretto serve` does.

session    from the first socket to the last hand-over
roles      what a process does: the API, the engine, the schedules
telling    what a person sees of it
"""
