"""What several actions share: loading, the rules of a request, and the ways into the store.

access         may the caller                              firing      runs that triggers ask for
finding        load it, or say that it is not there        repeat      transactions that are made again
admission      starts and restarts -> run strategy         messages    ask the owner of a run, and wait
latest_run     stop, pause ... of a queued or running run   restarting  from a place up to a run that can be
"""
