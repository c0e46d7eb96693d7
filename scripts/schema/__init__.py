"""The tables, for SQLite, PostgreSQL and MariaDB alike.

    nodes       node, beat, advertisement, flow_group, change_log, sink, counter
    workflows   workflow, workflow_tag, workflow_version, properties, workflow_change, outcome, breakpoint,
                job_template
    functions   job_function, kept_result
    bulk        bulk_job, bulk_item
    runs        run, run_tag, attempt, run_loop, large_doc
    approvals   approval
    messages    outbox, work, tag, tag_rate, permit
    signals     signal_name, signal_instance, signal_wait, signal_trigger, signal_listener, signal_join,
                time_trigger

Texts of SQL are made of them (`scripts.generate`): the migrations, and what a new SQLite file is made of. The
texts are all that is installed. Statements name tables and columns in plain text, and tests prepare each of
them.
"""

from scripts.schema import approvals, bulk, functions, messages, nodes, runs, signals, workflows
from scripts.schema.columns import METADATA

__all__ = ["METADATA", "approvals", "bulk", "functions", "messages", "nodes", "runs", "signals", "workflows"]
