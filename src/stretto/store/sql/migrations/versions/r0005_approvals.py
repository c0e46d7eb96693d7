"""What steps ask people: one table more."""

from alembic import op

from stretto.store.sql.migrations.scripts import statements_of

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    for statement in statements_of(revision, connection.dialect.name):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    op.get_bind().exec_driver_sql("DROP TABLE approval")
