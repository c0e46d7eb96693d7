"""Parameters of iterations and children: where they come from, and what the runs were started with."""

from typing import Any

from tests.api.serving import Served, noop

DEFAULT_NAMES = {"RUN_TS", "owner", "workflow_id"}  # some of the parameters that every run has


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"value": value, "type": "STRING", **more}


def foreach(step_id: str, name: str, values: list[int], *steps: Any, **params: Any) -> dict[str, Any]:
    loop = {"type": "MAP", "value": {name: {"value": values, "type": "LONG_ARRAY"}}}
    return {"foreach": {"id": step_id, "params": {"loop_params": loop, **params}, "steps": list(steps)}}


def push(server: Served, workflow_id: str, *steps: Any, **params: Any) -> None:
    workflow = {"id": workflow_id, "params": params, "steps": list(steps)}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})


def inline(server: Served, workflow_id: str, step_id: str, instance: int = 1) -> str:
    found = server.get(f"/workflows/{workflow_id}/instances/{instance}/steps/{step_id}")["artifacts"]
    artifact = found.get("maestro_foreach") or found["maestro_while"]
    name: str = artifact.get("foreach_workflow_id") or artifact["loop_workflow_id"]
    return name


def run_of(server: Served, workflow_id: str, instance: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"/workflows/{workflow_id}/instances/{instance}")
    return found


def sources(params: dict[str, Any], *names: str) -> list[Any]:
    return [params[name].get("source") for name in names]


def test_a_loop_in_a_loop_hands_down_what_it_has_from_the_outer_one(server: Served) -> None:
    inner = foreach("inner", "j", [5], noop("x"))
    push(server, "loops", foreach("outer", "i", [3], inner, own=text("o")), given=text("g"))
    server.start("loops")
    server.ended("loops")
    outer = inline(server, "loops", "outer")
    within = run_of(server, inline(server, outer, "inner"))
    params, given = within["params"], within["run_params"]
    assert {each["source"] for each in params.values()} == {"FOREACH"}
    assert not any("expression" in each for each in params.values())
    assert (params["i"]["value"], params["i"]["mode"], params["i"]["tags"]) == (3, "MUTABLE", [])
    assert params["RUN_TS"]["mode"] == "MUTABLE_ON_START"
    assert given["j"] == {"value": 5, "type": "LONG"}
    assert sources(given, "i", "given", "own", "RUN_TS") == ["FOREACH"] * 4
    assert "loop_params" not in params.keys() | given.keys()
    around = run_of(server, outer)["run_params"]
    assert around["own"] == {
        "value": "o",
        "type": "STRING",
        "tags": [],
        "mode": "MUTABLE",
        "source": "DEFINITION",
    }
    assert sources(around, "given", "RUN_TS", "i") == ["DEFINITION", "SYSTEM_DEFAULT", None]


def test_a_while_gives_its_values_and_its_condition(server: Served) -> None:
    step = {"step": {"id": "x", "type": "NoOp", "params": {"k": {"expression": "k + 1", "type": "LONG"}}}}
    loop = {"type": "MAP", "value": {"k": {"value": 1, "type": "LONG"}}}
    push(
        server,
        "whiles",
        {"while": {"id": "w", "condition": "k < 3", "params": {"loop_params": loop}, "steps": [step]}},
        given=text("g"),
    )
    server.start("whiles")
    server.ended("whiles")
    second = run_of(server, inline(server, "whiles", "w"), 2)
    assert {each["source"] for each in second["params"].values()} == {"WHILE"}
    assert {name: second["run_params"][name] for name in ("k", "loop_index", "condition")} == {
        "k": {"value": 2, "type": "LONG"},
        "loop_index": {"value": 1, "type": "LONG"},
        "condition": {"value": True, "type": "BOOLEAN"},
    }
    assert sources(second["run_params"], "given", "owner") == ["DEFINITION", "SYSTEM_DEFAULT"]


def test_a_child_of_an_iteration_was_started_with_what_the_iteration_has(server: Served) -> None:
    push(server, "child-of-loop", noop("c"))
    sub = {"subworkflow": {"id": "s", "params": {"subworkflow_id": text("child-of-loop"), "x": text("y")}}}
    push(server, "sub-in-loop", foreach("f", "i", [4], sub), given=text("g"))
    server.start("sub-in-loop")
    server.ended("sub-in-loop")
    child = run_of(server, "child-of-loop")
    assert sources(child["run_params"], "i", "given", "x") == ["FOREACH", "FOREACH", "DEFINITION"]
    assert sources(child["params"], "i", "given", "x") == ["SUBWORKFLOW"] * 3
    assert child["run_params"].keys() >= DEFAULT_NAMES
    assert not child["run_params"].keys() & {"subworkflow_id", "subworkflow_version", "loop_params"}


def test_a_child_with_explicit_params_was_started_with_these_alone(server: Served) -> None:
    push(server, "explicit-child", noop("c"))
    params = {"subworkflow_id": text("explicit-child"), "x": text("a"), "y": text("b", mode="CONSTANT")}
    push(
        server,
        "explicit",
        {"subworkflow": {"id": "s", "explicit_params": True, "params": params}},
        z=text("c"),
    )
    server.start("explicit")
    server.ended("explicit")
    given = run_of(server, "explicit-child")["run_params"]
    assert {name: each["mode"] for name, each in given.items()} == {"x": "MUTABLE", "y": "CONSTANT"}


def test_members_of_a_map_are_inherited_with_the_map(server: Served) -> None:
    table = {"type": "MAP", "value": {"name": text("sales"), "rows": {"expression": "2 * 3", "type": "LONG"}}}
    push(server, "maps", foreach("f", "i", [1], noop("x")), table=table)
    server.start("maps")
    server.ended("maps")
    found = run_of(server, inline(server, "maps", "f"))["params"]["table"]
    assert found["evaluated_result"] == {"name": "sales", "rows": 6}
    assert found["value"]["rows"] == {
        "value": 6, "type": "LONG", "tags": [], "mode": "MUTABLE", "source": "FOREACH",
    }  # fmt: skip


def test_an_immutable_parameter_keeps_its_expression(server: Served) -> None:
    fixed = {"expression": "40 + 2", "type": "LONG", "mode": "IMMUTABLE"}
    push(server, "fixed", foreach("f", "i", [1, 2], noop("x")), fixed=fixed)
    server.start("fixed")
    server.ended("fixed")
    second = run_of(server, inline(server, "fixed", "f"), 2)
    assert second["params"]["fixed"]["expression"] == second["run_params"]["fixed"]["expression"] == "40 + 2"
    assert second["params"]["fixed"]["evaluated_result"] == 42
    assert "value" not in second["params"]["fixed"]


def test_a_page_of_iterations_shows_the_same_as_each(server: Served) -> None:
    push(server, "paged", foreach("f", "i", [1, 2, 3], noop("x")), given=text("g"))
    server.start("paged")
    server.ended("paged")
    name = inline(server, "paged", "f")
    page = server.get(f"/workflows/{name}/instances?first=10")["elements"]
    assert [each["run_params"]["i"]["value"] for each in page] == [3, 2, 1]
    assert page[1]["run_params"] == run_of(server, name, 2)["run_params"]
    assert page[1]["runtime_workflow"]["params"] == {}


def test_a_restarted_iteration_shows_what_it_was_given_and_what_it_has(server: Served) -> None:
    step = {
        "step": {"id": "x", "type": "NoOp", "params": {"v": {"expression": "1 / (n - i)", "type": "LONG"}}}
    }
    push(server, "again", foreach("f", "i", [1, 2], step), n={"value": 2, "type": "LONG"})
    server.start("again")
    server.ended("again", 1, "FAILED")
    name = inline(server, "again", "f")
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "run_params": {"n": {"value": 9, "type": "LONG"}}}
    server.post(f"/workflows/{name}/instances/2/actions/restart", body)
    server.ended("again")
    second = run_of(server, name, 2)
    assert (second["params"]["n"]["value"], second["params"]["n"]["source"]) == (9, "FOREACH")
    assert (second["run_params"]["n"]["value"], second["run_params"]["n"]["source"]) == (2, "DEFINITION")
    assert second["run_config"]["restart_config"]["restart_params"] == {"n": {"value": 9, "type": "LONG"}}


def test_parameters_of_a_step_have_the_source_of_the_request_that_gave_them(server: Served) -> None:
    boom = {"step": {"id": "x", "type": "NoOp", "params": {"v": {"expression": "1 / d", "type": "LONG"}}}}
    push(server, "given-again", boom, d={"value": 0, "type": "LONG"})
    server.start("given-again")
    server.ended("given-again", 1, "FAILED")
    body = {
        "restart_policy": "RESTART_FROM_INCOMPLETE",
        "step_run_params": {"v": {"value": 7, "type": "LONG"}},
    }
    server.post("/workflows/given-again/instances/1/steps/x/actions/restart", body)
    server.ended("given-again")
    found = server.get("/workflows/given-again/instances/1/steps/x")
    assert (found["params"]["v"]["source"], found["params"]["v"]["value"]) == ("RESTART", 7)
    push(server, "given-inside", foreach("f", "i", [1], boom), d={"value": 0, "type": "LONG"})
    server.start("given-inside")
    server.ended("given-inside", 1, "FAILED")
    inside = inline(server, "given-inside", "f")
    server.post(f"/workflows/{inside}/instances/1/steps/x/actions/restart?blocking=false", body)
    server.ended("given-inside")
    found = server.get(f"/workflows/{inside}/instances/1/steps/x")
    assert (found["params"]["v"]["source"], found["params"]["v"]["value"]) == ("FOREACH", 7)
