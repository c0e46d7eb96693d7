"""Who is to blame for a step that can not be decided: whoever wrote an expression, or we."""

import pytest

from stretto.engine.machine.finish import _blamed_on_user
from stretto.model.details import ErrorStatus
from stretto.model.errors import Internal, InvalidRequest
from stretto.sel import SelError
from stretto.sel.errors import Kind


@pytest.mark.parametrize(
    ("cause", "blamed"),
    [
        (SelError(Kind.UNSUPPORTED, "no such method"), ErrorStatus.BAD_REQUEST),
        (InvalidRequest("no such step"), ErrorStatus.BAD_REQUEST),
        (Internal("a fault of ours"), None),
        (RuntimeError("a fault of ours"), None),
        (None, None),
    ],
)
def test_errors_in_what_somebody_wrote_are_theirs(
    cause: Exception | None, blamed: ErrorStatus | None
) -> None:
    assert _blamed_on_user(cause) is blamed
