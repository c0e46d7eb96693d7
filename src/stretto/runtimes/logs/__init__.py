"""What steps print, in files that a person can read.

    files         `LogFiles`: takes what launches print, and reads it
    folder        where the files of a database are
    names         which file belongs to which launch
    records       how a line is written
    writing       the files of one launch: its beginning and its end
    reading       an attempt, from its first launch to whatever comes
    forgetting    files that are old

Each step of a run has a folder, and in it each launch a file; if it prints much, some more for its end:

    etl/12/1/load/1.5.0.log                the first attempt, generation 5, take 0
    etl/12/1/load/1.5.0.from8388608.log    what it printed from that byte on

Promise: no launch takes more room than it may, in memory or on disk; no trouble with a disk ends a step; two
steps never share a folder.
"""
