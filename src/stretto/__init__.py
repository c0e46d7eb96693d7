"""Stretto: a workflow orchestrator that starts on a laptop and ends on a cluster."""

__version__ = "0.1.0"
