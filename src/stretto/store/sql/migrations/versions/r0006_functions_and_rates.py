"""The functions that live nodes advertise, and the rates of tags: two tables more."""

from alembic import op

from stretto.store.sql.migrations.scripts import statements_of

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    for statement in statements_of(revision, connection.dialect.name):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    for table in ("advertisement", "tag_rate"):
        op.get_bind().exec_driver_sql(f"DROP TABLE {table}")
