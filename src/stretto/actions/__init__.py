"""Everything a user can ask for, one file each: load, ask the core, commit, answer.

    from stretto.actions.start import start

    await publish(store, caller, definition)                        -> WorkflowCreateResponse
    await start(store, caller, "daily", "active", request)          -> StartResponse
    await stop(store, caller, "daily", 7)                           -> InstanceActionResponse

An action takes the store, the caller and a request record, and returns a response record. What it decides is
a pure function, which the store calls under the right lock; a decision that lost a race is made again
(`parts.repeat`). Promise: an action that raises has changed nothing. Errors are those of `model.errors`, with
the ids of what they are about.

What is asked of a run that an owner holds travels as a message; who wants to know what became of it brings
`Patience`. Who brings `hints` has the owners told that have something to look for, after the commit; without,
they find it by themselves. Whether the caller may is asked of `parts.access` by each action but those that a
node does by itself. What only reads is in `reading`, and what several actions share in `parts`.
"""
