"""Which file belongs to which launch. Every system can have such names, and tell them apart."""

import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from os import scandir
from pathlib import Path
from typing import Final, NamedTuple

from stretto.engine.records import AttemptKey

MOST_CHARACTERS: Final = 80
HASH: Final = 20  # hexadecimal digits
_SPECIAL: Final = re.compile(rb"[^a-zA-Z0-9_.-]|^\.|\.\Z")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)  # by Windows
_FILE: Final = re.compile(
    r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})(?:\.from([0-9]{1,18}))?\.log", re.ASCII
)


class Part(NamedTuple):
    """A file of a launch. Parts of one attempt sort as they were written."""

    attempt: int
    generation: int
    take: int
    begin: int = 0  # bytes that the launch had printed before

    @property
    def name(self) -> str:
        since = f".from{self.begin}" if self.begin else ""
        return f"{self.attempt}.{self.generation}.{self.take}{since}.log"


def part_of(name: str) -> Part | None:
    """What a file is, by its name; None: it is none of ours."""
    found = _FILE.fullmatch(name)
    return None if found is None else Part(*(int(each or 0) for each in found.groups()))


def parts_in(folder: Path, attempt: int) -> list[Part]:
    """The files of an attempt that are there now, in order."""
    return sorted(part for part in _parts(folder) if part.attempt == attempt)


def _parts(folder: Path) -> Iterator[Part]:
    with suppress(OSError), scandir(folder) as entries:
        for entry in entries:
            part = part_of(entry.name)
            if part is not None:
                yield part


def folder_of_step(folder: Path, attempt: AttemptKey) -> Path:
    """Where the files of an attempt are, and those of the other attempts of its step in this run."""
    run = attempt.run
    return folder / safe(run.workflow_id) / str(run.instance_id) / str(run.run_id) / safe(attempt.step_id)


def safe(text: str) -> str:
    """A name for a folder: the text itself if that is possible. Two texts never have the same, not even where
    large and small letters are one.
    """
    data = text.encode(errors="surrogatepass")
    name = _SPECIAL.sub(_quoted, data).decode() or "%"
    if len(name) > MOST_CHARACTERS or name != name.lower():
        # No other name has a `~`.
        name = f"{name[: MOST_CHARACTERS - HASH - 1]}~{sha256(data).hexdigest()[:HASH]}"
    return f"%{ord(name[0]):02x}{name[1:]}" if _RESERVED.fullmatch(name) else name


def _quoted(found: re.Match[bytes]) -> bytes:
    return b"%%%02x" % found[0][0]
