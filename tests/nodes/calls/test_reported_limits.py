"""How much of a limit is used and how many requests it refuses, with headers that report it and without."""

import pytest

from duologue.nodes.models.reported_limits import LimitReport, ReportedLimit, limits_in
from tests.faulty.limits import Limit, Limits

UNITS = {
    "requests": ({"requests": (10, 1.0)}, 40.0, 0.001),
    "tokens": ({"tokens": (30_000, 60.0)}, 600.0, 0.01),
    "both": ({"requests": (100, 60.0), "tokens": (40_000, 60.0)}, 300.0, 0.003),
}


def run_of(calls, unit, bucket, headers, conversations, faults=0.0):
    units, duration, slow = UNITS[unit]
    limits = Limits({name: Limit(*limit, bucket) for name, limit in units.items()}, headers)
    used, refused, _ = calls.limited_run(limits, conversations, duration, faults=faults, slow=slow)
    return used, refused


@pytest.mark.parametrize("conversations", [8, 64])
@pytest.mark.parametrize("bucket", [False, True])
@pytest.mark.parametrize("unit", UNITS)
def test_a_limit_in_openais_headers_is_used_and_refuses_few(calls, unit, bucket, conversations):
    used, refused = run_of(calls, unit, bucket, "openai", conversations)
    assert used >= 0.9
    assert refused <= 0.05


@pytest.mark.parametrize(
    ("unit", "bucket", "headers", "least"),
    [
        ("requests", False, "retry-after", 0.9),
        ("requests", True, "retry-after", 0.9),
        ("requests", True, "none", 0.9),
        ("tokens", False, "retry-after", 0.9),
        ("tokens", True, "retry-after", 0.9),
        ("tokens", True, "none", 0.9),
        ("tokens", False, "none", 0.75),
        ("tokens", False, "anthropic", 0.9),
    ],
)
def test_a_limit_without_such_headers_is_learned(calls, unit, bucket, headers, least):
    used, refused = run_of(calls, unit, bucket, headers, 8)
    assert used >= least
    assert refused <= 0.06


@pytest.mark.parametrize("bucket", [False, True])
def test_a_limit_that_is_used_up_for_long_stays_what_it_was(bucket):
    limit, reported = Limit(500, 60.0, bucket), ReportedLimit("requests", [])
    now = 0.0
    for call in range(2000):
        now = call / 50 if call < 500 else now + limit.wait(1, now)
        limit.take(1, now)
        reported.report(LimitReport(500, int(limit.left(now)), limit.reset(now)), now)
    assert reported.slides is not bucket


def test_faults_do_not_keep_a_limit_from_being_used(calls):
    used, refused = run_of(calls, "requests", False, "retry-after", 64, faults=0.2)
    assert used >= 0.8
    assert refused <= 0.05


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [("6m0s", 360), ("1.5s", 1.5), ("20ms", 0.02), ("1h2m3s", 3723), ("12", 12), ("2026-01-01T00:01:00Z", 60)],
)
def test_the_reset_of_a_limit_is_a_duration_or_a_time_of_day(reset, seconds):
    headers = {f"X-RateLimit-{name}-Tokens": value for name, value in (("Limit", "5000"), ("Remaining", "400"))}
    headers |= {"x-ratelimit-reset-tokens": reset, "Date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    assert limits_in(headers) == {"tokens": LimitReport(5000, 400, pytest.approx(seconds))}


def test_headers_of_anthropic_are_read_and_broken_ones_are_not():
    names = {"limit": "50", "remaining": "49", "reset": "2026-01-01T00:00:30Z"}
    headers = {f"anthropic-ratelimit-requests-{name}": value for name, value in names.items()}
    date = {"date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    assert limits_in(headers | date) == {"requests": LimitReport(50, 49, 30)}
    for name, broken in (("limit", "0"), ("remaining", "many"), ("reset", "soon"), ("reset", ""), ("limit", "-1")):
        assert limits_in(headers | date | {f"anthropic-ratelimit-requests-{name}": broken}) == {}
