"""The reference of the HTTP API, made from the routes themselves."""

import inspect
from collections.abc import Iterable
from string import Template
from typing import Final

from stretto.api.openapi.document import GATHERED, spelling
from stretto.api.routes import API, HEALTH
from stretto.api.routing import PAGE, READS, SOME, USER, Route, shown_path

INTRO: Final = """\
# HTTP API

<!-- Made by scripts/generate.py from stretto.api; change the routes there. -->

`stretto serve` has the REST API of Maestro, at the same paths, with the same bodies. Where it answers
otherwise, on purpose, is [written down](../explanation/differences.md#http-api). Bodies are JSON, and YAML
where the path ends in `/yaml`.

**Who calls.** There is no authentication yet: the server listens on this machine only, and refuses requests
whose `Host` or `Origin` is another. Who changes something under `/api/v3` says who they are in the header
`user`; without it the answer is 400. Some requests need no user, as in Maestro, and are carried out as
`anonymous` without one: $anonymous. Reads and all of `/api/v1` need none either.

**Errors.** What an action refuses has the body of Maestro: `{"status", "message", "errors"?, "retryable"?}`,
where `status` is a word such as `NOT_FOUND`. A request that makes no sense has all its problems in `errors`,
also a single one. What never came to an action (no such path, a number that is
none, a body that is too large or of another type) is a problem of RFC 9457, `application/problem+json`.

| HTTP | `status` | When |
|---|---|---|
| 400 | `BAD_REQUEST` | the request makes no sense, or the status does not allow the action |
| 404 | `NOT_FOUND` | no such workflow, version, instance, run, step, tag or template |
| 408 | `REQUEST_TIMEOUT` | a blocking action on a step, or a body, took too long |
| 409 | `CONFLICT` | somebody was first: a signal that was announced before, a trigger of another version |
| 412 | `PRECONDITION_FAILED` | runs stand in the way of another run strategy |
| 413, 415 | a problem | the body is too large, or is not what its `Content-Type` should say |
| 422 | `UNPROCESSABLE_ENTITY` | well formed, but it can not be carried out |
| 431 | plain text | the headers or trailers are too large or too many; the connection is closed |
| 500 | `INTERNAL_ERROR` | our fault; the log of the server has it under the request id |
| 503 | `INTERNAL_ERROR` | no answer of the database, or no room; `Retry-After` says when to try again |

**Lists** take `first` (towards older ones) or `last` (towards newer ones), 1 to 200, and `cursor`, which is
the id next to which the page lies. Both at once are refused with 400. A request with neither gets the first
$some elements; Maestro's own lists refuse it with 400: $strict. `total_count` of a workflow's
instances, an instance's runs and a workflow's versions is the span of their ids, and that of a flatten view
the size of the page, as in Maestro. In every other list, with or without a filter, it is how many elements
the list has; where that is not known, it is absent. It is known if the first page shows the whole list, and
in the list of runs with `include=count` if the count is exact. Versions and instances of an unknown workflow,
and runs of an unknown instance, are an empty page.

**A parameter** that a request does not take is refused with 400: a misspelled filter would list everything,
and a misspelled `dry_run` would do it.

**Every answer** has `X-Request-Id` (yours, if you sent one) and `Date`, and is compressed if you accept gzip
and it is large; bodies may come with `Content-Encoding: gzip`. HEAD is answered as GET, without the body.
How long the server waits for slow clients, and how large bodies may be, are
[settings](settings.md#server).

Names that contain a slash, such as those of signals, are written with `%2F` in a path.

**Live events.** `GET /api/v3/events` is a stream of server-sent events: `hello`, then `changes`, each of
which is what one commit has changed, as Maestro's events: those of steps have every move in
`status_change_records`, also in loops and subworkflows, with `workflow_uuid`, `step_uuid` and
`correlation_id`; those of runs and iterations tell each status by itself, a beginning before the steps and an
end after them, with `workflow_name` (the id, if there is no name; of an iteration the attempt of its loop)
and `tags`; all have `cluster_name` ([a setting](settings.md#server)), `sync_time`, when it was stored, and
`send_time`. `topic=run:WORKFLOW/INSTANCE/RUN` and
`topic=workflow:ID`, as often as you like, choose; without a topic everything comes. The id of a message is a
place in the log of changes: who comes back with `Last-Event-ID`, or `cursor=`, goes on there. Order is
promised for each run. `resync` says that what followed is not kept any more, that the place is one of
another database, or that the client reads too slowly (more than 256 KB waited for it): read again. Every GET
answers with such a place in `Stretto-Cursor`: whatever the answer lacks comes behind it, so read first, then
follow.

Screens follow with `level=view`: of what has changed in a topic they hear where it stands, four times a
second at most (twice, if more than 100 clients follow the same topics) and 64 KB at once, however much
happens. `run` has the status, times and counts of a run, its
first error and what it waits for, also when only its steps have moved; `step` the changes of a run's own
steps, each as place in the graph, letter, attempt, start and end (null where the change does not say);
`workflow` what became of a definition; `home` how many runs, without iterations, came to which status;
`approval` that a step began to ask people, or need not any more; `node` the nodes. `resync` names a topic
that must be read again, because too much has changed, or it is not kept. Topics are `run:...`,
`workflow:...`, `runs`, `runs?workflow=ID&tag=NAME&correlation_id=ID&root=yes`, `home`, `approvals`, `cluster`
and `all`; each message says of which it is.

**Live views** read graphs, states and grids in columns: [what they mean](live-views.md).

**Asking for things.** Actions on runs, steps and whole workflows take, in the query:

- `dry_run=true`: nothing is done, and the answer says what would be: the parameters as evaluated, what the
  run strategy would do, which steps would run, which runs and steps would end;
- `reason=`: why, in a line. It is on the timeline of the run or the step, of an unblock on those of the
  failed runs, and of a deletion in the event that tells of it;
- `request_id=`: who sends the same request again under the same id within a week gets the first answer, and
  nothing is done; who sends it while the first is at work waits for its answer, and gets 409 after ten
  seconds. A start or restart may have it in its body, as in Maestro.

`wait=30s` on a start answers when the run has ended, or after that time (at most `10m`), with where it stands
in `run`; the other fields are those of a start that does not wait. Durations are written as in the
[settings](settings.md). Who goes away meanwhile loses nothing: the run goes on.

`POST /api/v3/bulk` does one action to many: `{"action": "RESTART", "ids": [...]}`, where each id names a run
(`workflow_id`, `workflow_instance_id`, maybe `workflow_run_id`) or a step of it (`step_id`); or, in place of
`ids`, a `filter` with the names that `GET /api/v3/instances` has, which is looked up at once. A filter must
leave runs out: by `workflow`, `owner`, `tag` or `correlation_id`, by some of the `status`es, by `since` (in
milliseconds, from 2020 on) or by `until` (in the past). `roots`, all statuses and other times do not count;
who means every run says so by `"all": true`. It is a job:
`GET /api/v3/bulk/{job_id}` says how far it is, `/items` what became of each, `/actions/cancel` leaves the
rest undone. It goes on if the server is killed, or in another server on the same database, and does nothing
twice. Jobs have at most 10,000 items, and are kept for 30 days.

**Writing definitions.** `POST /api/v3/definitions/check` with `{"text", "format"?, "run_params"?}` answers
with every problem and its place (`line`, `column`, `end_line`, `end_column`, `path`, `code`, `hint`, and the
`severity`: `ERROR`, or `WARNING` for what forbids nothing), the definition, its graph, and the parameters as
a run would have them; nothing is stored. A push with `if_latest=7` is refused with 409, and with who was
first, if 7 is not the newest version any more; a change of properties takes the `create_time` of those that
the author saw as `if_match`. `versions/{version}/source` is a version as text, `/form` the
JSON Schema of the `run_params` with which it can be started, and `versions/diff?from=7&to=9` what changed,
step by step and as text.

**Artifacts** of a step attempt are listed with their types and sizes; `/content` is one of them, whole or
the part that `Range` names.

`/openapi.json` describes all of it (OpenAPI 3.1), and `/docs` is a page that shows it and sends requests.
Both come from the server itself; nothing is fetched from elsewhere.
"""


V1: Final = """\
The surface of the task engine, in its words: [there](task-engine-api.md) is more.
"""


def api_reference() -> str:
    """Every route: its method, its path, its query, its body, its answer."""
    sections = [
        f"## Health\n\n{_table(HEALTH)}",
        f"## `/api/v3`\n\n{_table(_below('/api/v3'))}",
        f"## `/api/v1`\n\n{V1}\n{_table(_below('/api/v1'))}",
    ]
    intro = Template(INTRO).substitute(anonymous=_anonymous(), some=SOME, strict=_strict())
    return "\n".join([intro, *sections])


def _anonymous() -> str:
    """The requests under `/api/v3` that change something or check it, and need no user."""
    routes = [route for route in _below("/api/v3") if _method(route) != "GET" and not route.opt[USER]]
    return ", ".join(f"`{_method(route)} {shown_path(_path(route))}`" for route in routes)


def _strict() -> str:
    """The lists that Maestro has, too."""
    lists = [route for route in _below("/api/v3") if PAGE in inspect.signature(route.fn).parameters]
    return ", ".join(f"`{shown_path(_path(route))}`" for route in lists)


def _below(prefix: str) -> list[Route]:
    """The routes of a surface, by path."""
    found = [route for route in API if _path(route).startswith(prefix)]
    return sorted(found, key=lambda route: (shown_path(_path(route)), _method(route)))


def _table(routes: Iterable[Route]) -> str:
    rows = [
        f"| {_method(route)} | `{shown_path(path)}` | {_text(route)} | {_query(route)} | {_body(route)} |\n"
        for route in routes
        for path in sorted(route.paths)
    ]
    return "| Method | Path | What it does | Query | Body |\n|---|---|---|---|---|\n" + "".join(rows)


def _method(route: Route) -> str:
    return ", ".join(sorted(route.http_methods))


def _path(route: Route) -> str:
    return min(route.paths)


def _text(route: Route) -> str:
    return " ".join((inspect.getdoc(route.fn) or "").split())


def _query(route: Route) -> str:
    """The parameters that stand behind the `?`."""
    found: list[str] = []
    for name, field in inspect.signature(route.fn).parameters.items():
        if name in GATHERED:
            found += [f"`{each}`" for each in GATHERED[name]]
        elif name not in {"call", "given"} and f"{{{name}:" not in _path(route):
            found.append(f"`{spelling(name, field.annotation)}`")
    return ", ".join(found)


def _body(route: Route) -> str:
    reads = (route.opt or {}).get(READS)
    return "" if reads is None else f"`{getattr(reads, '__name__', 'list')}`"
