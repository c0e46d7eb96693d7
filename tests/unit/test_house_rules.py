"""The rules of the house. A trip is answered with a repair, not with a wider rule."""

import ast
import re
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from stretto.model.vocabulary import CONCEPTS, VOCABULARY, System

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "stretto"
SIMULATION = ROOT / "simulation"
DOCS = ROOT / "docs"
MODULES = sorted([*SRC.rglob("*.py"), *SIMULATION.rglob("*.py")])
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ------------------------------------------------------------------------------------------------ source
def test_no_file_outgrows_a_reader() -> None:
    long = {name_of(path): count for path in MODULES if (count := text_of(path).count("\n")) > MOST_LINES}
    assert not long, "split along a seam; do not raise the limit"


def test_no_function_outgrows_a_screen() -> None:
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in MODULES
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MOST_LINES_OF_A_FUNCTION
    ]
    assert not long


def test_nothing_is_a_drawer_of_odds_and_ends() -> None:
    drawers = re.compile(r"utils?|helpers?|misc|common")
    assert not [name_of(path) for path in SRC.rglob("*") if drawers.fullmatch(path.stem)]


def test_every_module_says_what_it_is() -> None:
    assert not [name_of(path) for path in MODULES if not ast.get_docstring(ast.parse(text_of(path)))]


def test_every_folder_of_modules_is_a_package() -> None:
    assert not [name_of(path) for path in MODULES if not (path.parent / "__init__.py").exists()]


def test_nothing_is_put_off_in_a_comment() -> None:
    later = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert not [name_of(path) for path in MODULES if later.search(text_of(path))]


@pytest.mark.parametrize(
    "module",
    [path for path in sorted(SRC.rglob("*.py")) if re.search(r"^__all__", text_of(path), re.MULTILINE)],
    ids=name_of,
)
def test_every_public_name_exists(module: Path) -> None:
    dotted = ".".join(module.relative_to(SRC.parent).with_suffix("").parts).removesuffix(".__init__")
    loaded = import_module(dotted)
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []
    assert len(set(loaded.__all__)) == len(loaded.__all__)


# -------------------------------------------------------------------------------------------- repository
def repository_files() -> list[Path]:
    """Every text file that is, or is about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no clone of the repository")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()]


# Written in pieces, so that this file does not break its own rule.
MACHINE_PATHS = re.compile(r"(?<![\w.$}*</])/(?:" + "|".join(["wo" + "rk", "ro" + "ot"]) + r")(?:/|\b)")
REGISTRIES = re.compile(
    "|".join(
        [
            *(r"py" + r"pi\.org", r"python" + r"hosted\.org", r"np" + r"mjs\.", r"docker\." + "io"),
            *(r"gh" + r"cr\.io", r"qu" + r"ay\.io", r"(?<!-emit-)index" + "-url", "trusted" + "-host"),
        ]
    )
)


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRIES], ids=["machine paths", "registries"])
def test_the_repository_does_not_know_where_it_was_made(pattern: re.Pattern[str]) -> None:
    found = [
        f"{name_of(path)}: {match[0]}"
        for path in repository_files()
        if (match := pattern.search(path.read_text(encoding="utf-8", errors="replace")))
    ]
    assert not found


# ----------------------------------------------------------------------------------------- documentation
PAGES = sorted(DOCS.rglob("*.md"))
LINKED = [*sorted(ROOT.glob("*.md")), ROOT / "llms.txt", *PAGES]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def heading_ids(page: Path) -> set[str]:
    """The anchors of a page, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text_of(page)), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for text in headings}


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(CODE.sub("", FENCE.sub("", text_of(page)))):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in heading_ids(target)):
            broken.append(link)
    assert not broken


def in_the_menu(entry: object) -> set[str]:
    match entry:
        case str():
            return {entry}
        case list():
            return set().union(*map(in_the_menu, entry))
        case dict():
            return set().union(*map(in_the_menu, entry.values()))
        case _:
            raise TypeError(entry)


def test_every_page_is_in_the_menu() -> None:
    menu = in_the_menu(yaml.safe_load(text_of(ROOT / "mkdocs.yml"))["nav"])
    assert menu == {str(page.relative_to(DOCS)) for page in PAGES}


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(page.name[:4]) for page in sorted((DOCS / "decisions").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


def rows(page: Path, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head and the backticks around words."""
    table = text_of(page).split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    page = DOCS / "dependencies.md"

    def names(requirements: list[str]) -> list[str]:
        return sorted(re.split(r"[<>=!~\[; ]", each)[0] for each in requirements)

    said = sorted(row[0] for row in rows(page, "At run time"))
    assert said == names(project["project"]["dependencies"])
    extras = project["project"]["optional-dependencies"]
    wanted = sorted((name, extra) for extra, each in extras.items() for name in names(each))
    assert sorted((row[0], row[1]) for row in rows(page, "At run time, if wanted")) == wanted
    groups = project["dependency-groups"].values()
    said = sorted(row[0] for row in rows(page, "For development"))
    assert said == sorted(name for group in groups for name in names(group))


def test_the_glossary_has_the_words_of_the_code() -> None:
    page = DOCS / "glossary.md"
    words = {row[0] for row in rows(page, "Words")}
    assert CONCEPTS.keys() <= words
    columns = (System.TASK_ENGINE, System.KUBEMIN, System.CARP)
    concepts = {row[0]: row for row in rows(page, "Concepts of other systems")}
    assert concepts.keys() == CONCEPTS.keys()
    for ours, theirs in CONCEPTS.items():
        assert concepts[ours][2:] == [theirs.get(system, "") for system in columns]
        assert concepts[ours][1].startswith(theirs.get(System.MAESTRO, ""))
    assert rows(page, "Statuses of other systems") == [
        [", ".join(entry.run), ", ".join(entry.steps), *(", ".join(entry.words.get(s, ())) for s in columns)]
        for entry in VOCABULARY
    ]


def test_the_readme_names_every_package() -> None:
    packages = {f"stretto.{path.parent.name}" for path in SRC.glob("*/__init__.py")}
    assert {row[0] for row in rows(ROOT / "README.md", "The packages")} == packages


@pytest.mark.parametrize("name", ["README.md", "llms.txt"])
def test_a_reader_finds_every_guide_once(name: str) -> None:
    guides = [*DOCS.glob("how-to/*.md"), *DOCS.glob("tutorial/*.md")]
    pages = {str(page.relative_to(ROOT)) for page in guides}
    section = text_of(ROOT / name).partition("\n## Doc")[2]
    assert sorted(re.findall(r"\]\((docs/(?:how-to|tutorial)/[^)#]+)", section)) == sorted(pages)


# -------------------------------------------------------------------------------------------------- make
def test_every_target_of_make_is_in_the_guide() -> None:
    targets = set(re.findall(r"^([a-z]+):.*##", text_of(ROOT / "Makefile"), re.MULTILINE))
    said = set(re.findall(r"^\| `make ([a-z]+)` \|", text_of(ROOT / "CONTRIBUTING.md"), re.MULTILINE))
    assert said == targets - {"help"}
