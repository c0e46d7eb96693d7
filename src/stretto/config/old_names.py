"""What the settings of other systems are called here. Used in hints, and by the page of all settings."""

from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.model.vocabulary import System

SYSTEMS: Final[Mapping[System, str]] = {
    System.MAESTRO: "Maestro",
    System.TASK_ENGINE: "the task engine",
    System.KUBEMIN: "KubeMin",
    System.CARP: "Carp",
}


class OldName(msgspec.Struct, frozen=True, kw_only=True):
    """One setting of another system: its spellings, and ours. Where there is none, the note says why."""

    system: System
    names: tuple[str, ...]
    ours: tuple[str, ...]
    note: str = ""

    def hint(self) -> str:
        """For somebody who brings the old name along."""
        whose = f"{SYSTEMS[self.system]} calls it so"
        here = f"here it is {' and '.join(f'`{each}`' for each in self.ours)}" if self.ours else self.note
        return f"{whose}; {here}"


def _old(system: System, names: str, ours: str = "", note: str = "") -> OldName:
    return OldName(system=system, names=tuple(names.split()), ours=tuple(ours.split()), note=note)


_M, _T, _K, _C = System.MAESTRO, System.TASK_ENGINE, System.KUBEMIN, System.CARP
_ENGINE: Final = "engine.configs."
_DB: Final = "engine.configs.workflow-database-"
_NO_QUEUES: Final = "there are no queues between the parts of a node"
_NO_POLLS: Final = "nothing is polled; steps are woken"
_RUNTIME: Final = "it belongs to a step runtime"
_IN_DEFINITION: Final = "it is part of a definition"
_WITH_QUEUE: Final = "it belongs to the queues between nodes, which are not there yet"
_WITH_SERVER: Final = "it belongs to what the server tells of itself, which is not there yet"
_WITH_DELIVERY: Final = "it belongs to delivery to Kubernetes, which is not there yet"
_STEPS: Final = "it counts steps, not workflows"
_NO_LEADER: Final = "there is no leader; nodes own flow groups"

_MAESTRO: Final = (
    _old(_M, f"{_ENGINE}jdbc-url {_ENGINE}db-type", "database.url"),
    _old(_M, f"{_ENGINE}jdbc-username {_ENGINE}jdbc-password", "database.url", "parts of the address"),
    _old(_M, f"{_DB}connection-pool-size-max", "database.connections"),
    _old(_M, f"{_DB}connection-pool-idle-min", "", "connections are made when they are needed"),
    _old(_M, f"{_DB}connection-lifetime-max", "database.connection_lifetime"),
    _old(_M, f"{_DB}connection-idle-timeout", "database.connection_idle"),
    _old(_M, f"{_DB}connection-timeout {_DB}login-timeout-seconds", "database.connect_within"),
    _old(_M, f"{_DB}socket-timeout-seconds", "database.statement_within"),
    _old(_M, f"{_DB}initial-retry-delay", "node.retry_first"),
    _old(_M, f"{_DB}max-retry-delay", "node.retry_most"),
    _old(_M, f"{_DB}error-retries", "", "there is no limit: no run fails because of the database"),
    _old(_M, f"{_DB}insert-batch-size", "node.rows_per_commit"),
    _old(_M, f"{_DB}max-search-size", "", "lists are paged"),
    _old(_M, f"{_ENGINE}max-group-num", "", "there are 128 flow groups, fixed when the database is made"),
    _old(_M, f"{_ENGINE}max-group-num-per-node", "", "nodes share all flow groups evenly"),
    _old(_M, f"{_ENGINE}actor-retry-interval-millis", "node.retry_first node.retry_most"),
    _old(_M, f"{_ENGINE}group-flow-fetch-limit", "node.runs_per_load"),
    _old(_M, f"{_ENGINE}flow-refresh-interval-millis", "node.rollup_every"),
    _old(_M, f"{_ENGINE}flow-reconciliation-interval-millis", "node.sweep_every"),
    _old(_M, f"{_ENGINE}group-heartbeat-interval-millis", "node.beat_every"),
    _old(_M, f"{_ENGINE}expiration-duration-millis", "node.expiry"),
    _old(_M, f"{_ENGINE}initial-maintenance-delay-millis", "", "a node looks for flow groups at once"),
    _old(_M, f"{_ENGINE}maintenance-delay-millis", "node.claim_every"),
    _old(_M, f"{_ENGINE}internal-worker-num", "node.calls_at_once"),
    _old(_M, f"{_ENGINE}flow-engine-address", "", "nodes meet in the database only"),
    _old(_M, "maestro.queue.properties.N.worker-num", "node.effects_at_once", _NO_QUEUES),
    _old(_M, "maestro.queue.properties.N.scan-interval", "node.fetch_soon node.fetch_late"),
    _old(_M, "maestro.queue.properties.N.ownership-timeout", "node.expiry", _NO_QUEUES),
    _old(_M, "maestro.queue.properties.N.batch-limit", "node.events_per_turn", _NO_QUEUES),
    _old(_M, "maestro.queue.properties.N.message-limit", "node.most_active", _NO_QUEUES),
    _old(_M, "maestro.queue.properties.N.execution-budget", "", _NO_QUEUES),
    _old(_M, "maestro.queue.properties.N.retry-interval", "node.retry_first"),
    _old(_M, "maestro.sel.thread-num", "expressions.workers"),
    _old(_M, "maestro.sel.timeout-millis", "expressions.within"),
    _old(_M, "maestro.sel.stack-limit", "expressions.stack"),
    _old(_M, "maestro.sel.loop-limit", "expressions.loop"),
    _old(_M, "maestro.sel.array-limit", "expressions.array"),
    _old(_M, "maestro.sel.length-limit", "expressions.length"),
    _old(_M, "maestro.sel.visit-limit", "expressions.visits"),
    _old(_M, "maestro.sel.memory-limit", "expressions.memory"),
    _old(
        _M,
        "maestro.step-action.action-timeout maestro.step-action.check-interval",
        "",
        "actions do not expire",
    ),
    _old(_M, "stepruntime.foreach.loop-batch-limit", "engine.records_per_decision"),
    _old(_M, "stepruntime.foreach.insert-batch-limit", "node.rows_per_commit"),
    _old(_M, "stepruntime.foreach.get-rollup-batch-limit", "", "rollups are counted, not read"),
    _old(_M, "stepruntime.callback-delay-config", "", _NO_POLLS),
    _old(_M, "stepruntime.tag-permit-task.scan-interval", "node.sweep_every"),
    _old(_M, "stepruntime.tag-permit-task.clean-up-interval", "", "permits go with their attempt"),
    _old(
        _M,
        "stepruntime.tag-permit-task.batch-size stepruntime.enable-tag-permit",
        "",
        "permits are always on",
    ),
    _old(_M, "stepruntime.subworkflow.always-pass-down-param-names", "", _RUNTIME),
    _old(_M, "stepruntime.job-template-cache.cache-ttl", "", "templates are read when a run needs them"),
    _old(_M, "stepruntime.http.connection-timeout stepruntime.http.send-timeout", "", _RUNTIME),
    _old(_M, "stepruntime.http.max-response-size stepruntime.http.allow-list", "", _RUNTIME),
    _old(_M, "server.port", "server.port"),
    # What can not be set in Maestro; the note has its number.
    _old(_M, "STEP_LIST_SIZE_LIMIT", "limits.steps", "300"),
    _old(_M, "WORKFLOW_CREATE_REQUEST_DATA_SIZE_LIMIT", "limits.text", "256 KB"),
    _old(_M, "FOREACH_ITERATION_LIMIT", "limits.iterations engine.iterations", "25,000"),
    _old(_M, "WORKFLOW_DEPTH_LIMIT", "engine.depth", "10"),
    _old(_M, "TOTAL_LEAF_STEP_COUNT_LIMIT", "engine.leaves", "1,000,000"),
    _old(_M, "FOREACH_CONCURRENCY_MAX_LIMIT", "limits.foreach_concurrency", "500"),
    _old(_M, "STEP_CONCURRENCY_MAX_LIMIT", "limits.step_concurrency", "1,000"),
    _old(_M, "WORKFLOW_CONCURRENCY_MAX_LIMIT", "limits.workflow_concurrency", "1,000"),
    _old(_M, "INSTANCE_STEP_CONCURRENCY_MAX_LIMIT", "limits.instance_step_concurrency", "999"),
    _old(_M, "ID_LENGTH_LIMIT", "limits.id_length", "128"),
    _old(_M, "NAME_LENGTH_LIMIT", "limits.name_length", "256"),
    _old(_M, "FIELD_SIZE_LIMIT", "limits.description_length", "16,384"),
    _old(_M, "PARAM_MAP_SIZE_LIMIT", "params.entries", "128"),
    _old(_M, "JSONIFIED_PARAMS_STRING_SIZE_LIMIT", "params.size", "750,000"),
    _old(_M, "MAX_TIME_OUT_LIMIT_IN_MILLIS", "limits.timeout", "120 days"),
    _old(_M, "TIME_TRIGGER_MINIMUM_INTERVAL", "limits.fire_gap", "2 minutes"),
    _old(_M, "BATCH_DELETION_LIMIT", "retention.rows_at_once", "200"),
)
_TASK: Final = "task-engine."
_TASK_ENGINE: Final = (
    _old(
        _T,
        f"{_TASK}storage.database.dsn {_TASK}storage.database.type storage.dsn storage.type",
        "database.url",
    ),
    _old(_T, f"{_TASK}storage.database.max_open_conns", "database.connections"),
    _old(_T, f"{_TASK}storage.database.max_idle_conns", "", "connections are made when they are needed"),
    _old(_T, f"{_TASK}storage.database.conn_max_lifetime", "database.connection_lifetime"),
    _old(_T, f"{_TASK}storage.database.conn_max_idle_time", "database.connection_idle"),
    _old(_T, f"{_TASK}execution.worker_concurrency engine.max_concurrency", "node.calls_at_once"),
    _old(_T, f"{_TASK}execution.default_task_timeout engine.timeout_seconds", "engine.default_timeout"),
    _old(_T, f"{_TASK}execution.retry.enabled {_TASK}execution.retry.max_attempts", "", _IN_DEFINITION),
    _old(_T, f"{_TASK}execution.retry.delay {_TASK}execution.retry.max_delay", "", _IN_DEFINITION),
    _old(_T, f"{_TASK}storage.cache.enabled", "", "results are kept in the database"),
    _old(
        _T,
        f"{_TASK}storage.cache.default_ttl {_TASK}storage.cache.clean_interval",
        "retention.runs retention.every",
    ),
    _old(_T, f"{_TASK}general.log_level {_TASK}general.instance_name {_TASK}general.env", "", _WITH_SERVER),
)
_KUBEMIN: Final = (
    _old(_K, "--datastore-url --datastore-type --datastore-database", "database.url"),
    _old(_K, "--mysql-max-open-conns", "database.connections"),
    _old(_K, "--mysql-max-idle-conns", "", "connections are made when they are needed"),
    _old(_K, "--mysql-conn-max-lifetime", "database.connection_lifetime"),
    _old(_K, "--mysql-conn-max-idle-time", "database.connection_idle"),
    _old(_K, "--workflow-max-concurrent workflow.maxConcurrentWorkflows", "node.calls_at_once", _STEPS),
    _old(_K, "--workflow-sequential-max-concurrency workflow.sequentialMaxConcurrency", "", _WITH_DELIVERY),
    _old(_K, "--workflow-default-job-timeout workflow.defaultJobTimeout", "engine.default_timeout"),
    _old(_K, "--workflow-local-poll-interval workflow.localPollInterval", "node.fetch_soon node.fetch_late"),
    _old(
        _K,
        "--workflow-dispatch-poll-interval workflow.dispatchPollInterval",
        "node.fetch_soon node.fetch_late",
    ),
    _old(_K, "--workflow-worker-stale-interval workflow.workerStaleInterval", "node.ask_every"),
    _old(_K, "--workflow-worker-autoclaim-idle workflow.workerAutoClaimMinIdle", "node.expiry"),
    _old(_K, "--workflow-worker-autoclaim-count workflow.workerAutoClaimCount", "node.runs_per_load"),
    _old(_K, "--workflow-worker-read-count workflow.workerReadCount", "node.events_per_turn"),
    _old(_K, "--workflow-worker-read-block workflow.workerReadBlock", "node.fetch_late"),
    _old(_K, "workflow.workerBackoffMin", "node.retry_first"),
    _old(_K, "workflow.workerBackoffMax", "node.retry_most"),
    _old(
        _K,
        "workflow.workerMaxReadFailures workflow.workerMaxClaimFailures",
        "",
        "there is no limit to the tries",
    ),
    _old(_K, "--msg-type messaging.type --msg-channel-prefix messaging.channelPrefix", "", _WITH_QUEUE),
    _old(_K, "--msg-redis-maxlen messaging.redisStreamMaxLen", "", _WITH_QUEUE),
    _old(_K, "--msg-kafka-brokers messaging.kafkaBrokers", "", _WITH_QUEUE),
    _old(_K, "--msg-kafka-group-id messaging.kafkaGroupID", "", _WITH_QUEUE),
    _old(_K, "--msg-kafka-offset-reset messaging.kafkaAutoOffsetReset", "", _WITH_QUEUE),
    _old(_K, "--cache-ttl cache.cacheTTL", "retention.runs", "results are kept in the database"),
    _old(
        _K,
        "--cache-type cache.cacheType --cache-host cache.cacheHost --cache-port cache.cacheProt",
        "",
        _WITH_QUEUE,
    ),
    _old(_K, "--cache-db cache.cacheDB --cache-prefix cache.keyPrefix", "", _WITH_QUEUE),
    _old(_K, "--cache-username --cache-password", "", _WITH_QUEUE),
    _old(_K, "--lock-name --leader-namespace --duration --exit-on-lost-leader --id", "", _NO_LEADER),
    _old(_K, "--bind-addr", "server.host server.port"),
    _old(_K, "--enable-tracing --auto-tracing --jaeger-endpoint", "", _WITH_SERVER),
    _old(_K, "--kube-api-qps --kube-api-burst", "", _WITH_DELIVERY),
)
_CARP: Final = (_old(_C, "maxRetryTimes timeout", "", "attributes of a node; they are part of a definition"),)

OLD_NAMES: Final = (*_MAESTRO, *_TASK_ENGINE, *_KUBEMIN, *_CARP)


def _by_name() -> dict[str, OldName]:
    """How a file would say it; a flag's name is looked for without its dashes."""
    return {name.removeprefix("--"): each for each in OLD_NAMES for name in each.names}


BY_NAME: Final[Mapping[str, OldName]] = _by_name()
