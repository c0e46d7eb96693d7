"""Did you mean ...? One way to guess, used by every message that names something unknown."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_CANDIDATES = 2_000  # guessing among more names costs more than it helps


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """A hint that names the closest known word, or None where none is close."""
    candidates = {name.lower(): name for _, name in zip(range(MOST_CANDIDATES), known, strict=False)}
    close = get_close_matches(word.lower(), candidates, n=1, cutoff=cutoff)
    return f"did you mean `{candidates[close[0]]}`?" if close else None
