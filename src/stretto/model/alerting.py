"""Whom to tell, of what, and how."""

import msgspec

from stretto.model.retry import Number
from stretto.model.words import Word


class AlertAction(Word):
    EMAIL = "email"
    PAGE = "page"
    SLACK = "slack"
    CANCEL = "cancel"


class AlertGranularity(Word):
    WORKFLOW = "WORKFLOW"
    STEP = "STEP"
    ALL = "ALL"


class PagerDutySeverity(Word):
    CRITICAL = "CRITICAL"
    ERROR = "ERROR"
    WARNING = "WARNING"
    INFO = "INFO"


class AlertType(Word):
    STEP_FAILURE = "STEP_FAILURE"
    TCT_VIOLATION = "TCT_VIOLATION"
    LONG_RUNNING = "LONG_RUNNING"
    DEPENDENCY_LATE = "DEPENDENCY_LATE"
    BREAKPOINT_HIT = "BREAKPOINT_HIT"
    DEFINITION_CHANGE = "DEFINITION_CHANGE"
    RUN_SUCCESS = "RUN_SUCCESS"
    SUCCESS_WITHIN = "SUCCESS_WITHIN"


class Slack(msgspec.Struct, frozen=True, kw_only=True):
    users: tuple[str, ...] | None = None
    channels: tuple[str, ...] | None = None
    mention_users: tuple[str, ...] | None = None


class BypassDigest(msgspec.Struct, frozen=True, kw_only=True):
    workflow: bool | None = None
    steps: tuple[str, ...] | None = None


class PagerDuty(msgspec.Struct, frozen=True, kw_only=True):
    severity: PagerDutySeverity | None = None
    always_page: bool | None = None


class TargetCompletionTime(msgspec.Struct, frozen=True, kw_only=True):
    """When a run should be done (`tct`): exactly one of the three ways to say it."""

    completed_by_hour: int | None = None
    duration_minutes: int | None = None
    completed_by_ts: int | None = None
    tz: str | None = None


class AlertTypeConfig(msgspec.Struct, frozen=True, kw_only=True):
    emails: tuple[str, ...] | None = None
    pagerduties: tuple[str, ...] | None = None
    slack: Slack | None = None
    actions: tuple[AlertAction, ...] | None = None
    disabled: bool = False
    granularity: AlertGranularity | None = None
    duration_minutes: Number | None = None


class Alerting(msgspec.Struct, frozen=True, kw_only=True):
    emails: tuple[str, ...] | None = None
    pagerduties: tuple[str, ...] | None = None
    slack: Slack | None = None
    bypass_digest_config: BypassDigest | None = None
    pagerduty_config: PagerDuty | None = None
    tct: TargetCompletionTime | None = None
    type_configs: dict[AlertType, AlertTypeConfig] | None = None
