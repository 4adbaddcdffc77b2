"""What is waited for has a name, at a terminal and in a log, and a log is not flooded."""

import re
import sys

import pytest

from vivavoce.cli import progress
from vivavoce.cli.progress import PlainProgress, collect_progress, progress_bars, waiting_text
from vivavoce.models.engine.usage import UsageCounter, Waiting
from vivavoce.run.client import HearsWaiting

LONG = (Waiting("https://host", 3, 45.0),)


def test_an_endpoint_is_named_with_its_requests_and_the_longest_wait():
    assert "waiting for https://host (3 requests, longest 45 s)" == waiting_text(LONG)
    assert "" == waiting_text(())


def test_a_log_gets_a_line_after_half_a_minute_and_then_ever_fewer(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    plain = PlainProgress()
    for second in range(3600):
        clock[0] = float(second)
        plain.waiting((Waiting("https://host", 3, float(second)),))
    lines = capsys.readouterr().err.splitlines()
    assert "viva: waiting for https://host (3 requests, longest 30 s)" == lines[0]
    assert 5 <= len(lines) <= 12


@pytest.mark.parametrize("bars", [collect_progress, progress_bars])
def test_a_log_gets_a_line_a_minute_and_none_with_quiet(monkeypatch, capsys, bars):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with bars(show=True) as update:
        for second in range(301):
            clock[0] = float(second)
            what = UsageCounter(answered=second - 2, failed=2) if bars is collect_progress else "token_f1"
            update(what, *(() if bars is collect_progress else (second,)), 1000)
    lines = capsys.readouterr().err.splitlines()
    assert 5 == len(lines)
    first = "60 of 1,000 answers, 2 failed" if bars is collect_progress else "token_f1: 60 of 1,000"
    assert f"viva: {first}" == lines[0]
    with bars(show=False) as update:
        assert update is None


def test_what_takes_less_than_a_minute_prints_no_progress(capsys):
    plain = PlainProgress()
    for n in range(1000):
        plain("token_f1", n, 1000)
    assert "" == capsys.readouterr().err


@pytest.mark.parametrize("waiting", [(), (Waiting("https://host", 3, 8.0),)])
def test_a_log_gets_no_line_for_short_waits(capsys, waiting):
    PlainProgress().waiting(waiting)
    assert "" == capsys.readouterr().err


@pytest.mark.parametrize("bars", [collect_progress, progress_bars])
def test_without_a_terminal_the_wait_is_printed_and_quiet_prints_nothing(capsys, bars):
    with bars(show=True) as update:
        if bars is collect_progress:
            update(UsageCounter(waiting=LONG), 10)
        else:
            update("asking (judge)", 1, 10)
            update.waiting(LONG)
    assert "viva: waiting for https://host (3 requests, longest 45 s)\n" == capsys.readouterr().err
    with bars(show=False) as update:
        assert update is None


@pytest.mark.parametrize("bars", [collect_progress, progress_bars])
def test_at_a_terminal_the_bar_names_it(monkeypatch, capsys, bars):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with bars(show=True) as update:
        if bars is collect_progress:
            update(UsageCounter(waiting=LONG), 10)
        else:
            update("asking (judge)", 1, 10)
            assert isinstance(update, HearsWaiting)
            update.waiting(LONG)
    assert "waiting for https://host" in capsys.readouterr().err


@pytest.mark.parametrize(("usage", "total", "text"), [(None, None, "0/?"), (UsageCounter(), 12, "0/12")])
def test_before_the_number_of_requests_is_known_the_bar_states_none(monkeypatch, capsys, usage, total, text):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with collect_progress(show=True) as update:
        if usage:
            update(usage, total)
    plain_text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert text in plain_text.replace(" ", "")
    assert "100" not in plain_text
