"""Which file holds the output of which launch. The names are valid, and distinct, on every file system."""

import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from os import scandir
from pathlib import Path
from typing import Final, NamedTuple

from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey, RunKey

MOST_CHARACTERS: Final = 80
HASH: Final = 20  # hexadecimal digits
PER_FOLDER: Final = 1_000  # instances whose packs share a folder; iterations that share a pack
LOOPS: Final = "%loops"  # the folder for iterations; `safe` makes no such name
_SPECIAL: Final = re.compile(rb"[^a-zA-Z0-9_.-]|^\.|\.\Z")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)  # by Windows
_FILE: Final = re.compile(
    r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})(?:\.w([0-9a-f]{1,40}))?(?:\.from([0-9]{1,18}))?\.log",
    re.ASCII,
)
_PACK: Final = re.compile(
    r"(?P<stem>.+)\.w(?P<writer>[0-9a-f]{1,40})\.(?P<number>[0-9]{1,18})\.pack", re.ASCII
)


class Part(NamedTuple):
    """A file of one launch alone. Releases before packs wrote only such files, without a writer."""

    attempt: int
    generation: int
    take: int
    begin: int = 0  # bytes that the launch had printed before
    writer: str = ""  # the process that wrote it

    @property
    def name(self) -> str:
        writer = f".w{self.writer}" if self.writer else ""
        since = f".from{self.begin}" if self.begin else ""
        return f"{self.attempt}.{self.generation}.{self.take}{writer}{since}.log"


def part_of(name: str) -> Part | None:
    """The file that has this name; None: it is not a file of a launch."""
    found = _FILE.fullmatch(name)
    if found is None:
        return None
    attempt, generation, take, writer, begin = found.groups()
    return Part(int(attempt), int(generation), int(take), int(begin or 0), writer or "")


def parts_in(folder: Path, attempt: int) -> list[Part]:
    """The files of an attempt's launches that exist now, sorted."""
    found = map(part_of, _names_in(folder))
    return sorted(part for part in found if part is not None and part.attempt == attempt)


def folder_of_step(folder: Path, attempt: AttemptKey) -> Path:
    """The folder for files of an attempt's own, and those of the other attempts of its step in this run."""
    run = attempt.run
    return folder / safe(run.workflow_id) / str(run.instance_id) / str(run.run_id) / safe(attempt.step_id)


# ------------------------------------------------------------------------------------------------------ packs
class PackPlace(NamedTuple):
    """Where the packs of a run are: all of them, whoever wrote them, have this folder and stem."""

    folder: Path
    stem: str

    def file(self, writer: str, number: int) -> Path:
        return self.folder / f"{self.stem}.w{writer}.{number}.pack"

    def files(self) -> list[Path]:
        """The packs that exist now."""
        begin = f"{self.stem}.w"
        names = [name for name in _names_in(self.folder) if name.startswith(begin)]
        return [self.folder / name for name in sorted(names) if _PACK.fullmatch(name) is not None]


def packs_of(folder: Path, run: RunKey) -> PackPlace:
    """A run of a workflow has packs of its own. All iterations below one such run share theirs: the ids of
    their inline workflows differ only behind the last underscore.
    """
    block = f"{run.instance_id // PER_FOLDER}k"
    if not is_inline(run.workflow_id):
        return PackPlace(folder / safe(run.workflow_id) / block, f"{run.instance_id}.{run.run_id}")
    shared = safe(run.workflow_id.rpartition("_")[0])
    return PackPlace(folder / LOOPS / sha256(shared.encode()).hexdigest()[:2], f"{shared}.{block}")


def writer_of_pack(name: str) -> str | None:
    """The process that wrote a pack; None: the name is not that of a pack."""
    found = _PACK.fullmatch(name)
    return None if found is None else found["writer"]


def place_of_pack(path: Path) -> PackPlace | None:
    """Where a pack belongs; None: the file is not a pack."""
    found = _PACK.fullmatch(path.name)
    return None if found is None else PackPlace(path.parent, found["stem"])


def _names_in(folder: Path) -> Iterator[str]:
    with suppress(OSError), scandir(folder) as entries:
        for entry in entries:
            yield entry.name


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
