"""Every setting: its name, where it stands in `Config`, what kind of value it has, and what it means.

The defaults are not here: they are those of the records. A test holds that no field is left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

import msgspec

from stretto.config.database_url import DatabaseUrl
from stretto.config.kinds import Choice, Count, Folder, Host, Kind, Modules, Name, OrNone, Switch
from stretto.config.server_url import ServerUrl
from stretto.config.settings import Config, FieldPath, value_at
from stretto.config.units import DAY, HOUR, KB, MB, SECOND, Duration, Size
from stretto.params import ParamLimits
from stretto.params.requests import MOST_SIZE
from stretto.runtimes.settings import Isolation
from stretto.sel import Limits as ExpressionLimits
from stretto.store.settings import Synchronous
from stretto.store.sql.lengths import ID_LENGTH, NAME_LENGTH

DEFAULTS: Final = Config()
PREFIX: Final = "STRETTO_"  # of all variables

SECTIONS: Final[Mapping[str, str]] = {
    "database": "Where everything is kept, and how it is reached.",
    "node": "How a node behaves: its lease on flow groups, its intervals, and how much it does at once.",
    "engine": "Policies of the engine: how large a run may become, and what holds by default.",
    "limits": "What a definition may contain. What was published stays, whatever the limits become.",
    "params": "How much requests and runs may carry.",
    "expressions": "How much an expression may use. A limit is exclusive: who reaches the number is stopped.",
    "retention": "How long ended things are kept. Nothing unfinished is ever deleted.",
    "runtimes": "How the commands and functions of steps are run, and what is kept of what they print.",
    "server": "Where `stretto serve` listens, and how patient it is with its clients.",
    "client": "Where commands find a server, and how patient they are with it.",
}


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be set. `name` is its section and its key in a file: `node.beat_every`."""

    name: str
    path: FieldPath
    kind: Kind
    meaning: str
    secret: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.replace(".", "_").upper()

    @property
    def default(self) -> Any:
        """What holds where nobody says otherwise."""
        return value_at(DEFAULTS, self.path)


# Key -> what kind of value, what it means, and the field where that is not the key.
_Rows = Mapping[str, tuple[Kind, str] | tuple[Kind, str, str]]

_DURATION: Final = Duration()
_COUNT: Final = Count()
_LARGEST: Final = Count(most=100_000_000)

_DATABASE: Final[_Rows] = {
    "url": (
        DatabaseUrl(),
        "`sqlite:///PATH`, `postgresql://USER:PASSWORD@HOST/NAME`, `mariadb://...`, `mysql://...` or `memory://`",
    ),
    "synchronous": (
        Choice(Synchronous),
        "durable: a commit is on disk before anything follows from it; relaxed: a loss of power may undo it",
    ),
    "connections": (Count(most=1_000), "connections at once; on SQLite those that read, as one alone writes"),
    "connect_within": (_DURATION, "how long making a connection may take"),
    "statement_within": (_DURATION, "how long one statement may take"),
    "lock_within": (_DURATION, "how long a statement may wait for a lock"),
    "idle_in_transaction": (
        _DURATION,
        "a client that froze inside a transaction loses its locks after so long",
    ),
    "connection_idle": (_DURATION, "an unused connection is closed after so long"),
    "connection_lifetime": (_DURATION, "any connection is replaced after so long"),
    "blob_from": (
        Size(least=KB, most=8 * MB),
        "a document of so many characters leaves its row for the blob table",
    ),
}
_NODE: Final[_Rows] = {
    "beat_every": (_DURATION, "between two beats, by which a node says that it lives"),
    "trust": (_DURATION, "how long after a beat a node trusts its leases, without an answer to a later one"),
    "watch": (_DURATION, "an expired beat must stand still for so long before its node is buried"),
    "watch_longer": (_DURATION, "a beat that stands still for so long is buried, whatever the clocks say"),
    "claim_every": (_DURATION, "between two looks for flow groups that nobody owns"),
    "give_up_at_once": (_COUNT, "flow groups that are given up per beat when another node has joined"),
    "fetch_soon": (_DURATION, "from a fetch that found something to the next"),
    "fetch_late": (_DURATION, "between two fetches while nothing comes: the slowest"),
    "sweep_every": (_DURATION, "between two sweeps, which repair what a crash left undone"),
    "ask_every": (_DURATION, "between two questions whether work that another node does is still there"),
    "calm_after": (_DURATION, "a flow group that fell and was held in peace for so long counts as healthy"),
    "falls_to_be_careful": (_COUNT, "deaths of owners after which a flow group is handled step by step"),
    "rows_per_commit": (_COUNT, "rows that one transaction writes"),
    "rows_beside_others": (_COUNT, "rows that one run writes at once while others have something to do"),
    "commits_at_once": (_COUNT, "commits under way"),
    "events_per_turn": (_COUNT, "events of one flow group before others have their turn"),
    "loads_at_once": (_COUNT, "loads of runs under way"),
    "runs_per_load": (_COUNT, "runs that are loaded together"),
    "effects_at_once": (_COUNT, "effects under way that need the store"),
    "calls_at_once": (_COUNT, "calls of step runtimes under way: the pool of a node"),
    "retry_first": (_DURATION, "the first pause after the store failed; doubled from then on"),
    "retry_most": (_DURATION, "the longest pause after the store failed; there is no limit to the tries"),
    "live_leaves": (_COUNT, "leaf steps of iterations in memory, over all runs; more iterations wait"),
    "park_after": (_DURATION, "a run that only waits leaves memory after so long"),
    "most_active": (_COUNT, "runs in memory; those that wait longest leave first"),
    "rollup_every": (_DURATION, "between two rollups that are written for one run"),
    "stop_within": (
        _DURATION,
        "how long a stop may take; a server has ended then, and what goes on is ended after three quarters",
    ),
}
_ENGINE: Final[_Rows] = {
    "depth": (_COUNT, "loops and subworkflows inside each other"),
    "iterations": (_LARGEST, "iterations of one loop, while it runs"),
    "leaves": (OrNone(_COUNT), "steps inside one loop, over all its iterations; more stop the run"),
    "live_leaves": (_COUNT, "leaf steps of the iterations of one run in memory; more iterations wait"),
    "loop_concurrency": (_COUNT, "iterations of a foreach at once, where its author says nothing"),
    "records_per_decision": (
        _COUNT,
        "new records, or kilobytes of parameters, after which a loop lets the commit happen first",
    ),
    "redirects": (_COUNT, "attempts of one step that redirects may make"),
    "early_answers": (_COUNT, "answers that a run keeps for steps that do not ask yet; more are refused"),
    "default_sleep": (
        Duration(least=0, unit=SECOND),
        "how long a Sleep step sleeps, where its author says nothing",
        "default_sleep_seconds",
    ),
    "default_timeout": (
        _DURATION,
        "how long a run or a step may take, where its author says nothing",
        "default_timeout_millis",
    ),
    "function_within": (
        Duration(least=0),
        "how long a step waits for a process that knows its function, before it fails; 0: it fails at once",
    ),
    "step_concurrency": (OrNone(_COUNT), "steps of a workflow at once, where its properties say nothing"),
    "workflow_permits": (
        OrNone(_COUNT),
        "steps of a workflow at once over all its instances, where nobody set a limit",
        "permit_defaults.workflow",
    ),
    "step_permits": (
        OrNone(_COUNT),
        "attempts of one step at once over all instances, where nobody set a limit",
        "permit_defaults.step",
    ),
    "expression_visits": (_COUNT, "visits of an expression in the engine; longer ones go to another process"),
}
_LIMITS: Final[_Rows] = {
    "text": (Size(least=KB), "the text of a definition", "text_bytes"),
    "nesting": (Count(most=1_000), "levels of lists and objects"),
    "nodes": (_COUNT, "keys, values, lists and objects of one text or request body"),
    "alias_nodes": (_COUNT, "values that YAML aliases may stand for, all together"),
    "problems": (_COUNT, "problems that are reported for one document"),
    "steps": (_COUNT, "steps over all levels"),
    "id_length": (Count(most=ID_LENGTH), "characters of an id"),
    "name_length": (Count(most=NAME_LENGTH), "characters of a name, a tag or a signal"),
    "description_length": (_COUNT, "characters of a description"),
    "signals_per_trigger": (_COUNT, "signals that one trigger joins"),
    "foreach_concurrency": (_COUNT, "the highest `concurrency` of a foreach"),
    "step_concurrency": (_COUNT, "the highest `step_concurrency` of a workflow"),
    "workflow_concurrency": (_COUNT, "the highest `workflow_concurrency` of a run strategy"),
    "instance_step_concurrency": (_COUNT, "the highest `instance_step_concurrency` of a workflow"),
    "iterations": (_LARGEST, "iterations of one loop, as far as a definition says"),
    "timeout": (Duration(least=DAY, unit=DAY), "the longest timeout", "timeout_days"),
    "fire_gap": (Duration(least=0), "the least time between two fires of a trigger", "fire_gap_millis"),
    "empty_workflow": (Switch(), "whether a workflow may have no steps"),
}
_PARAMS: Final[_Rows] = {
    "entries": (_COUNT, "parameters of one request"),
    "size": (
        Size(least=KB, most=MOST_SIZE),
        "the JSON of all evaluated parameters of a run or of a step attempt, also of what functions return",
    ),
    "visits": (
        _COUNT,
        "visits of all expressions in the parameters of a run, when it is started or restarted",
    ),
    "memory": (_COUNT, "memory of these expressions: 32 for each value made, 2 for each character"),
}
_EXPRESSIONS: Final[_Rows] = {
    "workers": (Count(most=1_000), "processes in which long expressions are evaluated"),
    "within": (_DURATION, "how long the expressions of one step may take there"),
    "stack": (Count(most=100_000), "operands held at once", "limits.stack"),
    "loop": (_COUNT, "passes of one loop", "limits.loop"),
    "array": (_COUNT, "elements of a new array", "limits.array"),
    "length": (_COUNT, "characters of the expression itself", "limits.length"),
    "visits": (_COUNT, "steps of one evaluation", "limits.visit"),
    "memory": (_COUNT, "32 for each value made, and 2 for each of its characters", "limits.memory"),
    "string": (_COUNT, "characters of one string, and of all that are assigned or appended", "limits.string"),
}
_RETENTION: Final[_Rows] = {
    "runs": (OrNone(Duration(least=DAY)), "instances with all their runs, from the end of the last one"),
    "log": (OrNone(Duration(least=HOUR)), "the change log, from which events are read"),
    "signals": (
        OrNone(Duration(least=DAY)),
        "announced signals; dependencies and duplicates are found among those that are kept",
    ),
    "nodes": (OrNone(Duration(least=HOUR)), "nodes that were buried"),
    "outcomes": (OrNone(Duration(least=HOUR)), "hourly counters of how runs ended"),
    "every": (_DURATION, "between two looks for what may be deleted"),
    "rows_at_once": (Count(most=100_000), "rows that one transaction deletes"),
}
_RUNTIMES: Final[_Rows] = {
    "grace": (_DURATION, "for work to end by itself, once it is told to; then it is ended by force"),
    "commands": (Count(most=10_000), "Shell steps at once"),
    "workers": (Count(most=1_000), "processes in which functions run"),
    "worker_memory": (
        OrNone(Size(least=128 * MB)),
        "that a worker may use, with the processes that it starts",
    ),
    "worker_calls": (OrNone(_COUNT), "calls after which a worker makes room for a new one"),
    "worker_lifetime": (OrNone(_DURATION), "after which a worker makes room for a new one"),
    "import_within": (_DURATION, "how long the import of a function's module may take"),
    "isolation": (
        Choice(Isolation),
        "where functions of Python steps run that say nothing about it; a process can be ended, a thread not",
    ),
    "modules": (OrNone(Modules()), "modules that an `entrypoint` may name, with what is inside; none: any"),
    "logs": (
        OrNone(Folder()),
        "where the output of steps is kept; none: beside the database, as `work.logs` of `work.db`",
    ),
    "log_size": (Size(least=64 * KB), "output that is kept of one launch: its beginning and its end"),
}
_SERVER: Final[_Rows] = {
    "host": (Host(), "where it listens; without authentication only this machine can be named"),
    "port": (Count(least=0, most=65_535), "and at which port; 0: any that is free"),
    "cluster_name": (Name(), "`cluster_name` of the events that it sends"),
    "body": (Size(least=KB), "the body of a request, as it comes and unpacked; larger ones are answered 413"),
    "bodies": (
        Size(least=KB),
        "all bodies under way, more are answered 503; and what is read from them, more has to wait",
    ),
    "answers": (
        Size(least=KB),
        "large answers that clients have not read yet, all together; more are answered 503",
    ),
    "headers": (Size(least=KB), "the headers of a request, and its trailers; larger ones are answered 431"),
    "header_fields": (Count(most=10_000), "header fields of a request; more are answered 431"),
    "pipelined": (
        Count(most=1_000),
        "requests of one connection that wait for an earlier answer; with more the connection is closed",
    ),
    "headers_within": (_DURATION, "how long the first line and the headers of a request may take to come"),
    "body_within": (_DURATION, "how long a body may take to come"),
    "read_within": (_DURATION, "how long a client may take to read what is waiting for it"),
    "idle_within": (Duration(least=SECOND), "a connection without a request is closed after so long"),
    "connections": (Count(most=1_000_000), "connections at once; more are answered 503"),
    "compress_from": (Size(least=1), "answers of this size are compressed for clients that say so"),
    "action_within": (_DURATION, "how long an action on a step waits for what becomes of it"),
    "stop_within": (Duration(least=SECOND), "how long requests may go on when the server stops"),
}
_CLIENT: Final[_Rows] = {
    "server": (ServerUrl(), "the server that commands talk to; who sets it need not write `--server`"),
    "answer_within": (_DURATION, "how long the server may be silent"),
}
_RECORDS: Final[Mapping[str, tuple[FieldPath, _Rows]]] = {
    "database": (("database",), _DATABASE),
    "node": (("node",), _NODE),
    "engine": (("node", "engine"), _ENGINE),
    "limits": (("limits",), _LIMITS),
    "params": (("params",), _PARAMS),
    "expressions": (("expressions",), _EXPRESSIONS),
    "retention": (("retention",), _RETENTION),
    "runtimes": (("runtimes",), _RUNTIMES),
    "server": (("server",), _SERVER),
    "client": (("client",), _CLIENT),
}
# The lease is the node's affair, but it is the store that writes it.
_EXPIRY: Final = Setting(
    name="node.expiry",
    path=("database", "beat_lasts"),
    kind=_DURATION,
    meaning="how long after a beat others may bury the node and take its flow groups",
)


def _settings() -> Iterator[Setting]:
    for section, (around, rows) in _RECORDS.items():
        for key, (kind, meaning, *other) in rows.items():
            below = tuple(other[0].split(".")) if other else (key,)
            name = f"{section}.{key}"
            secret = isinstance(kind, DatabaseUrl)
            yield Setting(name=name, path=(*around, *below), kind=kind, meaning=meaning, secret=secret)
            if name == "node.trust":
                yield _EXPIRY


SETTINGS: Final[Mapping[str, Setting]] = {setting.name: setting for setting in _settings()}
VARIABLES: Final[Mapping[str, Setting]] = {setting.variable: setting for setting in SETTINGS.values()}

# Fields that nobody sets, and why.
NOT_SET: Final[Mapping[FieldPath, str]] = {
    ("limits", "step_types"): "the step types are those that runtimes are registered for",
    **{
        ("node", "engine", part, field.name): f"what `{part}` says is handed down: see `Config.for_node`"
        for part, record in (("expressions", ExpressionLimits), ("params", ParamLimits))
        for field in fields(record)
    },
}
