"""`${VAR}` and `${VAR:default}` in the texts of a file; `$${` stands for `${` itself.

No message shows what a variable holds, or a default: either may be a password.
"""

import re
from collections.abc import Mapping
from typing import Final

from stretto.config.kinds import printable, shortened
from stretto.config.problems import BadValue, ConfigCode

_OPENING: Final = "${"
_PLACE: Final = re.compile(r"\$\$\{|\$\{([^}]*)(\}?)")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def has_variables(text: str) -> bool:
    """Whether a text names a variable, or tries to."""
    return _OPENING in text


def filled_in(text: str, variables: Mapping[str, str]) -> str:
    """The text with the values of its variables. Raises BadValue."""

    def value(place: re.Match[str]) -> str:
        if place[1] is None:
            return _OPENING
        name, colon, default = place[1].partition(":")
        shown = printable(shortened(name))
        if not place[2]:
            raise BadValue(
                ConfigCode.BAD_VARIABLE, f"`${{{shown}` has no `}}`", "`$${` stands for `${` itself"
            )
        if not _NAME.fullmatch(name):
            message = f"`{shown}` is not the name of a variable"
            raise BadValue(ConfigCode.BAD_VARIABLE, message, "write `${VAR}` or `${VAR:default}`")
        if default.startswith("-"):
            message = f"`${{{name}:-...}}` is how a shell writes it"
            raise BadValue(ConfigCode.BAD_VARIABLE, message, f"write `${{{name}:...}}`, without the dash")
        if name in variables:
            return variables[name]
        if not colon:
            message = f"the variable `{name}` is not set"
            raise BadValue(ConfigCode.MISSING_VARIABLE, message, f"set it, or write `${{{name}:default}}`")
        return default

    return _PLACE.sub(value, text)
