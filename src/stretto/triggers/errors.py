"""What can be wrong with a time trigger. Each error is a sentence, and a way out where one is known."""


class TriggerError(ValueError):
    """A text of a time trigger that cannot be understood: `str()` is the sentence and the hint."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint


class CronError(TriggerError):
    """A cron expression that is wrong in one place: `column` counts from 1 in `text`."""

    def __init__(
        self, text: str, field: str | None, column: int, message: str, hint: str | None = None
    ) -> None:
        place = f"{field} (column {column})" if field else f"column {column}"
        super().__init__(f"cron `{text}`, {place}: {message}", hint)
        self.text = text
        self.field = field
        self.column = column


class ZoneError(TriggerError):
    """A time zone that nobody knows."""


class UnsupportedTriggerError(TriggerError):
    """A trigger that can be written down but has no next fire time."""
