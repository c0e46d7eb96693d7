"""What Alembic runs. The connection is handed in by `sql.migrating`."""

from alembic import context

from stretto.store.sql.schema import METADATA
from stretto.store.sql.version import TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=TABLE,
    render_as_batch=True,  # SQLite changes a column only by making the table anew
)
with context.begin_transaction():
    context.run_migrations()
