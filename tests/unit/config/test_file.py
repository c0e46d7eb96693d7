"""Which file is read, and files that can not be."""

import os
from pathlib import Path

import pytest
from tests.unit.config.reading import around, loaded, problems, said

from stretto.config import Flag, InvalidConfig, Surroundings, load
from stretto.config.file import MOST_BYTES
from stretto.config.given import SET
from stretto.config.problems import ConfigCode
from stretto.model.problem import Code

NINE = '[node]\ntrust = "9s"\n'
YAML_NINE = "node:\n  trust: 9s\n"


def trust(folder: Path, *, file: str | None = None, environ: dict[str, str] | None = None) -> tuple[int, str]:
    found = load(around(folder, environ), file=file)
    return found.config.node.trust, str(found.origins["node.trust"]).replace(f"{folder}/", "")


def refused(folder: Path, *, file: str | None = None, environ: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InvalidConfig) as error:
        load(around(folder, environ), file=file)
    return said(error.value.problems, folder)


def users_folder(folder: Path) -> Path:
    made = folder / "home/.config/stretto"
    made.mkdir(parents=True)
    return made


# -------------------------------------------------------------------------------------------------- which one
def test_without_a_file_all_is_default(tmp_path: Path) -> None:
    assert trust(tmp_path) == (8_000, "default")
    assert load(around(tmp_path)).file is None


@pytest.mark.parametrize(
    ("name", "text"), [("stretto.toml", NINE), ("stretto.yaml", YAML_NINE), ("stretto.yml", YAML_NINE)]
)
def test_in_the_current_folder(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert trust(tmp_path) == (9_000, f"{name}:2")
    assert load(around(tmp_path)).file == tmp_path / name


def test_in_the_users_folder(tmp_path: Path) -> None:
    (users_folder(tmp_path) / "stretto.yaml").write_text(YAML_NINE)
    assert trust(tmp_path) == (9_000, "home/.config/stretto/stretto.yaml:2")


def test_each_place_wins_over_the_next_and_only_one_is_read(tmp_path: Path) -> None:
    (users_folder(tmp_path) / "stretto.toml").write_text("this is no TOML, and never read")
    (tmp_path / "stretto.toml").write_text('[node]\ntrust = "6s"\n')
    assert trust(tmp_path) == (6_000, "stretto.toml:2")
    (tmp_path / "variable.toml").write_text('[node]\n\ntrust = "7s"\n')
    environ = {"STRETTO_CONFIG": "variable.toml"}
    assert trust(tmp_path, environ=environ) == (7_000, "variable.toml:3")
    (tmp_path / "flag.yml").write_text(YAML_NINE)
    assert trust(tmp_path, file="flag.yml", environ=environ) == (9_000, "flag.yml:2")


def test_a_user_without_a_home_has_no_file(tmp_path: Path) -> None:
    assert load(Surroundings(environ={}, folder=tmp_path)).file is None


def test_two_files_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "stretto.toml").touch()
    (tmp_path / "stretto.yml").touch()
    message = "there are `stretto.toml` and `stretto.yml` (keep one, or choose with --config) [conflict]"
    assert refused(tmp_path) == [f"stretto.toml: {message}"]
    assert trust(tmp_path, file="stretto.yml") == (8_000, "default")


def test_two_files_in_the_users_folder(tmp_path: Path) -> None:
    folder = users_folder(tmp_path)
    (folder / "stretto.yaml").touch()
    (folder / "stretto.yml").touch()
    assert "there are `home/.config/stretto/stretto.yaml` and" in refused(tmp_path)[0]


ENDINGS = "(the name ends in .toml, .yaml or .yml) [unknown-value]"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "it names no file (name one, or leave it out) [empty]"),
        ("a.json", f'"a.json" is not the name of a settings file {ENDINGS}'),
        ("a", f'"a" is not the name of a settings file {ENDINGS}'),
    ],
)
def test_names_that_say_nothing(tmp_path: Path, name: str, message: str) -> None:
    assert refused(tmp_path, file=name) == [f"--config: {message}"]
    assert refused(tmp_path, environ={"STRETTO_CONFIG": name}) == [f"STRETTO_CONFIG: {message}"]


def test_the_ending_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "A.TOML").write_text(NINE)
    assert trust(tmp_path, file="A.TOML") == (9_000, "A.TOML:2")


# --------------------------------------------------------------------------------------- what can not be read
def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    message = "gone.toml: there is no such file"
    assert refused(tmp_path, file="gone.toml") == [f"{message} (--config names it) [unreadable]"]
    found = refused(tmp_path, environ={"STRETTO_CONFIG": "gone.toml"})
    assert found == [f"{message} (STRETTO_CONFIG names it) [unreadable]"]


def test_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "stretto.toml").symlink_to("gone")
    message = "there is no such file (it is a link that leads nowhere) [unreadable]"
    assert refused(tmp_path) == [f"stretto.toml: {message}"]


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "stretto.toml").mkdir()
    assert refused(tmp_path) == ["stretto.toml: this is a folder, not a file [unreadable]"]


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert refused(tmp_path, file="a\0.toml") == [
        "a\\x00.toml: it can not be read: embedded null byte [unreadable]"
    ]
    (long,) = refused(tmp_path, file="a" * 300 + ".toml")
    assert long.endswith(": it can not be read: File name too long [unreadable]")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "stretto.toml").write_text(NINE)
    (tmp_path / "stretto.toml").chmod(0)
    assert refused(tmp_path) == ["stretto.toml: it can not be read: Permission denied [unreadable]"]


def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "stretto.toml").symlink_to("stretto.toml")
    (message,) = refused(tmp_path)
    assert message.startswith("stretto.toml: it can not be read: Too many levels")


@pytest.mark.parametrize("name", ["stretto.toml", "stretto.yaml"])
def test_a_file_that_is_no_text(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path, b"# \xff\n", name=name)
    assert said(found, tmp_path) == [f"{name}: byte 2 is not UTF-8 (save the file as UTF-8) [syntax]"]


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    assert loaded(tmp_path, "#" * MOST_BYTES).config.node.trust == 8_000
    assert said(problems(tmp_path, "#" * (MOST_BYTES + 1)), tmp_path) == [
        "stretto.toml: it has more than 1 MB [too-large]"
    ]


@pytest.mark.parametrize("name", ["stretto.toml", "stretto.yaml"])
@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "\ufeff"])
def test_an_empty_file_is_no_problem(tmp_path: Path, name: str, text: str) -> None:
    found = loaded(tmp_path, text, name=name)
    assert {str(origin) for origin in found.origins.values()} == {"default"}


def test_a_mark_at_the_beginning(tmp_path: Path) -> None:
    assert loaded(tmp_path, "\ufeff" + NINE).config.node.trust == 9_000


@pytest.mark.parametrize("text", ["~\n", "---\n...\n", "node:\n", "node: {}\n", "node: ~\n"])
def test_yaml_without_a_setting(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, text, name="stretto.yaml").config.node.trust == 8_000


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("stretto.toml", "[node]\ntrust = \n", "2:9: this is not TOML: invalid value [syntax]"),
        (
            "stretto.toml",
            '[node]\ntrust = "9s"\ntrust = "9s"\n',
            "3:13: a key or a table is given twice (give it once)",
        ),
        ("stretto.toml", "[node]\n[limits]\n[node]\n", "3:6: a key or a table is given twice (give it once)"),
        ("stretto.toml", "a = " + "[" * 50_000, " lists or tables are nested too deeply [too-deep]"),
        ("stretto.yaml", "node: [\n", "2:1: this is not YAML:"),
        (
            "stretto.yaml",
            "node:\n  trust: 9s\n  trust: 8s\n",
            "3:3: node.trust: the key `trust` is given twice in one",
        ),
        (
            "stretto.yaml",
            "a: 1\n---\nb: 2\n",
            "1:1: the file holds several documents (keep one: remove the `---`)",
        ),
        ("stretto.yaml", "- node\n", "1:1: the file holds a list, not sections with settings [wrong-type]"),
        ("stretto.yaml", "node\n", '1:1: the file holds "node", not sections with settings [wrong-type]'),
        (
            "stretto.yaml",
            "a: !!python/name:os.system x\n",
            "1:4: the tag `tag:yaml.org,2002:python/name:os.system`",
        ),
    ],
)
def test_a_file_that_can_not_be_understood(tmp_path: Path, name: str, text: str, message: str) -> None:
    (found,) = said(problems(tmp_path, text, name=name), tmp_path)
    assert found.startswith(f"{name}:{message}")


def test_all_duplicates_of_a_yaml_file(tmp_path: Path) -> None:
    found = problems(tmp_path, "node: {}\nnode: {}\nlimits: {}\nlimits: {}\n", name="stretto.yaml")
    assert [(each.problem.code, each.problem.line) for each in found] == [
        (Code.DUPLICATE_KEY, 2),
        (Code.DUPLICATE_KEY, 4),
    ]


def test_a_bad_file_does_not_hide_what_else_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig) as error:
        load(
            around(tmp_path, {"STRETTO_NODE_TRUST": "x"}),
            file="gone.toml",
            flags=[Flag(SET, "node.depth=1"), Flag(SET, "database.url=x")],
        )
    codes = [each.problem.code for each in error.value.problems]
    assert codes == [Code.UNREADABLE, Code.BAD_DURATION, Code.UNKNOWN_FIELD, ConfigCode.BAD_URL]
