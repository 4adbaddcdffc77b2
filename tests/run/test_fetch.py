"""`viva fetch` against a hub on loopback: pins, checksums, cuts, changes, and whose files are whose."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.run.fake_hub import COMMITS, Hub, serving
from tests.studies.making import borrowed

import vivavoce
from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.core.errors import EgressError, ExtraError, InputError, SpecError
from vivavoce.run.fetch import listing, transfer

MAIN, OLD = COMMITS["main"], COMMITS["old"]
ROWS = b'{"id": "q1"}\r\n{"id": "q2"}\n'
BIG = b'{"id": "big"}\n' * 9_000
NOTES = "Été\n".encode()


@pytest.fixture(autouse=True)
def plugins(root: Path) -> Iterator[None]:
    with borrowed():
        registry.load_plugin(root / "tests" / "run" / "fetched_exam.py")
        yield


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    main = {"data/test.jsonl": ROWS, "data/big.jsonl": BIG, "notes.txt": NOTES, "train.bin": b"no"}
    old = {"data/test.jsonl": b'{"id": "q0"}\n'}
    plain = {"a.csv": b"a\n1\n", "a b.csv": b"b\n" * 5_000}
    monkeypatch.setattr(transfer, "FIRST_PAUSE_S", 0.0)
    monkeypatch.setenv("HF_TOKEN", "hf_token_of_a_test")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving(Hub({MAIN: main, OLD: old, "plain": plain}, large={"data/big.jsonl"})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def states(found: Any) -> dict[str, str]:
    return {row["file"]: row["state"] for row in found.rows}


def lock(folder: Path) -> Any:
    return json.loads((folder / "viva.lock").read_text(encoding="utf-8"))["benchmarks"]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def at_address(
    monkeypatch: pytest.MonkeyPatch, hub: Hub, address: str = "https://example.org/plain/"
) -> None:
    """The fake in place of an https address: a declaration itself takes no other."""
    real = listing.listed

    def moved(download: Any, *rest: Any) -> Any:
        found = real(download, *rest)
        files = tuple(f._replace(url=f.url.replace(address, f"{hub.url}/plain/")) for f in found.files)
        return found._replace(files=files)

    monkeypatch.setattr("vivavoce.run.fetch.listed", moved)


def test_a_branch_becomes_its_commit_and_the_lock_says_what_was_fetched(hub: Hub, tmp_path: Path) -> None:
    found = vivavoce.fetch("fetched", tmp_path / "new", revision="main")
    assert {"data/big.jsonl": "fetched", "data/test.jsonl": "fetched", "notes.txt": "fetched"} == states(
        found
    )
    (name, entry), *rest = lock(tmp_path / "new").items()
    assert ("fetched", []) == (name, rest)
    assert ("main", MAIN, "CC BY 4.0") == (entry["requested"], entry["revision"], entry["licence"])
    assert ("cite the authors", f"{hub.url}/datasets/owner/exam") == (entry["terms"], entry["source"])
    stored = {file["file"]: (file["bytes"], file["sha256"]) for file in entry["files"]}
    contents = {"data/big.jsonl": BIG, "data/test.jsonl": ROWS, "notes.txt": NOTES}
    assert stored == {name: (len(content), digest(content)) for name, content in contents.items()}
    assert contents == {name: (tmp_path / "new" / name).read_bytes() for name in contents}
    assert 2 == len(entry["hosts"])  # the hub, and where its large files are
    assert all(MAIN in path for path in hub.fetched)
    assert "Licence: CC BY 4.0." in str(found)
    assert "Terms: Cite the authors." in str(found)


def test_what_was_fetched_is_read_by_the_loader_and_its_lock_is_none_of_the_data(
    hub: Hub, tmp_path: Path
) -> None:
    vivavoce.fetch("fetched", tmp_path, revision="main")
    loaded = load(f"fetched(data='{tmp_path}')")
    assert ["q1", "q2"] == [item.item for item in loaded.items]
    (tmp_path / "viva.lock").unlink()
    assert loaded.signature == load(f"fetched(data='{tmp_path}')").signature


def test_a_later_call_keeps_the_commit_and_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("fetched", tmp_path, revision="main")
    before = (tmp_path / "viva.lock").read_bytes()
    hub.seen.clear()
    hub.files["c" * 40] = {"data/test.jsonl": b"other"}
    for offline in (False, True):
        again = vivavoce.fetch("fetched", tmp_path, offline=offline)
        assert {"kept"} == set(states(again).values())
    assert ([], before) == (hub.seen, (tmp_path / "viva.lock").read_bytes())


def test_a_missing_file_comes_back_from_the_locked_commit(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vivavoce.fetch("fetched", tmp_path, revision="main")
    (tmp_path / "notes.txt").unlink()
    monkeypatch.setitem(COMMITS, "main", OLD)  # the branch has moved on
    again = vivavoce.fetch("fetched", tmp_path, revision="main")
    assert {"data/big.jsonl": "kept", "data/test.jsonl": "kept", "notes.txt": "fetched"} == states(again)
    assert MAIN == lock(tmp_path)["fetched"]["revision"]


def test_a_pinned_benchmark_needs_no_revision(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("pinned", tmp_path)
    assert b'{"id": "q0"}\n' == (tmp_path / "data" / "test.jsonl").read_bytes()
    assert OLD == lock(tmp_path)["pinned"]["revision"]


def test_without_a_pin_the_user_names_a_revision(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"fetched pins no revision.*--revision main"):
        vivavoce.fetch("fetched", tmp_path)
    assert ([], []) == (hub.seen, list(tmp_path.iterdir()))


def test_a_cut_connection_goes_on_where_it_ended(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [len(BIG) // 2, 10]
    vivavoce.fetch("fetched", tmp_path, revision="main")
    ranges = [h.get("Range") for _, path, h in hub.seen if path.startswith("/far/")]
    assert [None, f"bytes={len(BIG) // 2}-", f"bytes={len(BIG) // 2 + 10}-"] == ranges
    assert BIG == (tmp_path / "data" / "big.jsonl").read_bytes()


def test_a_call_that_was_cut_is_gone_on_with_by_the_next(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [100] * transfer.ATTEMPTS
    with pytest.raises(InputError, match=r"did not come whole in 5 attempts.*500 bytes are here"):
        vivavoce.fetch("fetched", tmp_path, revision="main")
    assert not (tmp_path / "data").exists()
    hub.seen.clear()
    found = vivavoce.fetch("fetched", tmp_path, revision="main")
    assert "fetched" == states(found)["data/big.jsonl"]
    assert ["bytes=500-"] == [h["Range"] for _, path, h in hub.seen if path.startswith("/far/")]
    assert not (tmp_path / ".viva-fetch").exists()


def test_files_that_came_before_a_cut_are_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    hub.status[f"/datasets/owner/exam/resolve/{MAIN}/notes.txt"] = 500
    with pytest.raises(InputError, match="HTTP 500"):
        vivavoce.fetch("fetched", tmp_path, revision="main")
    assert [True, True, False] == [bool(f["sha256"]) for f in lock(tmp_path)["fetched"]["files"]]
    hub.status.clear()
    hub.seen.clear()
    found = vivavoce.fetch("fetched", tmp_path)
    assert {"data/big.jsonl": "kept", "data/test.jsonl": "kept", "notes.txt": "fetched"} == states(found)
    assert [f"/datasets/owner/exam/resolve/{MAIN}/notes.txt"] == hub.fetched


def test_a_server_without_ranges_sends_all_again(hub: Hub, tmp_path: Path) -> None:
    hub.cuts, hub.ranged = [1_000], False
    vivavoce.fetch("fetched", tmp_path, revision="main")
    assert BIG == (tmp_path / "data" / "big.jsonl").read_bytes()


def test_a_file_that_its_user_changed_is_refused_with_both_hashes(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("fetched", tmp_path, revision="main")
    (tmp_path / "notes.txt").write_bytes(b"mine")
    for update in (False, True):
        with pytest.raises(InputError, match=rf"differs.*{digest(b'mine')}.*{digest(NOTES)}.*move it"):
            vivavoce.fetch("fetched", tmp_path, revision="main", update=update)
    assert b"mine" == (tmp_path / "notes.txt").read_bytes()


@pytest.mark.parametrize("name", ["data/test.jsonl", "data/big.jsonl"])
def test_a_file_that_is_not_what_the_hub_lists_is_refused(hub: Hub, tmp_path: Path, name: str) -> None:
    """Small files by git's hash of them, large ones by their SHA-256."""
    content = hub.files[MAIN][name]
    altered = b"x" + content[1:]
    hub.served[f"/datasets/owner/exam/resolve/{MAIN}/{name}"] = altered
    hub.served[f"/far/{MAIN}/{name}"] = altered
    with pytest.raises(InputError, match=f"has changed, or came damaged.*{digest(altered)}"):
        vivavoce.fetch("fetched", tmp_path, revision="main")
    assert not (tmp_path / name).exists()


def test_another_revision_needs_update_and_replaces_what_was_fetched(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("pinned", tmp_path)
    with pytest.raises(InputError, match=f"holds pinned at {OLD}: say --update to replace it by main"):
        vivavoce.fetch("pinned", tmp_path, revision="main")
    planned = vivavoce.fetch("pinned", tmp_path, revision="main", update=True, dry_run=True)
    assert {"data/test.jsonl": "to replace", "data/big.jsonl": "to fetch"} == states(planned)
    found = vivavoce.fetch("pinned", tmp_path, revision="main", update=True)
    assert {"data/test.jsonl": "replaced", "data/big.jsonl": "fetched"} == states(found)
    assert (MAIN, ROWS) == (lock(tmp_path)["pinned"]["revision"], (tmp_path / "data/test.jsonl").read_bytes())


def test_an_update_that_was_cut_is_gone_on_with(hub: Hub, tmp_path: Path) -> None:
    """Files of the old commit that still lie there are ours to replace until all of the new one are there."""
    vivavoce.fetch("pinned", tmp_path)
    far = f"/far/{MAIN}/data/big.jsonl"
    hub.status[far] = 404
    with pytest.raises(InputError, match="404"):
        vivavoce.fetch("pinned", tmp_path, revision="main", update=True)
    hub.status.clear()
    hub.status[f"/datasets/owner/exam/resolve/{MAIN}/data/test.jsonl"] = 404
    with pytest.raises(InputError, match="404"):
        vivavoce.fetch("pinned", tmp_path, revision="main", update=True)
    assert (b'{"id": "q0"}\n', MAIN) == (
        (tmp_path / "data/test.jsonl").read_bytes(),
        lock(tmp_path)["pinned"]["revision"],
    )
    hub.status.clear()
    found = vivavoce.fetch("pinned", tmp_path)
    assert {"data/big.jsonl": "kept", "data/test.jsonl": "replaced"} == states(found)
    assert (ROWS, []) == (
        (tmp_path / "data/test.jsonl").read_bytes(),
        lock(tmp_path)["pinned"]["replaceable"],
    )


def test_an_update_to_a_commit_with_the_same_files_is_in_the_lock(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("pinned", tmp_path)
    hub.files[MAIN] = hub.files[OLD]
    found = vivavoce.fetch("pinned", tmp_path, revision="main", update=True)
    assert ({"data/test.jsonl": "kept"}, MAIN) == (states(found), lock(tmp_path)["pinned"]["revision"])


def test_the_files_of_another_benchmark_in_the_folder_are_not_replaced(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("fetched", tmp_path, revision="main")
    with pytest.raises(InputError, match=r"test.jsonl is there already, and was not fetched"):
        vivavoce.fetch("pinned", tmp_path, update=True)
    assert ROWS == (tmp_path / "data/test.jsonl").read_bytes()


def test_files_of_the_user_are_never_replaced(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is there already, and was not fetched"):
        vivavoce.fetch("fetched", tmp_path, revision="main")
    assert ["notes.txt"] == [path.name for path in tmp_path.iterdir()]


def test_a_file_that_is_the_published_one_is_kept(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(NOTES)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "big.jsonl").write_bytes(BIG)
    found = vivavoce.fetch("fetched", tmp_path, revision="main")
    assert {"data/big.jsonl": "kept", "data/test.jsonl": "fetched", "notes.txt": "kept"} == states(found)
    assert digest(NOTES) == lock(tmp_path)["fetched"]["files"][2]["sha256"]


def test_two_benchmarks_share_a_folder(hub: Hub, tmp_path: Path) -> None:
    hub.files[OLD] = {"data/test.jsonl": ROWS}
    vivavoce.fetch("fetched", tmp_path, revision="main")
    assert {"data/test.jsonl": "kept"} == states(vivavoce.fetch("pinned", tmp_path))
    vivavoce.fetch("fetched(language=es)", tmp_path, revision="main")
    assert ["fetched", "fetched(language=es)", "pinned"] == list(lock(tmp_path))


def test_a_fetch_into_a_folder_in_which_another_is_at_work_is_refused(hub: Hub, tmp_path: Path) -> None:
    """It would write its partial files into the other's, and the lock of the folder without the other's."""
    hub.files[OLD] = {"data/test.jsonl": ROWS}
    refusals = []

    def meanwhile(*moved: object) -> None:
        with pytest.raises(
            InputError, match=r"another fetch is bringing files into .*: wait for it"
        ) as error:
            vivavoce.fetch("pinned", tmp_path / "new")
        refusals.append(error)
        vivavoce.fetch("pinned", tmp_path / "new", dry_run=True)

    vivavoce.fetch("fetched", tmp_path / "new", revision="main", progress=meanwhile)
    assert refusals
    assert {"data/test.jsonl": "kept"} == states(vivavoce.fetch("pinned", tmp_path / "new"))
    assert ["fetched", "pinned"] == list(lock(tmp_path / "new"))


def test_a_fetch_that_brings_nothing_leaves_no_folder(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        vivavoce.fetch("fetched", tmp_path / "new" / "er", revision="nowhere")
    assert [] == list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write to .*file: File exists\."):
        vivavoce.fetch("fetched", tmp_path / "file", revision="main")


def test_a_dry_run_writes_nothing(hub: Hub, tmp_path: Path) -> None:
    found = vivavoce.fetch("fetched", tmp_path / "new", revision="main", dry_run=True)
    assert {"to fetch"} == set(states(found).values())
    assert [len(BIG), len(ROWS), len(NOTES)] == [row["bytes"] for row in found.rows]
    assert ([], False) == (hub.fetched, (tmp_path / "new").exists())


def test_offline_a_hub_elsewhere_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    with pytest.raises(EgressError, match=r"offline: 'huggingface.co' is not this machine"):
        vivavoce.fetch("fetched", tmp_path, revision="main", offline=True)
    with pytest.raises(EgressError, match=r"offline: 'example.org'"):
        vivavoce.fetch("at_url", tmp_path, offline=True)
    with pytest.raises(EgressError, match=r"offline: 'example.org'"):
        vivavoce.fetch("at_commit", tmp_path, revision=MAIN, offline=True)


def test_offline_a_hub_on_this_machine_is_asked_by_a_fresh_process(
    hub: Hub, tmp_path: Path, root: Path
) -> None:
    plugin = root / "tests" / "run" / "fetched_exam.py"
    words = ("fetch", "pinned", "--to", tmp_path, "--plugin", plugin, "--offline", "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", "vivavoce", *map(str, words)], capture_output=True, text=True
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert (tmp_path / "data" / "test.jsonl").is_file()


def test_a_redirect_passes_the_guard_and_carries_no_token_to_another_host(hub: Hub, tmp_path: Path) -> None:
    vivavoce.fetch("fetched", tmp_path, revision="main", offline=True)  # to localhost: this machine too
    tokens = {host.split(":")[0]: "Authorization" in h for host, path, h in hub.seen if "/api/" not in path}
    assert {"127.0.0.1": True, "localhost": False} == tokens
    hub.location = "https://cdn.example.org/file"
    with pytest.raises(EgressError, match=r"offline: 'cdn.example.org'"):
        vivavoce.fetch("fetched", tmp_path / "b", revision="main", offline=True)


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("file:///etc/passwd", "no http or https address"),
        ("ftp://127.0.0.1/x", "no http or https address"),
        ("http://example.org/x", "plain HTTP"),
        ("http://me:key@127.0.0.1/x", "no http or https address"),
    ],
)
def test_a_redirect_to_what_is_not_safe_is_refused(hub: Hub, tmp_path: Path, location: str, why: str) -> None:
    hub.location = location
    with pytest.raises(InputError, match=why):
        vivavoce.fetch("fetched", tmp_path, revision="main")


def test_a_redirect_in_a_circle_ends(hub: Hub, tmp_path: Path) -> None:
    hub.location = f"{hub.url}/datasets/owner/exam/resolve/{MAIN}/data/big.jsonl"
    with pytest.raises(InputError, match="more than 5 redirects"):
        vivavoce.fetch("fetched", tmp_path, revision="main")


def test_a_stranger_cannot_send_us_to_this_machine() -> None:
    with pytest.raises(InputError, match="which is this machine"):
        transfer._permitted("http://127.0.0.1/admin", "cdn.example.org")


@pytest.mark.parametrize("name", ["../out.jsonl", "/etc/out", "a\\..\\b", "viva.lock", "data/../../x", "C:x"])
def test_a_name_that_leads_out_of_the_folder_is_refused(hub: Hub, tmp_path: Path, name: str) -> None:
    hub.files[MAIN] = {"data/test.jsonl": ROWS, name: b"evil"}
    with pytest.raises(InputError, match="which has no place in"):
        vivavoce.fetch("hostile", tmp_path / "in", revision="main")
    assert [] == list(tmp_path.iterdir())


def test_a_link_that_leads_out_of_the_folder_is_refused(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "data").symlink_to(tmp_path / "out")
    with pytest.raises(InputError, match="is a link that leads out"):
        vivavoce.fetch("fetched", tmp_path / "in", revision="main")
    assert [] == list((tmp_path / "out").iterdir())


def test_a_gated_repository_is_one_sentence(hub: Hub, tmp_path: Path) -> None:
    hub.status["/api/datasets/owner/exam/revision/main"] = 403
    with pytest.raises(InputError, match=r"refuses us \(HTTP 403\): it is gated.*HF_TOKEN"):
        vivavoce.fetch("fetched", tmp_path, revision="main")
    hub.status = {f"/datasets/owner/exam/resolve/{MAIN}/data/test.jsonl": 401}
    with pytest.raises(InputError, match=r"refuses us \(HTTP 401\): its files are gated.*HF_TOKEN"):
        vivavoce.fetch("fetched", tmp_path, revision="main")


def test_what_is_not_there_is_one_sentence(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no revision 'nowhere'"):
        vivavoce.fetch("fetched", tmp_path, revision="nowhere")
    with pytest.raises(InputError, match=r"has no file 'notes.txt': it holds data/test.jsonl"):
        vivavoce.fetch("fetched", tmp_path, revision="old")
    hub.status[f"/far/{MAIN}/data/big.jsonl"] = 404
    with pytest.raises(InputError, match=r"far/a+/data/big.jsonl is not there \(HTTP 404\)") as caught:
        vivavoce.fetch("fetched", tmp_path, revision="main")
    assert "signature" not in str(caught.value)


def test_a_hub_that_cannot_be_reached_is_one_sentence(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"http://127.0.0.1:9 cannot be reached"):
        vivavoce.fetch("fetched", tmp_path, revision="main")


def test_a_file_that_is_too_large_is_refused_before_it_is_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LARGEST", len(BIG) - 1)
    with pytest.raises(InputError, match="the largest of 126,000 bytes: more than"):
        vivavoce.fetch("fetched", tmp_path, revision="main")
    assert [] == hub.fetched


def test_an_address_that_announces_too_much_is_refused(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_address(monkeypatch, hub)
    monkeypatch.setattr(transfer, "LARGEST", 9_999)
    with pytest.raises(InputError, match="has 10,000 bytes, more than the 9,999 of one file"):
        vivavoce.fetch("at_url", tmp_path)


def test_a_file_that_does_not_end_is_refused(hub: Hub, tmp_path: Path) -> None:
    name = f"/datasets/owner/exam/resolve/{MAIN}/data/test.jsonl"
    hub.served[name] = ROWS + b"more"
    with pytest.raises(InputError, match=f"more than the {len(ROWS)} bytes came"):
        vivavoce.fetch("fetched", tmp_path, revision="main")


def test_an_address_without_revisions_is_pinned_by_its_hash(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_address(monkeypatch, hub)
    hub.cuts = [2_000]
    assert {"a b.csv": "fetched"} == states(vivavoce.fetch("at_url", tmp_path))
    assert ["bytes=2000-"] == [h["Range"] for _, _, h in hub.seen if "Range" in h]
    assert b"b\n" * 5_000 == (tmp_path / "a b.csv").read_bytes()
    hub.files["plain"]["a b.csv"] = b"c\n" * 5_000
    (tmp_path / "a b.csv").unlink()
    with pytest.raises(InputError, match=r"a b.csv has changed.*--update"):
        vivavoce.fetch("at_url", tmp_path)
    assert {"a b.csv": "fetched"} == states(vivavoce.fetch("at_url", tmp_path, update=True))
    assert {"a b.csv": "kept"} == states(vivavoce.fetch("at_url", tmp_path, update=True))


def test_what_an_unpinned_address_sent_before_is_not_gone_on_with(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing tells whether it still is the same file; half of one and half of another would be stored."""
    at_address(monkeypatch, hub)
    hub.etag, hub.cuts = "", [2_000]
    vivavoce.fetch("at_url", tmp_path)
    assert [] == [h["Range"] for _, _, h in hub.seen if "Range" in h]
    assert b"b\n" * 5_000 == (tmp_path / "a b.csv").read_bytes()


def test_an_address_with_commits_needs_one(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none is pinned: write its 40 digits"):
        vivavoce.fetch("at_commit", tmp_path)
    with pytest.raises(InputError, match="'main' is none: write its 40 digits"):
        vivavoce.fetch("at_commit", tmp_path, revision="main")


@pytest.mark.parametrize(
    ("benchmark", "why"),
    [
        ("secret", "secret is credentialed: viva never fetches it. Its source: PhysioNet. Put test.csv into"),
        ("manual", "declares no files that can be fetched.*Download mtsamples.csv from the page"),
        ("undeclared", "declares no files that can be fetched. Its source: The hub. Where they lie"),
        ("sample", "sample declares no files that can be fetched. Its source: Written for vivavoce."),
    ],
)
def test_what_cannot_be_fetched_says_what_a_person_does(
    hub: Hub, tmp_path: Path, benchmark: str, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        vivavoce.fetch(benchmark, tmp_path, revision="main")
    assert [] == hub.seen


def test_a_name_that_is_no_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="medmcqaa"):
        vivavoce.fetch("medmcqaa", tmp_path)


def test_a_lock_that_is_none_is_refused(hub: Hub, tmp_path: Path) -> None:
    for text in ("", "[]", '{"schema": "viva.lock/9"}', '{"schema": "viva.lock/1", "benchmarks": {"a": {}}}'):
        (tmp_path / "viva.lock").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="is no lock of `viva fetch`"):
            vivavoce.fetch("fetched", tmp_path, revision="main")


def test_a_lock_leads_nowhere(hub: Hub, tmp_path: Path) -> None:
    """Its addresses are for readers, and its names are checked like those of a hub."""
    vivavoce.fetch("fetched", tmp_path, revision="main")
    written = (tmp_path / "viva.lock").read_text(encoding="utf-8")
    (tmp_path / "viva.lock").write_text(written.replace(hub.url, "https://evil.example"), encoding="utf-8")
    (tmp_path / "notes.txt").unlink()
    assert "fetched" == states(vivavoce.fetch("fetched", tmp_path))["notes.txt"]
    (tmp_path / "viva.lock").write_text(
        written.replace('"file": "notes', '"file": "../notes'), encoding="utf-8"
    )
    with pytest.raises(InputError, match="no place in"):
        vivavoce.fetch("fetched", tmp_path)


def test_without_the_extra_a_sentence_names_it(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ExtraError, match=r'fetching fetched needs huggingface_hub: .*"vivavoce\[hub\]"'):
        vivavoce.fetch("fetched", tmp_path, revision="main")


def test_a_fetched_medmcqa_is_shown(viva: Callable[..., Any], hub: Hub, tmp_path: Path) -> None:
    import io

    import polars as pl

    row = {"question": "Which vitamin is lost?", "opa": "A", "opb": "B12", "opc": "C", "opd": "D", "cop": 1}
    rest = {"choice_type": "single", "exp": None, "subject_name": "Medicine", "topic_name": None}
    written = io.BytesIO()
    pl.DataFrame([{"id": "x1", **row, **rest}]).write_parquet(written)
    hub.name = "openlifescienceai/medmcqa"
    name = "data/validation-00000-of-00001.parquet"
    hub.files[MAIN] = {name: written.getvalue(), "data/train-00000-of-00001.parquet": b"not wanted"}
    viva("fetch", "medmcqa", "--to", tmp_path, "--revision", "main", "--quiet")
    assert [name, "viva.lock"] == sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.*"))
    shown = json.loads(viva("show", f"medmcqa(data={tmp_path})", "--json").stdout)["rows"][0]
    assert (1, "openlifescienceai/medmcqa") == (shown["questions"], shown["card"]["download"]["hub"])


def test_a_fetched_pubmedqa_is_the_published_one(
    hub: Hub, tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commit is pinned: the address below it is asked for, and no branch."""
    at_address(monkeypatch, hub, "https://raw.githubusercontent.com/pubmedqa/pubmedqa/")
    folder = shared / "data" / "suite" / "pubmedqa"
    commit = "1cbae8e92f72f20c8d3747cbb3bf5bc53554d997"
    for name in ("ori_pqal.json", "test_ground_truth.json"):
        found = next(folder.rglob(name))
        hub.files["plain"][f"{commit}/data/{name}"] = found.read_bytes()
    vivavoce.fetch("pubmedqa", tmp_path)
    assert commit == lock(tmp_path)["pubmedqa"]["revision"]
    assert load(f"pubmedqa(data='{folder}')").items == load(f"pubmedqa(data='{tmp_path}')").items


def test_each_benchmark_of_ours_can_be_fetched_or_says_what_a_person_does(tmp_path: Path) -> None:
    """Offline nothing is sent, so the sentence is the guard's, or what a person does."""
    said = {}
    for entry in registry.entries("benchmark"):
        if entry.origin == "vivavoce" and "data" in registry.settings(entry):
            with pytest.raises((EgressError, InputError)) as caught:
                vivavoce.fetch(entry.name, tmp_path, revision=MAIN, offline=True)
            said[entry.name] = str(caught.value)
    assert {"medmcqa", "pubmedqa", "mimic_iii", "medical_transcriptions"} <= said.keys()
    assert "Its source: https://ftp.ncbi.nlm.nih.gov/" in said["biored"], "an address stays as it is"
    assert "unpack Test.BioC.JSON" in said["biored"]
    assert "never fetches it" in said["mimic_iii"]
    for sentence in said.values():
        assert re.match("offline: |.*(declares no files|never fetches)", sentence), sentence


def test_the_command_says_and_shows_the_same(
    viva: Callable[..., Any], hub: Hub, tmp_path: Path, root: Path
) -> None:
    plugin = ("--plugin", root / "tests" / "run" / "fetched_exam.py", "--revision", "main")
    done = viva("fetch", "fetched", "--to", tmp_path, *plugin)
    assert "fetched: 3 files" in done.stdout
    assert "Read the notes." in done.stdout
    answer = json.loads(viva("fetch", "fetched", "--to", tmp_path, *plugin, "--json").stdout)
    assert "viva.fetch/1" == answer["schema"]
    assert [dict(row) for row in vivavoce.fetch("fetched", tmp_path).rows] == answer["rows"]
    assert {"file", "state", "bytes", "sha256", "path", "url", "source", "revision"} == set(answer["rows"][0])
    assert "" == viva("fetch", "fetched", "--to", tmp_path, *plugin, "--quiet").stdout


def test_files_of_the_hub_are_pinned_by_nobody_who_has_not_seen_their_commit() -> None:
    """Whole commits are known of the repositories that samples were taken from; of the hub none is."""
    for name in ("careqa", "careqa_open", "medmcqa", "medqa", "medtext", "meddialog_qsumm", "mmlu"):
        built = registry.build("benchmark", f"{name}(data=nowhere)")
        assert ("", False) == (built.download.revision, "{revision}" in built.download.url), name
