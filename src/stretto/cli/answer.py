"""`stretto answer`: answer for a step that waits for somebody, on a server."""

from typing import TYPE_CHECKING

import click

from stretto.actions.parts.finding import step_in
from stretto.cli.address import ADDRESS, Address, readable
from stretto.cli.config_options import server_options
from stretto.cli.remote.reading import name_of
from stretto.cli.remote.server import talking
from stretto.cli.running.wanted import taken_apart, values_of
from stretto.cli.target import Given, server_of
from stretto.model.param import Params
from stretto.model.wire import encode, to_json

if TYPE_CHECKING:
    from stretto.actions.reading.nesting import Nested
    from stretto.client import Client


@click.command(name="answer")
@click.argument("address", type=ADDRESS, metavar="RUN:STEP")
@click.option("--reject", is_flag=True, help="Fail the step instead of letting it go on.")
@click.option(
    "-p",
    "--param",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A value that the step goes on with. Repeatable.",
)
@click.option("--note", default="", metavar="TEXT", help="A note that is kept with the answer.")
@click.option("--request-id", metavar="ID", help="The same id counts once, however often it is sent.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, in the form of the API.")
@server_options
def command(  # noqa: PLR0913 - one for each option
    address: Address,
    *,
    reject: bool,
    given: tuple[str, ...],
    note: str,
    request_id: str | None,
    as_json: bool,
    server: str | None,
    user: str | None,
    config_file: str | None,
    assignments: tuple[str, ...],
    context: str | None,
) -> None:
    """Answer for a step that waits for somebody: it goes on with the given values, or fails.

    If the step does not ask yet, the run keeps the answer until it does. STEP is a step, or a path to one
    inside loops and subworkflows.

    \b
    Examples:
      stretto answer release/3:go-live -p share=25 --note 'well tested'
      stretto answer 'release/3:each[2].check' --reject
    """
    if address.path is None:
        raise click.UsageError("name the step: RUN:STEP")
    remote = server_of(Given(config_file, assignments, server, context=context, user=user))
    with talking(remote) as client:
        found = client.resolve(name_of(address), address.path)
        if found.step_id is None:
            raise click.UsageError(f"`{address.path}` leads to a run, not to a step")
        made = client.answer(
            found,
            found.step_id,
            found.step_attempt_id or 1,
            approved=not reject,
            values=_values(client, found, found.step_id, given),
            note=note,
            request_id=request_id,
        )
    if as_json:
        click.echo(to_json(encode(made)))
    else:
        event = made.timeline_event
        click.echo(readable(getattr(event, "message", "")))


def _values(client: "Client", found: "Nested", step_id: str, given: tuple[str, ...]) -> Params:
    """Each of the type that the step declares."""
    if not given:
        return {}
    around = client.run(found).runtime_workflow
    step = None if around is None else step_in(around.steps, step_id)
    declared = {} if step is None else step.params or {}
    return values_of(step_id, declared, [taken_apart(each) for each in given])
