"""Interpolation against the rule, told step by step."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from stretto.sel import compile_template

VARIABLE = re.compile(r"\$(?:([A-Za-z]\w*)|\{([A-Za-z][-\w./]*)\})", re.ASCII)
texts = st.text(st.sampled_from("$${}xyZ_1-./ é"), max_size=14)


def by_the_rule(text: str) -> str:
    """Scan from the left; at a `$`: a variable, or an escape, or just a `$`."""
    out, at = "", 0
    while at < len(text):
        here = VARIABLE.match(text, at)
        if here:
            out += f"<{here[1] or here[2]}>"
            at = here.end()
        elif text.startswith("$$", at):
            escaped = VARIABLE.match(text, at + 1)
            out += escaped.group() if escaped else "$"
            at = escaped.end() if escaped else at + 2
        else:
            out += text[at]
            at += 1
    return out


@settings(deadline=None)
@given(texts)
def test_row_68_rendering_follows_the_rule(text: str) -> None:
    assert compile_template(text).render(lambda name: f"<{name}>") == by_the_rule(text)


@settings(deadline=None)
@given(texts)
def test_row_68_every_name_asked_for_was_announced(text: str) -> None:
    asked: list[str] = []

    def lookup(name: str) -> str:
        asked.append(name)
        return "x"

    compile_template(text).render(lookup)
    assert set(asked) <= set(compile_template(text).names)


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="$"), max_size=40))
def test_text_without_variables_stays(text: str) -> None:
    assert compile_template(text).render(lambda _: "") == text
    assert compile_template(text.replace("a", "$$")).render(lambda _: "") == text.replace("a", "$")
