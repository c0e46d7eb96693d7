"""Numbers of bounded size. Digits cost quadratic time, and an exponent can ask for any amount of memory."""

from decimal import Decimal, InvalidOperation

from stretto.model.wire.scalars import MOST_DIGITS, MOST_WHOLE, MOST_WHOLE_DIGITS


class BadNumber(ValueError):
    """NaN, Infinity, or more digits than a number may have."""


def read_int(text: str, base: int = 10) -> int:
    """A whole number of bounded length."""
    if len(text) > MOST_WHOLE_DIGITS:
        message = f"the number has {len(text):,} digits, the limit is {MOST_WHOLE_DIGITS:,}"
        raise BadNumber(message)
    number = int(text, base)
    if not -MOST_WHOLE < number < MOST_WHOLE:  # in hexadecimal
        message = f"the number has more than {MOST_WHOLE_DIGITS:,} digits"
        raise BadNumber(message)
    return number


def read_decimal(text: str) -> Decimal:
    """A number kept digit by digit, of bounded length and size."""
    try:
        number = Decimal(text) if len(text) <= MOST_DIGITS else None
    except InvalidOperation:  # an exponent of more than 18 digits
        number = None
    if number is None or abs(number.adjusted()) > MOST_DIGITS:
        shown = text if len(text) <= 30 else text[:27] + "..."
        message = f"the number {shown} has more than {MOST_DIGITS} digits before or behind the point"
        raise BadNumber(message)
    return number
