"""Migrations of the schema, run by Alembic: `env` says how, `versions` has one file for each.

A change of the schema is made in two releases (expand, contract): first what the new code needs is added, and
old code goes on; what nobody needs any more is removed by a later release. A number is never used twice.
"""
