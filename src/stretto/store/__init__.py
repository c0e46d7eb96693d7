"""Stores: what the ports promise, on real databases and in memory. They keep, and do not think."""
