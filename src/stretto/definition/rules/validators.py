"""Validators of parameters: that they can be read. Whether they hold is known only when a run has a value."""

from stretto.definition.rules.visits import Scene
from stretto.model.problem import Code
from stretto.params import ParamError, check_validator


def check_validators(scene: Scene) -> None:
    for name, param, at in scene.params:
        if param.validator is None:
            continue
        try:
            check_validator(name, param)
        except ParamError as error:
            scene.report((at, "validator"), Code.BAD_PARAM, error.message, error.hint)
