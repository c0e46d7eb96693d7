"""Stores: what `ports.store` promises, on real databases and in memory.

    opening, settings   which store an address means, and what can be set (`address_settings`: in the address)
    sql                 what all databases share: statements, codecs, migrations, each concern of the port
    sqlite, postgresql, mariadb     what is their own: connections, locks, words, errors
    memory              the whole contract without a disk, for tests, the simulator and `memory://`
    run_snapshots       the plan of `read_runs`, the same for all stores

**Promise.** A method is one transaction, whole or not at all, and sees what was committed before it was
called. Errors are those of `ports.failures`. A store keeps and does not think: rules are pure functions of
`ports` and `engine`, or are handed in.

**Callers.** `app` opens a store; nodes, actions and surfaces call it through the protocol. Nobody imports a
concern of a store but the store that joins it (`sql.store`, `memory.store`).

**What may be touched.** A concern is one file in `sql` and one in `memory`. Whoever changes a method of the
port changes both, and a check in `stretto.testing.store_suite`. Statements have an index each (`tests/ports`
looks at their plans), and tests count them: no list may take more for more rows. Tables change with a
migration only.
"""
