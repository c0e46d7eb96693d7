"""How a parameter fails: one error, which names the parameter and whose `fault` says what went wrong."""

from collections.abc import Sequence
from enum import StrEnum

from stretto.model.errors import InvalidRequest
from stretto.sel import BUDGET


class Fault(StrEnum):
    """What is wrong with a parameter. A caller decides by it; the message is for people."""

    WRONG_TYPE = "wrong-type"  # a value can not become what the parameter is declared to be
    NOT_A_NUMBER = "not-a-number"  # a text that should be a number is not
    OUT_OF_RANGE = "out-of-range"  # a number that Maestro's parameters do not have
    NOT_CHANGEABLE = "not-changeable"  # the mode forbids this change
    WEAKER_MODE = "weaker-mode"  # a mode may only become stricter
    SYSTEM_FIELD = "system-field"  # `source` and `internal_mode` belong to the system
    NOT_A_LITERAL = "not-a-literal"  # members can not be merged into a map that an expression makes
    REQUIRED = "required"  # nobody gave a value
    RESERVED_NAME = "reserved-name"
    TOO_MANY = "too-many"
    TOO_LARGE = "too-large"
    UNKNOWN_REFERENCE = "unknown-reference"  # no parameter, step or signal has that name
    NOT_EVALUATED = "not-evaluated"  # the referenced parameter has no result yet
    AMBIGUOUS_REFERENCE = "ambiguous-reference"  # `a___b` can be read in two ways, or in none
    CYCLE = "cycle"
    EXPRESSION = "expression"  # the expression could not be read or evaluated
    VALIDATOR = "validator"  # the value breaks the parameter's own rule, or the rule can not be read
    UNDECLARED_OUTPUT = "undeclared-output"


class ParamError(InvalidRequest):
    """A parameter that can not be merged, evaluated or accepted.

    `limit` names the limit of the expression language that was reached, if that is what happened: then the
    same evaluation may succeed elsewhere, with more.
    """

    id = "invalid-parameter"

    def __init__(
        self, fault: Fault, param: str, message: str, *, details: Sequence[str] = (), limit: str | None = None
    ) -> None:
        super().__init__(message, details=details)
        self.fault = fault
        self.param = param
        self.limit = limit


def out_of_range(name: str, why: str) -> ParamError:
    """The error of a value that parameters of workflows with Maestro's semantics do not have."""
    hint = "workflows with the semantics STRETTO hold it"
    return ParamError(Fault.OUT_OF_RANGE, name, f"Param [{name}] {why}: {hint}")


def too_expensive(name: str) -> ParamError:
    """The error of a parameter that needs more than all parameters of a run may take together."""
    message = (
        f"Param [{name}] takes more steps or memory than the parameters of a run may take together (settings"
        " `params.visits` and `params.memory`): compute it in a step"
    )
    return ParamError(Fault.EXPRESSION, name, message, limit=BUDGET)
