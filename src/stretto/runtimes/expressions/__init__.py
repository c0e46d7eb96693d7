"""Processes for expressions that are too long for a decision: an expression can not be stopped otherwise."""
