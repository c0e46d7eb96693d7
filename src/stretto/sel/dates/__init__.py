"""Dates with the meaning of Joda-Time, computed on plain integers: no clock, and any year."""
