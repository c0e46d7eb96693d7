"""Which file, and what it says: TOML or YAML."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from stretto.config.folders import Surroundings, config_folder
from stretto.config.kinds import printable, shown
from stretto.config.problems import BadValue, Origin, SettingProblem, Source, problem_of
from stretto.config.toml_text import Keys, NotToml, read_toml, toml_spots
from stretto.definition.limits import Limits
from stretto.definition.reading.located import LocatedDict, Spot
from stretto.definition.reading.read import Format, Unreadable
from stretto.definition.reading.read import Source as YamlText
from stretto.model.problem import Code

VARIABLE: Final = "STRETTO_CONFIG"
FLAG: Final = "--config"
SUFFIXES: Final = (".toml", ".yaml", ".yml")
MOST_BYTES: Final = 1024 * 1024
_NAMES: Final = tuple(f"stretto{suffix}" for suffix in SUFFIXES)
_YAML: Final = Limits()


class Unusable(Exception):
    """The file can not be found, read or understood."""

    def __init__(self, *problems: SettingProblem) -> None:
        super().__init__(str(problems[0]))
        self.problems = problems


class Chosen(NamedTuple):
    """A file, and who named it, if anybody did."""

    path: Path
    by: str = ""


class Read(NamedTuple):
    """What a file says, and where it says it."""

    origin: Origin  # the file as a whole
    values: Mapping[str, Any]
    spots: Mapping[Keys, Spot]

    def at(self, keys: Keys) -> Origin:
        """The place of a key, or of the nearest thing around it."""
        spots = (self.spots.get(keys[:end]) for end in range(len(keys), 0, -1))
        return self.origin.at(next((spot for spot in spots if spot is not None), None))


# ------------------------------------------------------------------------------------------------ which one
def find_file(flag: str | None, around: Surroundings) -> Chosen | None:
    """`--config`, else STRETTO_CONFIG, else the current folder, else the user's. Raises Unusable."""
    if flag is not None:
        return _named(flag, Origin(Source.FLAG, FLAG), around)
    if VARIABLE in around.environ:
        return _named(around.environ[VARIABLE], Origin(Source.ENVIRONMENT, VARIABLE), around)
    for folder in (around.folder, config_folder(around)):
        found = _in_folder(folder) if folder is not None else []
        if len(found) > 1:
            raise _two(found)
        if found:
            return Chosen(found[0])
    return None


def _named(name: str, origin: Origin, around: Surroundings) -> Chosen:
    if not name:
        bad = BadValue(Code.EMPTY, "it names no file", "name one, or leave it out")
    elif Path(name).suffix.lower() not in SUFFIXES:
        message = f"{shown(name)} is not the name of a settings file"
        bad = BadValue(Code.UNKNOWN_VALUE, message, f"the name ends in {', '.join(SUFFIXES[:-1])} or .yml")
    else:
        return Chosen(around.folder / name, origin.name)
    raise Unusable(problem_of(origin, "", bad))


def _in_folder(folder: Path) -> list[Path]:
    """A link that leads nowhere counts too: somebody meant it to be read."""
    return [path for name in _NAMES if os.path.lexists(path := folder / name)]


def _two(found: list[Path]) -> Unusable:
    names = " and ".join(f"`{_shown(path)}`" for path in found)
    bad = BadValue(Code.CONFLICT, f"there are {names}", f"keep one, or choose with {FLAG}")
    return Unusable(problem_of(_origin(found[0]), "", bad))


def _origin(path: Path) -> Origin:
    return Origin(Source.FILE, _shown(path))


def _shown(path: Path) -> str:
    return printable(str(path))


# ------------------------------------------------------------------------------------------- what it says
def read_file(chosen: Chosen) -> Read:
    """The values of a file. Raises Unusable."""
    path = chosen.path
    origin = _origin(path)
    text = _text(chosen, origin)
    if path.suffix.lower() != ".toml":
        return _yaml(text, origin)
    try:
        return Read(origin, read_toml(text), toml_spots(text))
    except NotToml as error:
        raise Unusable(problem_of(origin.at(error.spot), "", error.bad)) from None


def _text(chosen: Chosen, origin: Origin) -> str:
    path, by = chosen
    try:
        if path.is_dir():  # said first: not every platform says it when a folder is opened
            raise IsADirectoryError
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise Unusable(problem_of(origin, "", BadValue(Code.TOO_LARGE, "it has more than 1 MB")))
        return data.decode().removeprefix("\ufeff")
    except FileNotFoundError:
        hint = f"{by} names it" if by else "it is a link that leads nowhere"
        bad = BadValue(Code.UNREADABLE, "there is no such file", hint)
    except IsADirectoryError:
        bad = BadValue(Code.UNREADABLE, "this is a folder, not a file")
    except UnicodeDecodeError as error:
        bad = BadValue(Code.SYNTAX, f"byte {error.start} is not UTF-8", "save the file as UTF-8")
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        bad = BadValue(Code.UNREADABLE, f"it can not be read: {reason}")
    raise Unusable(problem_of(origin, "", bad))


def _yaml(text: str, origin: Origin) -> Read:
    try:
        documents = [each for each in YamlText(text, _YAML, Format.YAML).located() if each is not None]
    except Unreadable as error:
        raise Unusable(*(SettingProblem(origin, each) for each in error.problems)) from None
    if not documents:
        return Read(origin, {}, {})
    bad = None
    if len(documents) > 1:
        bad = BadValue(Code.TOO_MANY, "the file holds several documents", "keep one: remove the `---`")
    elif not isinstance(documents[0], LocatedDict):
        bad = BadValue(Code.WRONG_TYPE, f"the file holds {shown(documents[0])}, not sections with settings")
    if bad is not None:
        raise Unusable(problem_of(origin.at(Spot(1, 1)), "", bad))
    return Read(origin, documents[0], dict(_spots(documents[0], ())))


def _spots(node: Any, keys: Keys) -> Iterator[tuple[Keys, Spot]]:
    if isinstance(node, LocatedDict):
        for key, spot in node.keys_at.items():
            yield (*keys, key), spot
            yield from _spots(node[key], (*keys, key))
