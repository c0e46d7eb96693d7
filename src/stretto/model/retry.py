"""Retry policies. Every number may be text with `${param}` in it; it is evaluated when the step is made."""

import msgspec

from stretto.model.condition import Condition

Number = int | str  # a number, or text that becomes one; echoed in the form it was given


class ExponentialBackoff(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="EXPONENTIAL_BACKOFF"
):
    """Wait base * exponent^n seconds, at most the limit, for the n-th retry of a class of errors."""

    error_retry_backoff_in_secs: Number | None = None
    error_retry_exponent: Number | None = None
    error_retry_limit_in_secs: Number | None = None
    platform_retry_backoff_in_secs: Number | None = None
    platform_retry_exponent: Number | None = None
    platform_retry_limit_in_secs: Number | None = None
    timeout_retry_backoff_in_secs: Number | None = None
    timeout_retry_exponent: Number | None = None
    timeout_retry_limit_in_secs: Number | None = None


class FixedBackoff(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="type", tag="FIXED_BACKOFF"
):
    """Wait the same time before each retry of a class of errors."""

    error_retry_backoff_in_secs: Number | None = None
    platform_retry_backoff_in_secs: Number | None = None
    timeout_retry_backoff_in_secs: Number | None = None


Backoff = ExponentialBackoff | FixedBackoff


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How often a step is tried again after a user, a platform or a timeout error; unset: the defaults."""

    error_retry_limit: Number | None = None
    platform_retry_limit: Number | None = None
    timeout_retry_limit: Number | None = None
    backoff: Backoff | None = None
    retry_if: Condition | None = None  # decides whether a failure with budget left is tried again
