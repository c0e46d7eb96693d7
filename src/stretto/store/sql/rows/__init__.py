"""Rows <-> records: which columns a record has, and what is made of them when they are read."""
