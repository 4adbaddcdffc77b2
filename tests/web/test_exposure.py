"""How far the portal is open: loopback by default; what can be read on its way is refused."""

from pathlib import Path

import pytest
from tests.people.raters import examined
from tests.studies.making import made

from vivavoce.core.errors import InputError
from vivavoce.run.people.annotate import prepare_panel
from vivavoce.run.run import Run
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.web.access.exposure import Exposure

PROXY = {"behind_proxy": True, "public_name": "exam.example.org"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_alone_needs_nothing(host):
    exposure = Exposure(host)
    exposure.check()
    assert not exposure.encrypted


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "exam.example.org"])
def test_other_machines_reach_it_by_tls_alone(host):
    with pytest.raises(InputError, match="would be read on its way"):
        Exposure(host).check()


def test_a_proxy_or_a_certificate_opens_it(tmp_path):
    Exposure("0.0.0.0", **PROXY).check()
    pem = tmp_path / "server.pem"
    pem.write_text("a certificate")
    Exposure("192.168.1.5", certificate=pem).check()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"behind_proxy": True}, "--public-name says by which name"),
        ({"certificate": Path("absent.pem")}, "--certificate absent.pem: no such file"),
        ({"certificate_key": Path("key.pem")}, "--certificate-key goes with --certificate"),
        (PROXY | {"public_name": "exam.example.org/x"}, "is no name of a host"),
        (PROXY | {"public_name": "a\r\nSet-Cookie: b"}, "is no name of a host"),
        (PROXY | {"public_name": "a..b"}, "is no name of a host"),
        ({"proxy_header": "X-Real-IP"}, "--proxy-header goes with --behind-proxy"),
        (PROXY | {"proxy_header": "X-Real-IP: a"}, "is no header"),
    ],
)
def test_settings_that_do_not_go_together_say_so(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Exposure(**settings).check()


@pytest.mark.parametrize(
    ("exposure", "address"),
    [
        (Exposure(), "http://127.0.0.1:8018"),
        (Exposure("::1"), "http://[::1]:8018"),
        (Exposure("0.0.0.0", **PROXY), "https://exam.example.org"),
        (
            Exposure("0.0.0.0", certificate=Path("x"), public_name="exam.example.org"),
            "https://exam.example.org:8018",
        ),
    ],
)
def test_links_lead_to_where_raters_reach_it(exposure, address):
    assert address == exposure.address(8018)
    assert address.split("//")[1].rsplit(":", 1)[0].strip("[]") in exposure.names


def close(run: Run, benchmark: str) -> None:
    """Make a benchmark credentialed."""
    with run.file.writing() as db:
        card = "json_set(card, '$.access', 'credentialed')"
        db.execute(f"UPDATE benchmarks SET card = {card} WHERE benchmark = ?", (benchmark,))
        renew_table_hashes(db, "benchmarks")


def test_credentialed_items_are_refused_before_anything_is_stored(tmp_path):
    run = examined(tmp_path, 3)
    close(run, "exam")
    with pytest.raises(InputError, match="--allow shows them"):
        prepare_panel(run.file, "rank", ["anna"])
    with run.file.reading() as db:
        assert (0,) == db.execute("SELECT count(*) FROM events WHERE kind = 'panel made'").fetchone()
    assert prepare_panel(run.file, "rank", ["anna"], allow=True).key.packets["anna"]
    with pytest.raises(InputError, match="--allow shows them"):
        prepare_panel(run.file, "rank", [])


def test_items_of_another_benchmark_need_no_word(tmp_path):
    run = examined(tmp_path / "one", 3)
    made(tmp_path / "two", {"Able": {"x": "1"}, "Poor": {"x": "2"}}, name="closed", run=run)
    close(run, "closed")
    (spec,) = [path for path in (tmp_path / "one").glob("exam*.jsonl")]
    panel = prepare_panel(run.file, "rank", ["anna"], items=f"jsonl(path='{spec}')")
    assert {"exam"} == {question.benchmark for question in panel.key.questions}
