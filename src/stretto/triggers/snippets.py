"""A stretch of a cron text that knows where it stands, so that every complaint can point at it."""

import re
from typing import NamedTuple

from stretto.triggers.dialects import Field
from stretto.triggers.errors import CronError


class Snippet(NamedTuple):
    """`text` as written in `cron` from `column` (counted from 1), read as `field`."""

    text: str
    column: int
    field: Field
    cron: str

    def split(self, separator: str, most: int = -1) -> "list[Snippet]":
        """The stretches between the separators, of which at `most` so many count."""
        stretches = []
        column = self.column
        for text in self.text.split(separator, most):
            stretches.append(self._replace(text=text, column=column))
            column += len(text) + len(separator)
        return stretches

    def group(self, match: re.Match[str], name: str) -> "Snippet | None":
        """What a group of a match of this snippet found."""
        found = match[name]
        return None if found is None else self._replace(text=found, column=self.column + match.start(name))

    def error(self, message: str, hint: str | None = None) -> CronError:
        return CronError(self.cron, self.field.title, self.column, message, hint)
