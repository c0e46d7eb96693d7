"""The first schema."""

from alembic import op

from stretto.model.errors import PreconditionFailed
from stretto.store.sql.migrations.scripts import statements_of

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    for statement in statements_of(revision, connection.dialect.name):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise PreconditionFailed("there is no schema before the first", hint="restore a backup")
