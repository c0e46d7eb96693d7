"""Names and texts: allowed characters, lengths, prefixes and suffixes that are the system's own."""

import re
from collections.abc import Iterable
from typing import Final

from stretto.definition.rules.visits import PROPERTIES, WORKFLOW, Scene
from stretto.model.problem import Code, Place
from stretto.model.tag import Tag

WORKFLOW_ID: Final = re.compile(r"[_a-zA-Z0-9][.\-_a-zA-Z0-9]*")
REFERENCE_ID: Final = re.compile(r"[_a-zA-Z][.\-_a-zA-Z0-9]*")
LABEL: Final = re.compile(r"[\w .,:@&='(){}$+\[\]\-/\\]+", re.ASCII)
SEPARATOR: Final = "__"  # between a step and its parameter in a reference
PREFIX: Final = "maestro_"
SUFFIX: Final = "_maestro"
METADATA_KEYS: Final = frozenset(
    {"workflow_id", "workflow_version_id", "git_info", "version_author", "create_time"}
)


def check_names(scene: Scene) -> None:
    workflow = scene.workflow
    _workflow_id(scene, workflow.id, (WORKFLOW, "id"))
    _texts(scene, workflow.name, workflow.description, WORKFLOW)
    _tags(scene, workflow.tags, (WORKFLOW, "tags"))
    for name, _param, at in scene.params:
        _reference_id(scene, name, at, "a parameter's name")
    for visit in scene.visits:
        step = visit.step
        _reference_id(scene, step.id, (visit.at, "id"), "a step's id")
        _texts(scene, step.name, step.description, visit.at)
        _tags(scene, step.tags, (visit.at, "tags"))
    check_property_texts(scene)
    for key in scene.definition.extra:
        if key in METADATA_KEYS:
            scene.report((None, key), Code.RESERVED_NAME, f"`{key}` is set by the system", "leave it out")


def check_property_texts(scene: Scene, place: Place = PROPERTIES) -> None:
    """`place`: where the properties stand in what is checked."""
    properties = scene.definition.properties
    if properties is not None:
        _length(scene, properties.description, scene.limits.description_length, (place, "description"))


def _workflow_id(scene: Scene, text: str, at: Place) -> None:
    if not text:
        scene.report(at, Code.EMPTY, "the id is empty")
    elif not WORKFLOW_ID.fullmatch(text):
        hint = "letters, digits, `_`, `-` and `.`; it starts with a letter, a digit or `_`"
        scene.report(at, Code.BAD_NAME, f"`{_shown(text)}` is not a workflow id", hint)
    _reserved(scene, text, at, suffix=True)
    _length(scene, text, scene.limits.id_length, at)


def _reference_id(scene: Scene, text: str, at: Place, what: str) -> None:
    if text in scene.fine_names:
        return
    if not text:
        scene.report(at, Code.EMPTY, f"{what} is empty")
        return
    before = len(scene.problems)
    if not REFERENCE_ID.fullmatch(text):
        hint = "letters, digits, `_`, `-` and `.`; it starts with a letter or `_`"
        scene.report(at, Code.BAD_NAME, f"`{_shown(text)}` can not be {what}", hint)
    elif SEPARATOR in text:
        hint = f"`{SEPARATOR}` joins a step and its parameter in references"
        scene.report(at, Code.BAD_NAME, f"`{_shown(text)}` holds `{SEPARATOR}`", hint)
    _reserved(scene, text, at, suffix=False)
    _length(scene, text, scene.limits.id_length, at)
    if len(scene.problems) == before:
        scene.fine_names.add(text)


def check_label(scene: Scene, text: str, at: Place, what: str) -> None:
    """Names of tags and signals: wider than ids. Text with `${param}` is checked when it is known."""
    if not text.strip():
        scene.report(at, Code.EMPTY, f"{what} is empty")
        return
    if not LABEL.fullmatch(text):
        scene.report(
            at,
            Code.BAD_NAME,
            f"`{_shown(text)}` can not be {what}",
            "it holds a character that is not allowed",
        )
    _reserved(scene, text, at, suffix=True)
    _length(scene, text, scene.limits.name_length, at)


def _tags(scene: Scene, tags: Iterable[Tag] | None, at: Place) -> None:
    seen: set[str] = set()
    for index, tag in enumerate(tags or ()):
        place = (at, index)
        check_label(scene, tag.name, place, "a tag's name")
        if tag.name in seen:
            scene.report(place, Code.DUPLICATE_TAG, f"the tag `{tag.name}` is given twice")
        seen.add(tag.name)


def _texts(scene: Scene, name: str | None, description: str | None, at: Place) -> None:
    _length(scene, name, scene.limits.name_length, (at, "name"))
    _length(scene, description, scene.limits.description_length, (at, "description"))


def _length(scene: Scene, text: str | None, limit: int, at: Place) -> None:
    if text is not None and len(text) > limit:
        scene.report(at, Code.TOO_LONG, f"{len(text):,} characters, the limit is {limit:,}")


def _reserved(scene: Scene, text: str, at: Place, *, suffix: bool) -> None:
    lower = text.lower()
    if lower.startswith(PREFIX):
        scene.report(at, Code.RESERVED_NAME, f"names that start with `{PREFIX}` are the system's own")
    elif suffix and lower.endswith(SUFFIX):
        scene.report(at, Code.RESERVED_NAME, f"names that end with `{SUFFIX}` are the system's own")


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
