"""Text <-> definition: JSON, Maestro's YAML, plain YAML and the task engine's YAML; validation; the graph.

    text --read--> JSON value --forms--> Maestro's JSON model --decode--> Definition --rules--> problems

Promise: no file is read here, it is given text. Every problem is found in one pass and has a code, a path,
a place in the text and, where we know one, the way out. Time and memory are bounded by `Limits`.
"""

from stretto.definition.limits import MAESTRO_LIMITS, Limits
from stretto.definition.parse import Checked, check, load, parse, parse_all
from stretto.definition.printing import to_json, to_yaml
from stretto.definition.validate import validate, validate_properties

__all__ = [
    "MAESTRO_LIMITS",
    "Checked",
    "Limits",
    "check",
    "load",
    "parse",
    "parse_all",
    "to_json",
    "to_yaml",
    "validate",
    "validate_properties",
]
