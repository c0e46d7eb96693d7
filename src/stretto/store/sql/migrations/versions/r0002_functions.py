"""Functions of programs, and results of theirs that are kept for a while: two tables more."""

from alembic import op

from stretto.store.sql.migrations.scripts import statements_of

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    for statement in statements_of(revision, connection.dialect.name):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    for table in ("job_function", "kept_result"):
        op.get_bind().exec_driver_sql(f"DROP TABLE {table}")
