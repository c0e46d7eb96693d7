"""How the asks of a node are performed, one file per concept. Each ask names its method (`node.asks`).

runs, earlier             runs in memory again, from their rows     runtimes     the work of steps
values                    what evaluations are missing              messages     outbox messages about no run
children, signals,        effects on our own database               queues       queued runs, permits, due
breakpoints                                                                      triggers, sweeps

Nobody here repeats what failed, but for loops that the protocol describes: the node decides about that.
Nothing waits for anything but the store, a runtime or an evaluator, so that any scheduler can drive it.
"""
