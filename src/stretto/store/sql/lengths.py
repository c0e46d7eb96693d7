"""How long texts may be that are part of a key, and what becomes of longer ones.

MariaDB allows 3,072 bytes in a key, 4 for each character. The longest key is the index of a workflow's
questions: an assignee, a word, three ids and four numbers. Validation allows 128 characters in an id and 256
in a name, so there is room.
"""

import hashlib
from typing import Final

from stretto.ports.failures import Poison

ID_LENGTH: Final = 191
NAME_LENGTH: Final = 256
TAG_LENGTH: Final = 320  # `maestro_<workflow>:<step>` is a tag, too
NODE_LENGTH: Final = 96  # the index of free work holds one beside a name and two ids
TEXT_LENGTH: Final = 255  # request ids, users
ASSIGNEE_LENGTH: Final = 128  # an index holds one beside a word and three ids
WORD_LENGTH: Final = 32
CODE_LENGTH: Final = 512  # the module and name of a function


def fitting(text: str, most: int, what: str) -> str:
    """The text itself. Poison, if its column is too short for it, or no database takes it."""
    if len(text) > most:
        raise Poison(f"{what} has {len(text):,} characters, the limit is {most}: {text[:40]}...")
    if "\0" in text:
        raise Poison(f"{what} can not be stored: it holds a NUL character")
    return text


def digest_of(text: str) -> str:
    """Stands for a text of any length, where it is part of a key."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def number_of(text: str) -> int:
    """Finds a text of any length. Two texts may share it: who looks by it compares the texts, too."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
