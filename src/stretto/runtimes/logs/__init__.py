"""What steps print, in files that a person can read.

    files         `LogFiles`: takes what launches print, and reads it
    folder        where the files of a database are
    names         which file belongs to which run or launch
    records       how a line is written
    sections      how launches share a pack, and how what one has printed is found there
    packs         the packs that this process appends to
    writing       one launch: its beginning in the pack of its run, the rest in files of its own
    reading       an attempt, from its first launch to whatever comes
    forgetting    which files may be deleted

A run has one pack for each process that writes, and a new one every 8 MB; all iterations below a run share
theirs. A launch that prints more than 64 KB has, for the rest, files of its own:

    etl/0k/12.1.w3f9c0a7b11d2.1.pack               instances 0 to 999; instance 12, run 1; writer and number
    %loops/a4/maestro_foreach_1_1c.0k.w3f9c0a7b11d2.1.pack
    etl/12/1/load/1.5.0.w3f9c0a7b11d2.from65012.log  attempt 1, generation 5, take 0, from that byte on
    etl/12/1/load/1.5.0.log                        as releases before packs have written it; still read

Promise: no launch takes more room than it may, in memory or on disk; no trouble with a disk ends a step; a
file has one writer; what was taken is in its file at once, so that it outlives the process.
"""
