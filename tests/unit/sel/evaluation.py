"""Short ways to evaluate a script in a test."""

from typing import Any

import pytest

from stretto.sel import Environment, Kind, Limits, SelError, compile_expression
from stretto.sel.text import text_of

NOW = 1_569_018_000_123  # 2019-09-20T22:20:00.123Z


def run(
    script: str, *, now: int | None = NOW, limits: Limits | None = None, host: Any = None, **bindings: Any
) -> Any:
    """The value of a script."""
    environment = Environment(now_millis=now, limits=limits or Limits(), host=host)
    return compile_expression(script).evaluate(bindings, environment)


def shown(script: str, **bindings: Any) -> str:
    """The text of a script's value."""
    return text_of(run(script, **bindings), lambda _: None)


def failure(script: str, *, limits: Limits | None = None, **bindings: Any) -> SelError:
    """The error of a script that must fail."""
    with pytest.raises(SelError) as caught:
        run(script, limits=limits, **bindings)
    return caught.value


def kind(script: str, **bindings: Any) -> Kind:
    """The kind of a script's error."""
    return failure(script, **bindings).kind
