"""The properties that a run goes by: as they stood when it was made, with its parameters filled in."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import msgspec

from stretto.engine.records import RunRecord
from stretto.model.alerting import Alerting, TargetCompletionTime
from stretto.model.errors import StrettoError
from stretto.model.instance import RunProperties
from stretto.model.param import Parameter
from stretto.model.properties import PropertiesSnapshot
from stretto.model.user import User
from stretto.params import Alone, Moment, RunFacts, Scope, evaluate_text
from stretto.triggers import parse_zone

MINUTE: Final = 60_000


def run_properties(record: RunRecord, snapshot: PropertiesSnapshot | None) -> RunProperties:
    """What a surface shows of them; of a snapshot that is gone only the owner is known."""
    owner = None if record.owner is None else User(name=record.owner)
    if snapshot is None:
        return RunProperties(owner=owner)
    alerting = snapshot.alerting
    return RunProperties(
        create_time=snapshot.create_time,
        owner=owner,
        alerting=None if alerting is None else alerting_of(alerting, record),
        step_concurrency=snapshot.step_concurrency,
        tags=snapshot.tags,
    )


def alerting_of(alerting: Alerting, record: RunRecord) -> Alerting:
    """Addresses with their variables replaced, and a time of completion as a moment. What can not be worked
    out stays as it is written: nobody misses an alert for a typing error.
    """
    emails, tct = alerting.emails, alerting.tct
    return msgspec.structs.replace(
        alerting,
        emails=None if emails is None else tuple(_interpolated(each, record) for each in emails),
        tct=None if tct is None else _moment(tct, record.params),
    )


def _interpolated(text: str, record: RunRecord) -> str:
    facts = RunFacts(workflow_id=record.key.workflow_id)
    with suppress(StrettoError):
        return str(
            evaluate_text("emails", text, Scope(context=Alone(facts), moment=Moment(0)), record.params)
        )
    return text


def _moment(tct: TargetCompletionTime, params: Mapping[str, Parameter]) -> TargetCompletionTime:
    """An hour counts from midnight of the run's date in its zone, and is over a second before it is full."""
    at: int | None = None
    with suppress(KeyError, TypeError, ValueError):
        if tct.duration_minutes is not None:
            at = params["RUN_TS"].evaluated_result + tct.duration_minutes * MINUTE
        elif tct.completed_by_hour is not None:
            zone = parse_zone(tct.tz or params["WORKFLOW_CRON_TIMEZONE"].evaluated_result)
            day = datetime.strptime(params["TARGET_RUN_DATE"].evaluated_result, "%Y%m%d").replace(tzinfo=zone)
            due = day + timedelta(hours=tct.completed_by_hour, seconds=-1)
            at = int(due.timestamp() * 1000)
    return tct if at is None else msgspec.structs.replace(tct, completed_by_ts=at)
