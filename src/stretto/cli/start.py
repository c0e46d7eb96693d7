"""`stretto start`: a run on a server."""

import sys

import click

from stretto.cli.config_options import server_options
from stretto.cli.remote.server import talking
from stretto.cli.remote.watching import Wish, watch
from stretto.cli.running.wanted import STEP_PARAM, params_of, step_params_of, taken_apart
from stretto.cli.target import Given, server_of
from stretto.definition.required import required_by


@click.command(name="start")
@click.argument("workflow_id", metavar="WORKFLOW")
@click.option(
    "-p",
    "--param",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the workflow, of the type that it declares. Repeatable.",
)
@click.option(
    STEP_PARAM,
    "step_given",
    multiple=True,
    metavar="STEP:NAME=VALUE",
    help="A parameter of one step, instead of what the workflow says. Repeatable.",
)
@click.option(
    "--version", default="latest", show_default=True, help="A number, or `active`, `latest` or `default`."
)
@click.option(
    "--request-id",
    metavar="ID",
    help="The same one never starts two runs. With other parameters it is refused.",
)
@click.option("--wait", is_flag=True, help="Wait until the run has ended.")
@click.option("--follow", is_flag=True, help="The same, and say how its steps go.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@server_options
def command(  # noqa: PLR0913 - one for each option
    workflow_id: str,
    *,
    given: tuple[str, ...],
    step_given: tuple[str, ...],
    version: str,
    request_id: str | None,
    wait: bool,
    follow: bool,
    as_json: bool,
    server: str | None,
    context: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
) -> None:
    """Start a workflow on a server.

    The run goes on there, whatever becomes of this command. Exit code 0: it is started or, with --wait or
    --follow, it succeeded; 1: it did not; 2: it was refused, or nobody is there; 130: interrupted.

    \b
    Examples:
      stretto start etl
      stretto start etl -p table=orders -p 'days=1,2,3' --follow
      stretto start etl --step-param load:table=orders_new
      stretto start etl --wait --json --server http://127.0.0.1:8080 | jq .status
    """
    remote = server_of(Given(config_file, assignments, server, context=context, user=user))
    with talking(remote) as client:
        pairs = [taken_apart(each) for each in given]
        found = client.version(workflow_id, version)
        params = params_of(found.workflow, pairs, required_by(found)) or None
        step_params = step_params_of(found.workflow, step_given) or None
        cursor = client.cursor() if follow else None
        made = client.start(
            workflow_id, version, params=params, step_params=step_params, request_id=request_id
        )
        code = watch(client, remote, made, Wish(wait=wait, follow=follow, as_json=as_json, cursor=cursor))
    sys.exit(code)
