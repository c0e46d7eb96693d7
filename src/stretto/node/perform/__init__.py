"""How the asks of a node are carried out, one file per concern. `node.performer` knows who does what.

loading, definitions, earlier      runs in memory again           runtimes, results       the work of steps
fetching, collected                what evaluations miss          evaluating              long expressions
children, child_restart, signals,  effects on our own database    dealing, looking        messages, queues,
breakpoints                                                                               tags, timers

Nobody here repeats what failed, but for loops that the protocol describes: the node decides about that.
Nothing waits for anything but the store, a runtime or an evaluator, so that any scheduler can drive it.
"""
