"""Proof by force: real processes on real databases, killed, frozen, cut off and filled up.

python -m chaos --store sqlite --kills 20

plays       workflows of every construct, and how their runs must end
ledger      what the work of steps did outside: it refuses who is late
effects     step kinds that write to the ledger
node        a node process                   witness     what it was told to be stored
nodes       starts and ends such processes   databases   starts and ends servers
feeding     users who start, stop, answer and announce
scenarios   the trouble; `mixed`, `storm`: all at once  takeover  the measurement
restarts    users who restart            api         the server of the HTTP API that they ask
schedule    how a schedule was kept      deadly      a run that kills its owner
clock       clocks that can be set, set by `clock_faults`
proxy       between nodes and servers, used by `network_faults`
judging     what must hold in the end        report      what came of it
"""
