"""A node: a process that owns flow groups, decides for the runs in them, and only then acts.

Any number of nodes share a database. Each run belongs to one of 128 flow groups, and a group has one owner at
a time, by a lease with a generation number. `docs/explanation/node.md` gives the reasons for what this page
says.

What it promises
    Nothing is done before it is stored: effects of a decision begin once its commit has succeeded.
    Nothing is stored for a group but under its current generation, by its owner: the store checks it.
    Nothing that matters is in memory only: a node may crash at any moment, and its groups go on elsewhere.
    No work begins on a node that knows that it was declared dead, or does not trust its leases, however long
    the call of a runtime has waited (`ports.fence`).
    A message of the outbox is consumed once, by the transaction that holds its effect.
    A run that can not be read, decided or stored harms no other; one that kills its owners is set aside.

States of a node (`membership`, `ownership`, `machine`)
    joining    asks to join under a new id. Refused: it takes another one.
    owning     sends a beat every 2 s; claims its share of the groups, looks again every 10 s, and gives up
               what it has above its share. Within that state:
      trusting   an answered beat was sent less than 8 s ago. Only then it claims, fetches messages, commits,
                 carries out effects, fires triggers, calls runtimes and gives groups up.
      not trusting   none of that begins. Work that runs goes on; the next answered beat restores the trust.
    buried     the answer to a beat says that others have declared it dead. It drops what it has in memory,
               ends its work, and joins again under another id.
    stopping   gives all groups up, takes no launches of other nodes, and lets work end for 30 s; then it
               leaves. If it can not say so before its trust would be over, it goes all the same, and others
               bury it.

States of a group that is owned (`group.GroupState`)
    LOADING    claimed; which runs are in it is being read
    READY      decided for
    LEAVING    takes nothing new; is given up once everything in it is committed
    GOING      is being given up: the next owner may have it already

The trust window
    A lease counts for 8 s from the moment before a beat was sent, on a steady clock. The store lets a beat
    expire after 10 s, on the database's clock. Others bury a node if they have seen the same beat for 8 s (or
    the trust, if that is longer) and it has expired, or for 20 s; or at once, if they see that its process on
    their machine has ended. So trust is over before a burial, also if somebody sets the database's clock.

Transactions, by their names in `ports`
    join, beat, bury, claim, give up, leave      groups     membership and leases
    fetch, postpone, report, withdraw            outbox     messages: none is lost, none is applied twice
    commit                                       commit     what was decided, for many runs and groups
    transact                                     runs       children, queued runs, fires of triggers
    grant                                        permits    for all tags of an attempt, or none
    announce, match                              signals    signals of steps, triggers that join signals

Who calls whom
    `app` builds a `Node` (the machine), a `Performer` and a `Driver`. The driver calls the node (`begin`,
    `answered`, `failed`, `hinted`, `reported`, `functions_changed`, `wake`, `stop`), takes its asks, and lets
    the performer answer them. The simulator and the test harness are other drivers of the same two. Nobody
    else calls a node: what users do is written to the store, and hinted. `retention` runs beside the node
    that owns the first group.

Who touches what
    Node and its parts   the driver's thread alone; synchronous, without I/O, a clock or dice of their own
    Flow, records        changed by `decider`, inside `decide`, and replaced by `loader`. Performers only read
                         them. They are never ahead of a commit of their group that is under way.
    Draft                made by `decider`, `messages` and `loader`, sent by `committer`
    Job                  `jobs`; a runtime sees its context and its fence
    Trust, fences        extended by `membership`, read in any thread; worker processes are told how long
    Store, hints         the performer, which keeps nothing but what can be read again

Modules
    machine      membership, ownership, messages, loader, crash_guard, decider, effects, effect_queue,
                 committer, launches, jobs, timers, permits; they share context and owned_groups
    in hand      group, entry, draft; summary and change_log say what is stored about them
    between      asks, which name the method that performs each; answers
    performer    and perform: all I/O
    around       driver, clock, process, settings, retention
"""
