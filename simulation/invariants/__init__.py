"""What must hold after every transaction, whoever made it. The numbers are those of the protocol.

leases   I1           who may write: only under the current generation, and generations only grow
rows     I4 to I7     phases and statuses never go back; an attempt ends once; a run is launched once; and a
                      launch stays on its node
order                 no step begins before those in front of it are complete, and none without an edge
queues   I7           run strategies hold; one run for each request; one unfinished run of each instance
permits  I10          never above the limit when granted, all or none, gone with the attempt
rates    I10, I20     in the time of a rate never more starts than it says; nobody waits longer
alarms   I20          a timer that is set rings on the steady clock, wherever another one leaps
letters  I9, I13      no message is lost, and none goes before its effect is there
history  I14          the change log has no gap, and tells of every change in order
memory   I2           what an owner believes is what is stored
triggers I12, I17     each set of signals, and each moment of a schedule, has started one run; no signal is
                      announced twice
forgetting I15        only what has ended long ago goes, and nobody needs it any more
ending   I8 ... I13   in the end every run has ended, and nothing is left over
pauses   I18          nothing begins in a paused run, and what belongs to it is paused with it
ends     I21          once a loop is being ended, nothing begins in it
undo     I16          what succeeded in a run that ended badly is undone once, or the run says why not
"""
