"""All sources together: who wins, what is refused, and that nothing is forgotten."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.unit.config.reading import around, loaded, problems, said

from stretto.config import Config, Flag, InvalidConfig, Source, load
from stretto.config.catalogue import SETTINGS, Setting
from stretto.config.given import MOST_UNKNOWN, SET
from stretto.config.kinds import Count, OrNone, Switch
from stretto.config.problems import BY_DEFAULT
from stretto.model.problem import Code
from stretto.store.settings import Synchronous

URL = "postgresql://u:p@h/db"


def spelled(setting: Setting) -> str:
    """A value that the setting may have, whatever the others are: its default."""
    return URL if setting.default is None and setting.secret else setting.kind.show(setting.default)


def in_toml(setting: Setting) -> str:
    kind = (
        setting.kind.inner
        if isinstance(setting.kind, OrNone) and setting.default is not None
        else setting.kind
    )
    plain = isinstance(kind, Count | Switch)
    return spelled(setting) if plain else f'"{spelled(setting)}"'


# ---------------------------------------------------------------------------------------------- every setting
def test_defaults(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    assert found.origins == dict.fromkeys(SETTINGS, BY_DEFAULT)
    database = found.config.database
    assert database.url == f"sqlite:///{tmp_path.as_posix()}/home/.local/share/stretto/stretto.db"
    assert found.config.engine is found.config.node.engine
    for name, setting in SETTINGS.items():
        if name != "database.url":
            assert found.value(name) == setting.default


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_source_sets_every_setting(setting: Setting, tmp_path: Path) -> None:
    section, _, key = setting.name.partition(".")
    file = f"[{section}]\n{key} = {in_toml(setting)}\n"
    environ = {setting.variable: spelled(setting)}
    flags = [f"{setting.name}={spelled(setting)}"]
    expected = URL if setting.secret else setting.default

    by_file = loaded(tmp_path, file)
    assert by_file.origins[setting.name].source is Source.FILE
    assert by_file.value(setting.name) == expected
    by_environment = loaded(tmp_path, environ=environ)
    assert str(by_environment.origins[setting.name]) == setting.variable
    assert by_environment.value(setting.name) == expected
    by_flag = loaded(tmp_path, environ=environ, sets=flags)
    assert str(by_flag.origins[setting.name]) == f"--set {setting.name}"
    assert by_flag.value(setting.name) == expected
    (tmp_path / "stretto.toml").unlink()
    by_yaml = loaded(tmp_path, f"{section}:\n  {key}: {spelled(setting)}\n", name="stretto.yaml")
    assert str(by_yaml.origins[setting.name]).endswith("stretto.yaml:2")
    assert by_yaml.value(setting.name) == expected


def test_who_wins(tmp_path: Path) -> None:
    file = "[node]\ncalls_at_once = 10\neffects_at_once = 10\nloads_at_once = 10\n"
    environ = {"STRETTO_NODE_EFFECTS_AT_ONCE": "20", "STRETTO_NODE_LOADS_AT_ONCE": "20"}
    found = loaded(tmp_path, file, environ=environ, sets=["node.loads_at_once=30"])
    node = found.config.node
    assert (node.commits_at_once, node.calls_at_once) == (2, 10)
    assert (node.effects_at_once, node.loads_at_once) == (20, 30)
    assert [
        str(found.origins[f"node.{name}_at_once"]) for name in ("commits", "calls", "effects", "loads")
    ] == [
        "default",
        f"{tmp_path}/stretto.toml:2",
        "STRETTO_NODE_EFFECTS_AT_ONCE",
        "--set node.loads_at_once",
    ]


def test_all_parts_are_put_together(tmp_path: Path) -> None:
    file = """
        database.synchronous = "relaxed"
        node = { trust = "9s", expiry = 12_000 }
        limits.timeout = "240h"
        limits.empty_workflow = false
        [engine]
        leaves = 7
        default_sleep = "1m"
        workflow_permits = 20
        [params]
        size = "1MB"
        [expressions]
        within = "90s"
        loop = 50_001
        [retention]
        log = "none"
    """
    config = loaded(tmp_path, file).config
    assert config.database.synchronous is Synchronous.RELAXED
    assert (config.node.trust, config.database.beat_lasts) == (9_000, 12_000)
    assert (config.limits.timeout_days, config.limits.empty_workflow) == (10, False)
    assert (config.engine.leaves, config.engine.default_sleep_seconds) == (7, 60)
    assert (config.engine.permit_defaults.workflow, config.engine.permit_defaults.step) == (20, None)
    assert config.params.size == 1024 * 1024
    assert (config.expressions.within, config.expressions.limits.loop) == (90_000, 50_001)
    assert config.retention.log is None
    assert config.limits.step_types == Config().limits.step_types


# ----------------------------------------------------------------------------------------- variables in files
def test_variables_in_a_file(tmp_path: Path) -> None:
    file = """
        [database]
        url = "postgresql://${DB_USER:stretto}:${DB_PASSWORD}@h/db"
        connections = "${CONNECTIONS:12}"
        [limits]
        empty_workflow = "${EMPTY_ALLOWED:false}"
    """
    config = loaded(tmp_path, file, environ={"DB_PASSWORD": "p%40ss"}).config
    assert config.database.url == "postgresql://stretto:p%40ss@h/db"
    assert (config.database.connections, config.limits.empty_workflow) == (12, False)


def test_a_variable_in_yaml(tmp_path: Path) -> None:
    text = "node:\n  calls_at_once: ${CALLS:5}\n  trust: ${TRUST}\n"
    config = loaded(tmp_path, text, name="stretto.yaml", environ={"TRUST": "9s"}).config
    assert (config.node.calls_at_once, config.node.trust) == (5, 9_000)


def test_variables_that_are_not_set(tmp_path: Path) -> None:
    file = '[database]\nurl = "${URL}"\nconnections = "${CONNECTIONS:}"\n[node]\ntrust = "${TRUST:soon}"\n'
    url, connections, trust = said(problems(tmp_path, file), tmp_path)
    hint = "set it, or write `${URL:default}`"
    assert url == f"stretto.toml:2:1: database.url: the variable `URL` is not set ({hint}) [missing-variable]"
    hint = "give one, or leave it out"
    assert connections == f"stretto.toml:3:1: database.connections: it has no value ({hint}) [empty]"
    assert trust.startswith('stretto.toml:5:1: node.trust: "soon" is not a duration (write milliseconds, or ')


# ------------------------------------------------------------------------------------------------ all at once
def test_every_problem_of_every_source_at_once(tmp_path: Path) -> None:
    file = """\
nodes.trust = 1
trust = 2
limits = 3
[node]
beat_evry = "2s"
trust = "15min"
calls_at_once = 0
"beat_every.x" = 1
[engine.configs]
internal-worker-num = 80
[maestro.queue.properties.3]
scan-interval = 1
[database]
synchronous = "durble"
connections = [1]
"""
    environ = {"STRETTO_NODE_TRUSTT": "1", "STRETTO_NODE_WATCH": "", "STRETTO_QQ": "", "OTHER": "x"}
    sets = ["node.trust", "postgresql://u:hush@h", "x=1", "qqqq.zzzz=1", "node.depth=4", "limits.text=1B"]
    found = [
        (each.problem.line or each.origin.name, each.problem)
        for each in problems(tmp_path, file, environ=environ, sets=sets)
    ]
    unknown = "there is no such setting"
    anything = "`stretto config show` lists all settings"
    maestro = "Maestro calls it so; here it is"
    units = "which is none of ms, s, m, h, d"
    assert [(where, each.path, each.message, (each.hint or "")) for where, each in found] == [
        (1, "nodes.trust", unknown, "did you mean `node.trust`?"),
        (2, "trust", unknown, "did you mean `node.trust`?"),
        (3, "limits", "`3` stands where settings should be: this is a section", ""),
        (5, "node.beat_evry", unknown, "did you mean `node.beat_every`?"),
        (6, "node.trust", f'"15min" has the unit `min`, {units}', "did you mean `15m`?"),
        (7, "node.calls_at_once", "it must be at least 1", ""),
        (8, "node.beat_every.x", unknown, "did you mean `node.beat_every`?"),
        (10, "engine.configs.internal-worker-num", unknown, f"{maestro} `node.calls_at_once`"),
        (
            12,
            "maestro.queue.properties.3.scan-interval",
            unknown,
            f"{maestro} `node.fetch_soon` and `node.fetch_late`",
        ),
        (14, "database.synchronous", '"durble" is not `durable` or `relaxed`', "did you mean `durable`?"),
        (15, "database.connections", "a list is not a whole number", ""),
        ("STRETTO_NODE_TRUSTT", "", unknown, "did you mean `STRETTO_NODE_TRUST`?"),
        ("STRETTO_NODE_WATCH", "node.watch", "it has no value", "give one, or leave it out"),
        ("STRETTO_QQ", "", unknown, "unset the variable"),
        ("--set", "", "`node.trust` has no `=`", "write NAME=VALUE"),
        ("--set", "", "what is set has no `=`", "write NAME=VALUE"),
        ("--set x", "", unknown, anything),
        ("--set qqqq.zzzz", "", unknown, anything),
        ("--set node.depth", "", unknown, "did you mean `engine.depth`?"),
        ("--set limits.text", "limits.text", "it must be at least 1KB", ""),
    ]


def test_the_error_says_how_many_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig) as one:
        loaded(tmp_path, sets=["x=1"])
    assert str(one.value).startswith("the settings have 1 problem: --set x: there is no such setting (")
    assert (one.value.id, len(one.value.details)) == ("invalid-config", 1)
    with pytest.raises(InvalidConfig, match=r"^the settings have 2 problems: .* \(and 1 more\)$"):
        loaded(tmp_path, sets=["x=1", "y=1"])


def test_a_bad_value_is_refused_even_if_another_source_wins(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "[node]\ntrust = true\n", sets=["node.trust=9s"])
    assert (found.origin.source, found.problem.code) == (Source.FILE, Code.BAD_DURATION)


# ---------------------------------------------------------------------------------------------- unknown names
@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        ("node.trust: 1", '"node.trust"', "write `trust` inside of `node`"),
        ("nodde: {}", "nodde", "did you mean `node`?"),
        ("nodde: 1", "nodde", "did you mean `node`?"),
        (
            "workflow:\n  maxConcurrentWorkflows: 5",
            "workflow.maxConcurrentWorkflows",
            "KubeMin calls it so; here it is",
        ),
        (
            "workflow-max-concurrent: 5",
            "workflow-max-concurrent",
            "KubeMin calls it so; here it is `node.calls_at_once`",
        ),
        (
            "engine: {max_concurrency: 5}",
            "engine.max_concurrency",
            "the task engine calls it so; here it is `node.",
        ),
        ("messaging: {type: kafka}", "messaging.type", "KubeMin calls it so; it belongs to the queues"),
        ("a: {b: {c: {d: {e: {f: {g: 1}}}}}}", "a.b.c.d.e.f", "`stretto config show` lists all settings"),
    ],
)
def test_what_may_have_been_meant(tmp_path: Path, text: str, path: str, hint: str) -> None:
    (found,) = problems(tmp_path, text + "\n", name="stretto.yaml")
    assert found.problem.code == Code.UNKNOWN_FIELD
    assert found.problem.path == path.strip('"')
    assert (found.problem.hint or "").startswith(hint)


def test_not_every_unknown_name_of_a_long_file_is_guessed_at(tmp_path: Path) -> None:
    found = problems(tmp_path, "".join(f"x{number} = 1\n" for number in range(50_000)))
    assert len(found) == MOST_UNKNOWN + 1
    assert said(found[:1], tmp_path) == [
        "stretto.toml: there are more than 100 unknown settings in it [too-many]"
    ]
    exactly = problems(tmp_path, "".join(f"x{number} = 1\n" for number in range(MOST_UNKNOWN)))
    assert len(exactly) == MOST_UNKNOWN


def test_keys_that_terminals_would_not_like(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, '"\\u001b[31m" = 1\n')
    assert found.problem.path == "\\x1b[31m"


# ------------------------------------------------------------------------------------------------ environment
def test_services_of_kubernetes_are_passed_over(tmp_path: Path) -> None:
    environ = {
        "STRETTO_SERVICE_HOST": "10.0.0.1",
        "STRETTO_SERVICE_PORT": "8080",
        "STRETTO_SERVICE_PORT_HTTP": "8080",
        "STRETTO_PORT": "tcp://10.0.0.1:8080",
        "STRETTO_PORT_8080_TCP": "tcp://10.0.0.1:8080",
        "STRETTO_PORT_8080_TCP_PROTO": "tcp",
        "STRETTO_NODE_SERVICE_HOST": "10.0.0.1",
        "STRETTO_NODE_PORT": "udp://10.0.0.1:8080",
    }
    assert loaded(tmp_path, environ=environ).config.node == Config().node
    (found,) = problems(tmp_path, environ={"STRETTO_PORT": "8080"})
    assert found.origin.name == "STRETTO_PORT"


def test_a_variable_with_bytes_that_are_no_text(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, environ={"STRETTO_NODE_TRUST": "9\udcff"})
    assert '"9\\xdcff" is not a duration' in str(found)


# ------------------------------------------------------------------------------------------------------ flags
def test_two_flags_for_one_setting(tmp_path: Path) -> None:
    flags = [Flag(SET, "database.url=memory://"), Flag("--database", "database.url=memory://")]
    with pytest.raises(InvalidConfig) as error:
        load(around(tmp_path), flags=flags)
    hint = "once by --set database.url; keep one of them"
    assert said(error.value.problems, tmp_path) == [
        f"--database: database.url: it is set twice ({hint}) [duplicate-key]"
    ]


def test_a_flag_without_a_value(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, sets=["node.trust="])
    assert str(found) == "--set node.trust: node.trust: it has no value (give one, or leave it out) [empty]"


def test_a_value_may_hold_an_equals_sign(tmp_path: Path) -> None:
    found = loaded(tmp_path, sets=["database.url=postgresql://h/db?a=b"])
    assert found.config.database.url == "postgresql://h/db?a=b"


# ------------------------------------------------------------------------------------------------------- laws
LINES = st.sampled_from(
    [
        "[node]",
        "[[node]]",
        "trust",
        "=",
        '"9s"',
        "9",
        "node.trust",
        "${",
        "$${",
        "}",
        '"""',
        "'",
        "#",
        "\n",
        "{",
        "[",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(LINES, max_size=12).map("".join) | st.text(max_size=40), st.sampled_from(["toml", "yaml"]))
@example("[node]\ntrust = 1.5\n[[engine]]\n", "toml")
@example("node: [1]\n? [a]\n: b\n", "yaml")
def test_whatever_a_file_holds_is_read_or_refused(tmp_path: Path, text: str, ending: str) -> None:
    (tmp_path / f"any.{ending}").write_bytes(text.encode(errors="surrogatepass"))
    details: tuple[str, ...] = ()
    try:
        load(around(tmp_path), file=f"any.{ending}")
    except InvalidConfig as error:
        details = error.details
    assert all(f"any.{ending}:" in each for each in details)
