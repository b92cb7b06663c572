"""What headers report of limits, and the waits that they ask for."""

from datetime import datetime

import pytest

from duologue.nodes.calls.gate import Rate, ReportedRate, limits_in
from duologue.nodes.models import faults
from duologue.nodes.models.faults import asked_wait

DATE = {"Date": "Thu, 01 Jan 2026 00:00:00 GMT"}


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [("6m0s", 360), ("1.5s", 1.5), ("20ms", 0.02), ("1h2m3s", 3723), ("12", 12), ("2026-01-01T00:01:00Z", 60)],
)
def test_the_reset_of_a_limit_is_a_duration_or_a_time_of_day(reset, seconds):
    headers = {f"X-RateLimit-{name}-Tokens": value for name, value in (("Limit", "5000"), ("Remaining", "400"))}
    headers |= {"x-ratelimit-reset-tokens": reset} | DATE
    assert limits_in(headers) == {"tokens": (5000, 400, pytest.approx(seconds))}


def test_headers_of_anthropic_are_read_and_broken_ones_are_not():
    names = {"limit": "50", "remaining": "49", "reset": "2026-01-01T00:00:30Z"}
    headers = {f"anthropic-ratelimit-requests-{name}": value for name, value in names.items()} | DATE
    assert limits_in(headers) == {"requests": (50, 49, 30)}
    for name, broken in (("limit", "0"), ("remaining", "many"), ("reset", "soon"), ("reset", ""), ("limit", "-1")):
        assert limits_in(headers | {f"anthropic-ratelimit-requests-{name}": broken}) == {}
    assert limits_in({}) == {}


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"} | DATE, 30),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_an_asked_wait_is_read_if_it_makes_sense(headers, after):
    assert asked_wait(headers) == after


def test_a_time_is_measured_from_our_clock_if_the_endpoint_tells_none(monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2015, 10, 21, 7, 28, tzinfo=tz)

    monkeypatch.setattr(faults, "datetime", Clock)
    assert asked_wait({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}) == 30


def test_a_rate_gives_some_at_once_and_the_rest_smoothly():
    rate, taken = Rate("requests", 2.0, at_once=3.0), []
    for _ in range(6):
        taken.append(max(0.0, rate.ready(1)))
        rate.take(1, taken[-1])
    assert taken == [0, 0, 0, 0.5, 1, 1.5]
    rate.take(-1)
    assert rate.ready(1) == 1.5


def test_a_reported_rate_is_what_comes_anew_be_it_a_window_or_a_bucket():
    window, bucket = ReportedRate("tokens", 1.0), ReportedRate("tokens", 1.0)
    for left in (6000, 3000, 600):
        window.report(6000, left, 60)
        bucket.report(6000, left, 60 * (1 - left / 6000))
    assert window.per_second == pytest.approx(100)
    assert bucket.per_second == pytest.approx(6000 / 54)
    window.report(6000, 0, 60)
    assert window.per_second < 60  # others use it too
    window.report(60, 60, 60)
    assert window.per_second == pytest.approx(1)
