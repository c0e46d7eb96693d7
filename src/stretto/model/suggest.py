"""Did you mean ...? One way to guess, used by every message that names something unknown."""

import string
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

LONGEST_WORD: Final = 256  # characters; the work grows with the square of them
MOST_CANDIDATES = 2_000  # guessing among more names costs more than it helps
MOST_GUESSED: Final = 3  # of many unknown words
ALPHABET: Final = string.ascii_lowercase + string.digits + "_-."
LONGEST: Final = 40  # characters of a word in which every letter is tried at every place


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """A hint that names the closest known word, or None where none is close."""
    if len(word) > LONGEST_WORD:
        return None
    candidates = {name.lower(): name for _, name in zip(range(MOST_CANDIDATES), known, strict=False)}
    close = get_close_matches(word.lower(), candidates, n=1, cutoff=cutoff)
    return f"did you mean `{candidates[close[0]]}`?" if close else None


def hints_for(words: Iterable[str], known: Collection[str]) -> list[str]:
    """Hints for the first few of many unknown words: each is compared with all that are known."""
    guessed = islice(words, MOST_GUESSED)
    return [hint for word in guessed if (hint := did_you_mean(word, known)) is not None]


def one_edit_away(word: str) -> set[str]:
    """Words that differ by one typing error: a letter too many, too few, wrong or swapped with the next one;
    also the word in lower case, or with hyphens for underscores. In a long word no letter is added or
    changed, so that there are some thousands of them at most; a word that is longer than any name has none.
    """
    if len(word) > LONGEST_WORD:
        return set()
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {word.lower(), word.replace("_", "-"), word.replace("-", "_")}
    found.update(left + right[1:] for left, right in parts)
    found.update(left + right[1] + right[0] + right[2:] for left, right in parts if len(right) > 1)
    if len(word) <= LONGEST:
        found.update(left + letter + right[1:] for left, right in parts for letter in ALPHABET)
        found.update(left + letter + right for left, right in parts for letter in ALPHABET)
    return found - {word, ""}
