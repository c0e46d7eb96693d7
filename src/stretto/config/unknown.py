"""Names that no setting has, and what may have been meant."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from stretto.config.catalogue import SECTIONS, SETTINGS
from stretto.config.kinds import printable, shortened
from stretto.config.old_names import BY_NAME
from stretto.config.problems import BadValue
from stretto.config.toml_text import Keys
from stretto.model.problem import Code
from stretto.model.suggest import did_you_mean

_NUMBER: Final = re.compile(r"\.\d+\.")  # Maestro numbers its queues
_LIST: Final = "`stretto config show` lists all settings"
_MOST_KEYS: Final = 6


def no_such_setting(name: str) -> BadValue:
    """An unknown name, with the nearest known one."""
    return BadValue(Code.UNKNOWN_FIELD, "there is no such setting", _meant(name))


def _meant(name: str) -> str:
    old = BY_NAME.get(_NUMBER.sub(".N.", name).removeprefix("--"))
    if old is not None:
        return old.hint()
    if name in SETTINGS:  # only as one key, with a dot in it, does a known name come here
        section, _, key = name.partition(".")
        return f"write `{key}` inside of `{section}`"
    key = name.rpartition(".")[2]
    elsewhere = next((each for each in SETTINGS if each.endswith(f".{key}")), None)
    if elsewhere is not None:
        return f"did you mean `{elsewhere}`?"
    known = SETTINGS if "." in name else (*SECTIONS, *SETTINGS)
    return did_you_mean(shortened(name), known) or _LIST


def leaves(keys: Keys, value: object) -> Iterator[Keys]:
    """The keys that lead to the values inside a table; a table without any stands for itself."""
    todo = [(keys, value)]
    while todo:
        at, node = todo.pop()
        if isinstance(node, Mapping) and node and len(at) < _MOST_KEYS:
            todo += [((*at, key), node[key]) for key in reversed(node)]
        else:
            yield at


def dotted(keys: Keys) -> str:
    """The name in a message."""
    return ".".join(printable(shortened(key)) for key in keys)
