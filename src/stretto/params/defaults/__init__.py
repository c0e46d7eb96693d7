"""Maestro's default parameters: of every run, of every step, and of steps of one type."""

from stretto.params.defaults.native import NATIVE_DEFAULTS, NativeDefault, Origin
from stretto.params.defaults.steps import STEP_DEFAULTS, TYPE_DEFAULTS
from stretto.params.defaults.workflow import WORKFLOW_DEFAULTS, for_dry_run

__all__ = [
    "NATIVE_DEFAULTS",
    "STEP_DEFAULTS",
    "TYPE_DEFAULTS",
    "WORKFLOW_DEFAULTS",
    "NativeDefault",
    "Origin",
    "for_dry_run",
]
