"""Retry policies: how they are read, how long a failure waits, and when there is no more try."""

import pytest

from stretto.engine.retry import (
    DEFAULT_RETRIES,
    NO_RETRIES,
    BadRetryPolicy,
    Budget,
    Failure,
    Retries,
    backoff_of,
    delay_seconds,
    may_retry,
    read_retries,
    retries_of,
    retry_message,
    status_after,
)
from stretto.model.errors import NotFound, WrongState
from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.status import StepStatus as S


def as_written(text: str) -> str:
    raise AssertionError(f"{text} holds no variable")


def unknown(text: str) -> str:
    raise NotFound(f"no such parameter in {text}")


def test_without_a_policy_the_defaults_hold() -> None:
    assert retries_of(None, as_written) is DEFAULT_RETRIES
    assert retries_of(RetryPolicy(), as_written) == DEFAULT_RETRIES
    assert retries_of(RetryPolicy(backoff=ExponentialBackoff()), as_written) == DEFAULT_RETRIES


def test_numbers_texts_durations_and_variables_are_read() -> None:
    policy = RetryPolicy(
        error_retry_limit=" 5 ",
        platform_retry_limit="${many}",
        backoff=ExponentialBackoff(
            error_retry_backoff_in_secs="1 min 40 s",
            error_retry_exponent=0,
            error_retry_limit_in_secs="${long}",
            timeout_retry_backoff_in_secs=1,
        ),
    )
    values = {"${many}": "7", "${long}": "2 hours"}
    assert read_retries(policy, values.__getitem__) == Retries(
        user=Budget(5, 100, 0, 7_200),
        platform=Budget(7, 60, 2, 3_600),
        timeout=Budget(0, 1, 2, 3_600),
    )


def test_a_fixed_backoff_has_no_exponent() -> None:
    policy = RetryPolicy(backoff=FixedBackoff(error_retry_backoff_in_secs=5))
    retries = read_retries(policy, as_written)
    assert retries.user == Budget(2, 5, 1, 5)
    assert {delay_seconds(retries, S.USER_FAILED, failures) for failures in range(200)} == {5}
    assert {delay_seconds(retries, S.PLATFORM_FAILED, failures) for failures in range(200)} == {60}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            RetryPolicy(timeout_retry_limit=100),
            "timeout_retry_limit value [100] is parsed to [100] but cannot",
        ),
        (RetryPolicy(platform_retry_limit="ten"), 'value ["ten"] is parsed to [ten] but not a number'),
        (RetryPolicy(platform_retry_limit="9" * 30), "not a number"),
        (RetryPolicy(error_retry_limit="\N{SUPERSCRIPT TWO}"), "not a number"),
        (RetryPolicy(backoff=FixedBackoff(error_retry_backoff_in_secs="soon")), "[soon] but not a duration"),
        (RetryPolicy(backoff=FixedBackoff(error_retry_backoff_in_secs=0)), "[1] or more than [86400]"),
        (RetryPolicy(backoff=FixedBackoff(error_retry_backoff_in_secs="999ms")), "parsed to [0]"),
        (RetryPolicy(backoff=ExponentialBackoff(error_retry_limit_in_secs="2 days")), "parsed to [172800]"),
        (
            RetryPolicy(backoff=ExponentialBackoff(timeout_retry_exponent=2**31)),
            "[0] or more than [2147483647]",
        ),
    ],
)
def test_one_wrong_number_makes_the_whole_policy_the_default(policy: RetryPolicy, said: str) -> None:
    with pytest.raises(BadRetryPolicy) as caught:
        read_retries(policy, as_written)
    assert said in caught.value.message
    assert retries_of(policy, as_written) is DEFAULT_RETRIES


def test_a_variable_that_nobody_knows_makes_it_the_default_too() -> None:
    assert retries_of(RetryPolicy(error_retry_limit="$foo"), unknown) is DEFAULT_RETRIES


@pytest.mark.parametrize(("exponent", "delays"), [(0, [7, 0, 0]), (1, [7, 7, 7]), (2**31 - 1, [7, 900, 900])])
def test_extreme_exponents_and_counts_are_harmless(exponent: int, delays: list[int]) -> None:
    budget = Budget(99, 7, exponent, 900)
    assert [budget.delay(failures) for failures in (0, 1, 10**12)] == delays


def test_a_cap_below_the_base_is_the_delay() -> None:
    assert Budget(1, 60, 2, 10).delay(0) == 10


@pytest.mark.parametrize("status", [status for status in S if not status.is_retryable])
def test_only_a_retryable_failure_has_a_delay(status: S) -> None:
    with pytest.raises(WrongState, match="to get next retry delay"):
        delay_seconds(DEFAULT_RETRIES, status, 0)


def test_each_kind_of_failure_has_its_own_budget() -> None:
    retries = Retries(Budget(1, 1, 1, 1), Budget(2, 1, 1, 1), Budget(0, 1, 1, 1))
    assert [may_retry(retries, Failure.USER, n) for n in (0, 1)] == [True, False]
    assert [may_retry(retries, Failure.PLATFORM, n) for n in (1, 2)] == [True, False]
    assert not may_retry(retries, Failure.TIMEOUT, 0)


def test_what_a_failure_makes_of_the_attempt() -> None:
    retries = Retries(Budget(1, 1, 1, 1), Budget(1, 1, 1, 1), Budget(1, 1, 1, 1))
    assert [status_after(retries, kind, 0) for kind in Failure] == [
        S.USER_FAILED,
        S.PLATFORM_FAILED,
        S.TIMEOUT_FAILED,
    ]
    given_up = [S.FATALLY_FAILED, S.FATALLY_FAILED, S.TIMED_OUT]
    assert [status_after(retries, kind, 1) for kind in Failure] == given_up
    assert [status_after(retries, kind, 0, retryable=False) for kind in Failure] == given_up
    assert [status_after(NO_RETRIES, kind, 0) for kind in Failure] == given_up


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59, "59s"), (60, "1m"), (3_661, "1h 1m 1s"), (86_400, "24h")]
)
def test_the_waiting_time_is_told(seconds: int, text: str) -> None:
    assert retry_message(seconds) == f"Retrying task in [{text}]"


@pytest.mark.parametrize("backoff", [FixedBackoff(error_retry_backoff_in_secs=9), ExponentialBackoff()])
def test_the_record_says_the_same_as_the_policy(backoff: FixedBackoff | ExponentialBackoff) -> None:
    retries = read_retries(RetryPolicy(backoff=backoff), as_written)
    again = read_retries(RetryPolicy(backoff=backoff_of(retries)), as_written)
    assert again == retries
    assert type(backoff_of(retries)) is type(backoff)
