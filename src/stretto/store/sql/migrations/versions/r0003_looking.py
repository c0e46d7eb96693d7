"""When triggers of all workflows fire next, and runs by their request id alone: two indexes."""

from alembic import op

from stretto.store.sql.migrations.scripts import statements_of

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    for statement in statements_of(revision, connection.dialect.name):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    op.drop_index("time_trigger_next", "time_trigger")
    op.drop_index("run_uuid", "run")
